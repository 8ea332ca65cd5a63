import { isJsonObject } from "../../base/canonical-json.ts";
import type { Problem } from "../../base/errors.ts";
import type { Stream } from "../../crm/model.ts";
import type { NeededColumns } from "../file/source.ts";
import { readJoined } from "../joined.ts";
import type { HeaderRows, JoinedPart, PartItem } from "../joined.ts";
import { parseStaged } from "../json.ts";
import type { ReadOptions, ReadOutcome, SourceItem, Staging } from "../reader.ts";
import type { HttpStream } from "../source-settings.ts";
import type { ChainSettings, DetailSettings, StreamChain } from "./chain-settings.ts";
import { readChain } from "./chain.ts";
import type { Chain, Parent } from "./chain.ts";
import type { ListSettings } from "./list-reading.ts";
import type { List } from "./list.ts";

interface ListAbout {
  who: string;
  /** Where it is, if not where its settings say. */
  url?: URL;
  columns: readonly string[];
  /** HTTP 404 means that there is none. */
  mayLack?: boolean;
}

export type ListMaker = (list: ListSettings, about: ListAbout) => List;

interface StreamDeps {
  who: string;
  columns: NeededColumns;
  listOf: ListMaker;
  /** Another stream of the source, by whose records this one is asked for. */
  parents: (of: Stream) => HttpStream | undefined;
  baseUrl: string | undefined;
  atOnce: number;
  staging: Staging;
}

/** A stream of an http source: a list, or lists that are asked for record by record, and the lists of its details. */
export class StreamReading {
  readonly #stream: HttpStream;
  readonly #deps: StreamDeps;

  constructor(stream: HttpStream, deps: StreamDeps) {
    this.#stream = stream;
    this.#deps = deps;
  }

  read(options: ReadOptions): AsyncGenerator<SourceItem[], ReadOutcome, void> {
    const { details, key = "" } = this.#stream;
    return details === undefined ? this.#rows(options) : this.#joined(details, key, options);
  }

  /** Whether every list answers that can be asked by itself. */
  async check(signal: AbortSignal | undefined): Promise<Problem | undefined> {
    const { each, details } = this.#stream;
    const own = each === undefined ? this.#list() : this.#parents(each);
    const alone = Object.entries(details ?? {}).filter(([, list]) => list.each === undefined);
    for (const list of [own, ...alone.map(([name, settings]) => this.#detail(name, settings))]) {
      const problem = await list.check(signal);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  get #own(): ListSettings {
    return { ...this.#stream, areParts: this.#stream.group !== undefined };
  }

  #list(): List {
    const { who, columns, listOf } = this.#deps;
    return listOf(this.#own, { who, columns: columns.own });
  }

  #parents({ of }: StreamChain): List {
    const { who, listOf, parents } = this.#deps;
    const limits = this.#stream.limits;
    const list = typeof of === "string" ? parents(of) : { ...of, limits };
    if (list === undefined) throw new TypeError(`the ${who} needs a stream that does not exist`);
    // Everything is asked for, whatever that stream itself would ask for.
    return listOf({ ...list, since: undefined }, { who: `${who}, list of its keys`, columns: [] });
  }

  #detail(name: string, settings: DetailSettings, url?: URL): List {
    const { who, columns, listOf } = this.#deps;
    return listOf(
      { ...settings, key: settings.rowKey, limits: this.#stream.limits, areParts: true },
      {
        who: `${who}, details ${name}`,
        columns: columns.details[name] ?? [],
        ...(url === undefined ? {} : { url }),
        mayLack: settings.each?.notFound === "none",
      },
    );
  }

  /** The rows of the stream itself. */
  #rows(options: ReadOptions): AsyncGenerator<SourceItem[], ReadOutcome, void> {
    const { each } = this.#stream;
    return each === undefined ? this.#list().read(options) : this.#chained(each, options);
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
    const rows = this.#rows(since === undefined ? all : { ...all, since });
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

  /** Detail rows that are asked for by their header rows. */
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
    const chain = this.#chain(settings.url, each, (url) => this.#detail(name, settings, url));
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

  /** The records of lists that are asked for by the records of another one. */
  async *#chained(each: StreamChain, options: ReadOptions): AsyncGenerator<SourceItem[], ReadOutcome, void> {
    let problem: Problem | undefined;
    let rows = 0;
    const bad: SourceItem[] = [];
    const all = fromTheBeginning(options);
    const parents = (async function* (list: List): AsyncGenerator<Parent[], void, void> {
      const reading = list.read(all);
      try {
        for (let next = await reading.next(); ; next = await reading.next()) {
          if (next.done === true) {
            problem ??= next.value.problem;
            return;
          }
          for (const item of next.value) if ("bad" in item) bad.push(item);
          yield next.value.flatMap((item) => ("bad" in item ? [] : [{ key: undefined, ...item.raw }]));
        }
      } finally {
        await reading.return({ complete: false, full: true, rows: 0 });
      }
    })(this.#parents(each));
    const { listOf, who, columns } = this.#deps;
    const mayLack = each.notFound === "none";
    const chain = this.#chain(this.#stream.url, each, (url) =>
      listOf({ ...this.#own, since: undefined }, { who, url, columns: columns.own, mayLack }),
    );
    const reading = readChain(chain, parents, all);
    try {
      for (let next = await reading.next(); ; next = await reading.next()) {
        const found: SourceItem[] = bad.splice(0);
        if (next.done === true) problem ??= next.value;
        else if ("lacking" in next.value) {
          const { parent, message } = next.value.lacking;
          const { place, key } = parent;
          found.push({ bad: { place, ...(key === undefined ? {} : { key }), code: "no-value", message } });
        } else for (const item of withParent(next.value, each.into)) found.push(item);
        rows += found.length;
        if (found.length > 0) yield found;
        options.signal?.throwIfAborted();
        if (next.done !== true) continue;
        return { complete: problem === undefined, full: true, rows, ...(problem === undefined ? {} : { problem }) };
      }
    } finally {
      await reading.return(undefined);
    }
  }

  #chain(url: string, each: ChainSettings, listOf: (url: URL) => List): Chain {
    const { baseUrl, atOnce } = this.#deps;
    return { url, baseUrl, each, atOnce, listOf };
  }
}

/** What lists are read with whose rows cannot be begun in the middle. */
function fromTheBeginning({ signal, batchSize }: ReadOptions): ReadOptions {
  return { ...(signal === undefined ? {} : { signal }), ...(batchSize === undefined ? {} : { batchSize }) };
}

/** Rows of a list as a part of records. */
async function* partOf(
  reading: AsyncGenerator<SourceItem[], ReadOutcome, void>,
  ended: (outcome: ReadOutcome) => void,
): AsyncGenerator<PartItem[], Problem | undefined, void> {
  try {
    for (;;) {
      const next = await reading.next();
      if (next.done !== true) {
        // The key of a row may be its own: to which record it belongs is read from the row itself.
        yield next.value.map((item): PartItem => {
          if ("bad" in item) return item;
          const { place, value } = item.raw;
          return { row: { place, value } };
        });
        continue;
      }
      ended(next.value);
      return next.value.problem;
    }
  } finally {
    await reading.return({ complete: false, full: false, rows: 0 });
  }
}

/** Records with the one that they were asked for by, under a name of its own. */
function withParent(
  { parents, items }: { parents: readonly Parent[]; items: SourceItem[] },
  into: string | undefined,
): SourceItem[] {
  const [parent] = parents;
  if (into === undefined || parent === undefined) return items;
  return items.map((item): SourceItem => {
    if ("bad" in item || !isJsonObject(item.raw.value)) return item;
    const { place, key, value } = item.raw;
    if (!Object.hasOwn(value, into)) return { raw: { ...item.raw, value: { ...value, [into]: parent.value } } };
    const message = `the record has a field ${into}, but that is also the name of the field for its parent record`;
    return { bad: { place, ...(key === undefined ? {} : { key }), code: "name-taken", message } };
  });
}
