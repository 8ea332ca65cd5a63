import { exitCodes, Problem } from "../../base/errors.ts";
import { rowCheck } from "./cells.ts";
import type { Part, PartRow, Row, StatementHeader, StatementShape } from "./shape.ts";
import { addingUp, type FileChunk, type MakeWriter, type PartTotals, type StatementWriter } from "./writer.ts";

export const statementFormats = ["csv", "json", "html"] as const;
export type StatementFormat = (typeof statementFormats)[number];

/** Each format's writer, loaded with its library when that format is asked for. */
const writers: Record<StatementFormat, () => Promise<MakeWriter>> = {
  csv: async () => (await import("./csv.ts")).csvWriter,
  json: async () => (await import("./json.ts")).jsonWriter,
  html: async () => (await import("./html.ts")).htmlWriter,
};

const rowsInBatch = 500;

/** Refuses a format that there is not. */
export function requireStatementFormat(format: string): StatementFormat {
  const known = statementFormats.find((name) => name === format);
  if (known !== undefined) return known;
  throw new Problem({
    code: "statement.format",
    message: `there is no format ${JSON.stringify(format)} for statements`,
    cure: `use --format ${statementFormats.join(", ")}`,
    exitCode: exitCodes.usage,
  });
}

/**
 * A statement as the chunks of its files, one file after the other. Rows are taken as they are needed, checked, counted
 * and added up while they go through; a few hundred are held at a time (a few thousand for HTML).
 */
export async function* renderStatement(
  format: StatementFormat,
  shape: StatementShape,
  header: StatementHeader,
  rows: AsyncIterable<PartRow> | Iterable<PartRow>,
): AsyncGenerator<FileChunk, void, void> {
  const make = await writers[format]();
  const writer = make({ shape, header });
  const parts = partsInTurn(shape, writer);
  yield* writer.begin();
  for await (const row of rows) yield* parts.take(row);
  yield* parts.finish();
  yield* writer.end(parts.totals);
}

interface PartsInTurn {
  readonly totals: ReadonlyMap<string, PartTotals>;
  take(row: PartRow): Iterable<FileChunk>;
  finish(): Iterable<FileChunk>;
}

/** Goes through the parts in their order, those without rows too, and hands their rows to the writer in batches. */
function partsInTurn(shape: StatementShape, writer: StatementWriter): PartsInTurn {
  const totals = new Map<string, PartTotals>();
  let at = -1;
  let open: { part: Part; take(row: Row): Iterable<FileChunk>; end(): Iterable<FileChunk> } | undefined;

  function* next(): Iterable<FileChunk> {
    if (open !== undefined) yield* open.end();
    at += 1;
    const part = shape.parts[at];
    if (part === undefined) {
      open = undefined;
      return;
    }
    open = openPart(part, writer, (found) => totals.set(part.name, found));
    yield* writer.beginPart(part);
  }

  return {
    totals,
    *take({ part, row }) {
      const wanted = shape.parts.findIndex(({ name }) => name === part);
      if (wanted < Math.max(at, 0)) throw outOfTurn(shape, part);
      while (at < wanted) yield* next();
      if (open !== undefined) yield* open.take(row);
    },
    *finish() {
      while (at < shape.parts.length) yield* next();
    },
  };
}

function openPart(
  part: Part,
  writer: StatementWriter,
  ended: (totals: PartTotals) => void,
): { part: Part; take(row: Row): Iterable<FileChunk>; end(): Iterable<FileChunk> } {
  const check = rowCheck(part);
  const adding = addingUp(part);
  let batch: Row[] = [];
  return {
    part,
    *take(row) {
      check(row, adding.rows + 1);
      adding.add(row);
      batch.push(row);
      if (batch.length < rowsInBatch) return;
      yield* writer.rows(part, batch);
      batch = [];
    },
    *end() {
      if (batch.length > 0) yield* writer.rows(part, batch);
      const totals = adding.totals();
      ended(totals);
      yield* writer.endPart(part, totals);
    },
  };
}

function outOfTurn(shape: StatementShape, part: string): Problem {
  return new Problem({
    code: "statement.part",
    message: `the statement ${shape.kind} got a row for the part ${JSON.stringify(part)}, which is unknown or ended`,
    cure: "this is a defect of crm-sync: report it, with the command that you ran",
  });
}
