import { type JsonObject, hashOf, isJsonObject, parseJson } from "../../src/base/canonical-json.ts";
import type { Problem } from "../../src/base/errors.ts";
import { NewestChange, type ChangesSeen } from "../../src/source/http/list-reading.ts";
import { compileStream } from "../../src/source/mapping/compile.ts";
import type { ReadOptions, ReadOutcome, SourceItem } from "../../src/source/reader.ts";
import type { Source } from "../../src/source/source.ts";
import { mappingOf } from "./world/crm-files.ts";

/** A page that is asked for: what comes after a key, or after so many rows; of what changed since a time. */
export interface AskedPage {
  after: string;
  offset: number;
  since: string | undefined;
}

/** A page of a list: its rows, each with an `id` and `changed`, and the Date header of the answer. */
export interface AnsweredPage {
  rows: readonly JsonObject[];
  date: number | undefined;
}

interface Settings {
  ask: (page: AskedPage) => Promise<AnsweredPage | Problem>;
  /** `key`: in an order in which no row moves; `place`: by how many rows came before; `none`: cannot go on. */
  by: "key" | "place" | "none";
  /** The field of a row that becomes the name of the branch. */
  branch: () => string;
  /** Settings of the stream beside its mapping. */
  query?: () => string;
  monotonic: () => number;
  overlapMs: number;
  /** Undefined: it gives everything each time. */
  fullReadEveryMs: number | undefined;
}

interface Position {
  after: string;
  offset: number;
  seen: ChangesSeen;
}

const textOf = (row: JsonObject, field: string): string => {
  const value = row[field];
  return typeof value === "string" ? value : "";
};

/** Customers of a list that is read by the page, and gone on with as its order allows. */
export function pagedSource(settings: Settings): Source {
  const mapping = (): JsonObject => ({ ...mappingOf("customers"), branchName: settings.branch() });
  return {
    name: "crm",
    streams: ["customers"],
    check: () => Promise.resolve(undefined),
    fullReadEveryMs: () => settings.fullReadEveryMs,
    endReading: () => Promise.resolve(),
    close: () => Promise.resolve(),
    mapping: () => {
      const fingerprint = hashOf(mapping());
      const question = hashOf({ fingerprint, query: settings.query?.() ?? "" });
      return Promise.resolve({
        map: compileStream("customers", mapping()).map,
        gives: () => ({}),
        secretPaths: [],
        ways: () => [],
        nullTexts: [],
        tableEntries: {},
        fingerprint,
        question,
      });
    },
    read: (_stream, options) => readPages(settings, options),
  };
}

async function* readPages(settings: Settings, options: ReadOptions): AsyncGenerator<SourceItem[], ReadOutcome, void> {
  const { ask, by, monotonic, overlapMs, fullReadEveryMs } = settings;
  const from = by === "none" ? undefined : positionIn(options.resume);
  if (options.resume !== undefined && from === undefined) options.beginsAnew?.();
  const since = { parameter: "since", in: "query", format: "iso", template: "{since}", changedAt: "changed" } as const;
  const newest = new NewestChange(
    { ...since, overlapMs, fullReadEvery: "24h" },
    options.since,
    { now: () => Infinity, monotonic },
    from?.seen,
  );
  let { after, offset } = from ?? { after: "", offset: 0 };
  let rows = 0;
  const full = options.since === undefined && (from === undefined || by === "key");
  for (;;) {
    const answer = await ask({ after, offset, since: options.since });
    options.signal?.throwIfAborted();
    if (!("rows" in answer)) return { complete: false, full, rows, problem: answer };
    newest.see({
      items: answer.rows.map((value) => ({ row: { place: "list", value } })),
      answer: { date: answer.date },
    });
    const last = answer.rows.at(-1);
    if (last === undefined) break;
    rows += answer.rows.length;
    after = textOf(last, "id");
    offset += answer.rows.length;
    yield answer.rows.map((value) => ({ raw: { place: textOf(value, "id"), key: textOf(value, "id"), value } }));
    options.signal?.throwIfAborted();
    if (by !== "none") options.reached?.(JSON.stringify({ after, offset, seen: newest.seen }));
  }
  const cursor = fullReadEveryMs === undefined ? undefined : newest.cursor();
  return { complete: true, full, rows, ...(cursor === undefined ? {} : { cursor }) };
}

function positionIn(text: string | undefined): Position | undefined {
  if (text === undefined) return undefined;
  const read = parseJson(text);
  if (!isJsonObject(read) || !isJsonObject(read["seen"])) return undefined;
  const { after, offset, seen } = read;
  if (typeof after !== "string" || typeof offset !== "number") return undefined;
  const { serviceTime, began, rows } = seen;
  return {
    after,
    offset,
    seen: {
      ...(typeof serviceTime === "number" ? { serviceTime } : {}),
      ...(typeof began === "number" ? { began } : {}),
      rows: typeof rows === "number" ? rows : 0,
    },
  };
}
