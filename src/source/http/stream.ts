import type { Problem } from "../../base/errors.ts";
import { readJoined, type HeaderRows, type JoinedPart, type PartItem } from "../joined.ts";
import { parseStaged } from "../json.ts";
import { changed, leftReading, type ReadOptions, type ReadOutcome, type SourceItem, type Staging } from "../reader.ts";
import type { HttpStream } from "../source-settings.ts";
import type { ChainSettings, DetailSettings } from "./chain-settings.ts";
import { readChain, type Parent } from "./chain.ts";
import type { ListSettings } from "./list-reading.ts";
import type { List } from "./list.ts";

interface ListAbout {
  who: string;
  url?: URL;
  /** HTTP 404 means that there are no rows. */
  mayLack?: boolean;
}

export type ListMaker = (list: ListSettings, about: ListAbout) => List;

interface StreamDeps {
  who: string;
  listOf: ListMaker;
  baseUrl: string | undefined;
  atOnce: number;
  staging: Staging;
}

export class StreamReading {
  readonly #stream: HttpStream;
  readonly #deps: StreamDeps;

  constructor(stream: HttpStream, deps: StreamDeps) {
    this.#stream = stream;
    this.#deps = deps;
  }

  read(options: ReadOptions): AsyncGenerator<SourceItem[], ReadOutcome, void> {
    const { details, key = "" } = this.#stream;
    return details === undefined ? this.#list().read(options) : this.#joined(details, key, options);
  }

  /** Checks every list that needs no header row for its request. */
  async check(signal: AbortSignal | undefined): Promise<Problem | undefined> {
    const alone = Object.entries(this.#stream.details ?? {}).filter(([, list]) => list.each === undefined);
    for (const list of [this.#list(), ...alone.map(([name, settings]) => this.#detail(name, settings))]) {
      const problem = await list.check(signal);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #list(): List {
    const { who, listOf } = this.#deps;
    return listOf({ ...this.#stream, areParts: this.#stream.group !== undefined }, { who });
  }

  #detail(name: string, settings: DetailSettings, url?: URL): List {
    const { who, listOf } = this.#deps;
    return listOf(
      { ...settings, key: settings.rowKey, limits: this.#stream.limits, areParts: true },
      {
        who: `${who}, details ${name}`,
        ...(url === undefined ? {} : { url }),
        mayLack: settings.each?.notFound === "none",
      },
    );
  }

  async *#joined(
    details: Readonly<Record<string, DetailSettings>>,
    key: string,
    options: ReadOptions,
  ): AsyncGenerator<SourceItem[], ReadOutcome, void> {
    const { limits } = this.#stream;
    const { since } = options;
    const all = fromTheBeginning(options);
    let headers: ReadOutcome | undefined;
    const rows = this.#list().read(since === undefined ? all : { ...all, since });
    const parts = Object.entries(details).map(([name, settings]): [string, JoinedPart] => {
      const { each, required } = settings;
      const read = (parents: HeaderRows): ReturnType<JoinedPart["read"]> =>
        each === undefined
          ? partOf(this.#detail(name, settings).read(all), () => undefined)
          : this.#chainedDetails(name, settings, each, parents, all);
      return [name, { key: settings.key ?? "", required, chained: each !== undefined, read }];
    });
    const joined = {
      header: { key, read: () => partOf(rows, (outcome) => (headers = outcome)) },
      details: Object.fromEntries(parts),
      limits,
      staging: this.#deps.staging,
      changesOnly: since !== undefined && this.#stream.since !== undefined,
    };
    const outcome = yield* readJoined(joined, options);
    const cursor = outcome.complete ? headers?.cursor : undefined;
    return cursor === undefined ? outcome : { ...outcome, cursor };
  }

  async *#chainedDetails(
    name: string,
    settings: DetailSettings,
    each: ChainSettings,
    headers: HeaderRows,
    options: ReadOptions,
  ): AsyncGenerator<PartItem[], Problem | undefined, void> {
    const { limits } = this.#stream;
    const parents = function* (): Generator<Parent[], void, void> {
      for (const rows of headers())
        yield rows.map(({ key, place, text }) => ({ key, place, value: parseStaged(text, limits) }));
    };
    const { baseUrl, atOnce } = this.#deps;
    const listOf = (url: URL): List => this.#detail(name, settings, url);
    const chain = { url: settings.url, baseUrl, each, atOnce, listOf };
    const reading = readChain(chain, parents(), options);
    try {
      for (let next = await reading.next(); ; next = await reading.next()) {
        if (next.done === true) return next.value;
        if ("lacking" in next.value) {
          const { parent, message } = next.value.lacking;
          yield [{ lacking: { key: parent.key ?? "", message } }];
          continue;
        }
        const [parent] = next.value.parents;
        yield next.value.items.map((item): PartItem => {
          if ("bad" in item) return item;
          const { place, value } = item.raw;
          return settings.key === undefined
            ? { row: { place, value, key: parent?.key ?? "" } }
            : { row: { place, value } };
        });
      }
    } finally {
      await reading.return(undefined);
    }
  }
}

/** Drops `since` and `resume`: a join needs all rows. */
function fromTheBeginning({ signal, batchSize }: ReadOptions): ReadOptions {
  return { ...(signal === undefined ? {} : { signal }), ...(batchSize === undefined ? {} : { batchSize }) };
}

function partOf(
  reading: AsyncGenerator<SourceItem[], ReadOutcome, void>,
  ended: (outcome: ReadOutcome) => void,
): AsyncGenerator<PartItem[], Problem | undefined, void> {
  return changed(reading, {
    // The key of a row may be its own: to which record it belongs is read from the row itself.
    batch: (items) =>
      items.map((item): PartItem => ("bad" in item ? item : { row: { place: item.raw.place, value: item.raw.value } })),
    end: (outcome) => {
      ended(outcome);
      return outcome.problem;
    },
    left: leftReading,
  });
}
