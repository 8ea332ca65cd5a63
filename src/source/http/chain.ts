import type { JsonObject } from "../../base/canonical-json.ts";
import { Problem } from "../../base/errors.ts";
import { keyReader } from "../json.ts";
import type { ReadOptions, ReadOutcome, SourceItem } from "../reader.ts";
import { placeholders, type ChainSettings } from "./chain-settings.ts";
import { addressOf } from "./http-source-settings.ts";
import type { List } from "./list.ts";
import { isOneWord, valueIn, type Placement } from "./placement.ts";

export interface Parent {
  key: string | undefined;
  place: string;
  value: JsonObject;
}

/** `lacking`: a record without the value that its request needs. */
type ChainItem = { parents: readonly Parent[]; items: SourceItem[] } | { lacking: { parent: Parent; message: string } };

export interface Chain {
  url: string;
  baseUrl: string | undefined;
  each: ChainSettings;
  /** Most requests in progress ahead of the one being read. */
  atOnce: number;
  listOf: (url: URL) => List;
}

interface Asked {
  parents: readonly Parent[];
  shown: string;
  reading: AsyncGenerator<SourceItem[], ReadOutcome, void>;
  first: Promise<IteratorResult<SourceItem[], ReadOutcome>>;
}

/** Problems of the service itself: further requests would fail too. */
const ofService: ReadonlySet<string> = new Set(["source.down", "source.wrong-password"]);

/**
 * A failed request makes the read incomplete; others still run, unless the service itself fails. Places and problems
 * show field names of the address instead of values, which may be private.
 */
export async function* readChain(
  chain: Chain,
  parents: AsyncIterable<Parent[]> | Iterable<Parent[]>,
  options: ReadOptions,
): AsyncGenerator<ChainItem, Problem | undefined, void> {
  const ahead: Asked[] = [];
  const waiting: Parent[] = [];
  const size = chain.each.batch ?? 1;
  let first: Problem | undefined;
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, ...(options.signal === undefined ? [] : [options.signal])]);
  const ask = (): void => {
    const asked = waiting.splice(0, size);
    if (asked.length > 0) ahead.push(begin(chain, asked, { ...options, signal }));
  };
  const take = async function* (): AsyncGenerator<ChainItem, boolean, void> {
    const asked = ahead[0];
    if (asked === undefined) return true;
    const problem = yield* answerOf(asked, options);
    ahead.shift();
    first ??= problem;
    return problem === undefined || !ofService.has(problem.code);
  };
  try {
    for await (const batch of parents) {
      for (const parent of batch) {
        const missing = missingOf(chain, parent.value);
        if (missing !== undefined) {
          const message = `the record has no usable value in ${missing}, which the request for its details needs`;
          yield { lacking: { parent, message } };
          continue;
        }
        const ambiguous = severalOf(chain, parent.value) ?? endingOf(chain, parent.value);
        if (ambiguous !== undefined) {
          const message =
            `the record has a value in ${ambiguous} with marks that could end the text around it, so that what ` +
            "belongs to others would be asked for";
          yield { lacking: { parent, message } };
          continue;
        }
        waiting.push(parent);
        if (waiting.length >= size) ask();
        if (ahead.length >= chain.atOnce && !(yield* take())) return first;
      }
    }
    ask();
    while (ahead.length > 0) if (!(yield* take())) return first;
    return first;
  } finally {
    stop.abort();
    await Promise.all(ahead.map(({ reading }) => reading.return({ complete: false, full: false, rows: 0 })));
  }
}

function begin(chain: Chain, parents: readonly Parent[], options: ReadOptions): Asked {
  const [one] = parents;
  const filled = chain.url.replaceAll(placeholders, (_whole, path: string) =>
    encodeURIComponent(textAt(one?.value ?? {}, path) ?? ""),
  );
  const { origin, pathname } = addressOf(chain.url, chain.baseUrl);
  const more = parents.length > 1 ? ` and ${parents.length - 1} more` : "";
  const written = pathname.replaceAll(/%7B/giu, "{").replaceAll(/%7D/giu, "}");
  const shown = `${origin}${written} for ${one?.place ?? ""}${more}`;
  const placed = chain.each.put.map((put): Placement => {
    const { in: where, parameter, value: path } = put;
    if (chain.each.batch === undefined) return { in: where, parameter, value: scalarAt(one?.value ?? {}, path) ?? "" };
    const values = parents.map(({ value }) => scalarAt(value, path) ?? "");
    const { member } = put;
    if (where !== "body") return { in: where, parameter, value: values.join(",") };
    return {
      in: where,
      parameter,
      value: member === undefined ? values : values.map((value) => ({ [member]: value })),
    };
  });
  const reading = chain.listOf(addressOf(filled, chain.baseUrl)).read({ ...options, placed });
  const first = reading.next();
  // `answerOf` reports a rejection; before that nobody listens.
  first.catch(() => undefined);
  return { parents, shown, reading, first };
}

async function* answerOf(
  { parents, shown, reading, first }: Asked,
  options: ReadOptions,
): AsyncGenerator<ChainItem, Problem | undefined, void> {
  const placed = (place: string): string => `${shown}${place.includes("#") ? place.slice(place.indexOf("#")) : ""}`;
  for (let next = await first; ; next = await reading.next()) {
    options.signal?.throwIfAborted();
    if (next.done !== true) {
      const items = next.value.map((item): SourceItem =>
        "bad" in item
          ? { bad: { ...item.bad, place: placed(item.bad.place) } }
          : { raw: { ...item.raw, place: placed(item.raw.place) } },
      );
      yield { parents, items };
      continue;
    }
    const { complete, problem, rows } = next.value;
    if (complete || (problem?.code === "source.not-found" && rows === 0)) return undefined;
    const { code, message, cure, exitCode } = problem ?? unknownEnd;
    return new Problem({ code, message, cure, exitCode, place: placed(problem?.place ?? ""), cause: problem?.cause });
  }
}

const unknownEnd = new Problem({
  code: "source.half-read",
  message: "The list ended early.",
  cure: "Read the source again.",
});

function missingOf({ url, each }: Chain, value: JsonObject): string | undefined {
  const inAddress = [...url.matchAll(placeholders)].map(([, path = ""]) => path);
  const unusable = inAddress.find((path) => textAt(value, path) === undefined);
  return unusable ?? each.put.map((put) => put.value).find((path) => scalarAt(value, path) === undefined);
}

/** A value with a comma: in the joined text of a batch it would read as several values. */
function severalOf({ each }: Chain, value: JsonObject): string | undefined {
  if (each.batch === undefined) return undefined;
  const joined = each.put.filter((put) => put.in !== "body");
  return joined.find((put) => String(scalarAt(value, put.value)).includes(","))?.value;
}

/** A value that could end the quotes or expression around it in the address. */
function endingOf({ url }: Chain, value: JsonObject): string | undefined {
  for (const match of url.matchAll(placeholders)) {
    const [whole, path = ""] = match;
    const before = url.slice(0, match.index);
    const after = url.slice(match.index + whole.length);
    const text = textAt(value, path) ?? "";
    if (/(?:['"]|%2[27])$/u.test(before) ? /['"\\\p{Cc}]/u.test(text) : !isWhole(before, after) && !isOneWord(text))
      return path;
  }
  return undefined;
}

/** Whether the placeholder is a whole path step or parameter value. */
function isWhole(before: string, after: string): boolean {
  return /(?:^|[/?&=#])$/u.test(before) && /^(?:$|[/?&#])/u.test(after);
}

/** `.` and `..` would lead to another address. */
function textAt(value: JsonObject, path: string): string | undefined {
  const text = keyReader(path)(value);
  return text === "." || text === ".." ? undefined : text;
}

function scalarAt(value: JsonObject, path: string): string | number | undefined {
  if (keyReader(path)(value) === undefined) return undefined;
  const found = valueIn(value, path);
  return typeof found === "string" || typeof found === "number" ? found : undefined;
}
