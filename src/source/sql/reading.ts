import { Problem } from "../../base/errors.ts";
import { readJoined, type JoinedPart } from "../joined.ts";
import { recordsOf } from "../json.ts";
import { type FileItem, type ReadOptions, type ReadOutcome, type SourceItem, type Staging } from "../reader.ts";
import { isClean } from "../without-secrets.ts";
import type { Query } from "./failures.ts";
import {
  countOfDetails,
  detailsOfChanged,
  statementOf,
  type ChangedFrom,
  type Part,
  type Question,
  type StreamSettings,
} from "./query.ts";
import type { Cell, Snapshot } from "./snapshot.ts";
import { boundOf, Newest, rowReader } from "./values.ts";

export interface Asking {
  name: string;
  settings: StreamSettings;
  zone: string | undefined;
  staging: Staging;
  open: () => Promise<Snapshot>;
  question: (snapshot: Snapshot) => Promise<Question>;
  failed: (thrown: unknown, query: Query) => Problem;
}

/** A failure becomes the outcome's problem. */
export async function* readStream(
  asking: Asking,
  options: ReadOptions,
): AsyncGenerator<SourceItem[], ReadOutcome, void> {
  let snapshot: Snapshot;
  let question: Question;
  try {
    snapshot = await asking.open();
    question = await asking.question(snapshot);
  } catch (thrown) {
    if (thrown instanceof Problem)
      return { complete: false, full: options.since === undefined, rows: 0, problem: thrown };
    throw thrown;
  }
  const changes = changesOf(asking, question, snapshot, options.since);
  const read = Object.keys(question.details).length === 0 ? readPlain : joined;
  const outcome = yield* read(asking, question, snapshot, changes, options);
  const cursor = changes.cursor();
  return outcome.complete && outcome.shrunk === undefined && cursor !== undefined ? { ...outcome, cursor } : outcome;
}

interface Changes {
  from: ChangedFrom | undefined;
  see: (cells: readonly Cell[]) => void;
  /** Undefined: the next read is a full one. */
  cursor: () => string | undefined;
}

function changesOf(
  { settings, zone }: Asking,
  { header, changed }: Question,
  { openedAt }: Snapshot,
  since: string | undefined,
): Changes {
  if (changed === undefined) return { from: undefined, see: () => undefined, cursor: () => undefined };
  const at = header.columns.indexOf(changed);
  const newest = new Newest(changed);
  const time =
    since === undefined || settings.since === undefined
      ? undefined
      : boundOf(since, changed, settings.since.overlap, zone);
  return {
    from: time === undefined ? undefined : { column: changed.name, time },
    see: (cells) => newest.see(cells[at] ?? null),
    cursor: () => newest.value(openedAt, zone) ?? (time === undefined ? undefined : since),
  };
}

function readPlain(
  asking: Asking,
  { header }: Question,
  snapshot: Snapshot,
  changes: Changes,
  options: ReadOptions,
): AsyncGenerator<SourceItem[], ReadOutcome, void> {
  const { from } = changes;
  const statement = statementOf(header.query, { from, order: orderOf(header) }, snapshot);
  const rows = partRows(asking, header, snapshot, statement, options, changes.see);
  return recordsOf(rows, { key: asking.settings.key, full: from === undefined, signal: options.signal });
}

/** Whether places may show the key: no private field reads it, and it looks like no e-mail address or phone number. */
function isTold(cell: Exclude<Cell, null>, { key, isKeyPrivate }: Part): boolean {
  if (isKeyPrivate) return false;
  const text = String(cell);
  const isText = typeof cell === "string" && (key?.kind === "text" || key?.kind === "any");
  return isClean(text) && !(isText && /^[\d ()./-]{7,24}$/u.test(text));
}

/** The key column, if rows can be sorted by it. */
function orderOf({ key }: Part): string | undefined {
  return key === undefined || key.kind === "json" ? undefined : key.name;
}

function joined(
  asking: Asking,
  { header, details }: Question,
  snapshot: Snapshot,
  changes: Changes,
  options: ReadOptions,
): AsyncGenerator<SourceItem[], ReadOutcome, void> {
  const { settings, staging } = asking;
  const { from } = changes;
  const partOf = (
    part: Part,
    key: string | undefined,
    statement: string,
    see?: (cells: readonly Cell[]) => void,
  ): JoinedPart => ({
    key: key ?? "",
    read: () => partRows(asking, part, snapshot, statement, options, see),
  });
  const headers = { query: header.query, column: header.key?.name ?? "" };
  const detailStatement = ({ query, key }: Part): string =>
    from === undefined
      ? statementOf(query, {}, snapshot)
      : detailsOfChanged({ query, column: key?.name ?? "" }, { ...headers, from }, snapshot);
  const whole = async ({ query, key }: Part): ReturnType<NonNullable<JoinedPart["whole"]>> => {
    try {
      const counting = snapshot.rows(countOfDetails({ query, column: key?.name ?? "" }, headers), 1);
      const [[rows, met] = []] = (await Array.fromAsync(counting)).flat();
      return { rows: Number(rows), orphans: Number(rows) - Number(met) };
    } catch (thrown) {
      options.signal?.throwIfAborted();
      return asking.failed(thrown, query);
    }
  };
  const statement = statementOf(header.query, { from, order: orderOf(header) }, snapshot);
  return readJoined(
    {
      header: partOf(header, settings.key, statement, changes.see),
      details: Object.fromEntries(
        Object.entries(details).map(([name, part]) => [
          name,
          { ...partOf(part, settings.details?.[name]?.key, detailStatement(part)), whole: () => whole(part) },
        ]),
      ),
      limits: settings.limits,
      staging,
      changesOnly: from !== undefined,
    },
    options,
  );
}

/** The end value: why rows may be missing. */
async function* partRows(
  { name, settings, zone, failed }: Asking,
  part: Part,
  snapshot: Snapshot,
  statement: string,
  { batchSize = 500, signal }: ReadOptions,
  see: (cells: readonly Cell[]) => void = () => undefined,
): AsyncGenerator<FileItem[], Problem | undefined, void> {
  const { query, columns, key } = part;
  const read = rowReader(columns, { zone, limits: settings.limits });
  const keyAt = key === undefined ? -1 : columns.indexOf(key);
  const set = query.settings.split(".").slice(4).join(".");
  const place = set === "" ? name : `${name}/${set}`;
  let count = 0;
  const rows = snapshot.rows(statement, batchSize);
  try {
    for (;;) {
      let next: IteratorResult<Cell[][], void>;
      try {
        next = await rows.next();
      } catch (thrown) {
        signal?.throwIfAborted();
        return failed(thrown, query);
      }
      // An aborted statement may look complete.
      signal?.throwIfAborted();
      if (next.done === true) return undefined;
      yield next.value.map((cells): FileItem => {
        count += 1;
        see(cells);
        const cell = cells[keyAt] ?? null;
        const at =
          cell === null || !isTold(cell, part)
            ? `${place}, row ${count}`
            : `${place}, ${key?.name} ${String(cell).slice(0, 200)}`;
        const item = read(cells, at);
        return "bad" in item && cell !== null ? { bad: { ...item.bad, key: String(cell).slice(0, 200) } } : item;
      });
    }
  } finally {
    await rows.return();
  }
}
