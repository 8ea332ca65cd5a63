import { exitCodes, Problem } from "../../base/errors.ts";
import { rowCheck } from "./cells.ts";
import type { Part, PartRow, Row, StatementHeader, StatementShape } from "./shape.ts";
import { addingUp, type FileChunk, type OpenStatement, type PartTotals, type StatementWriter } from "./writer.ts";

export const statementFormats = ["csv", "json", "html"] as const;
export type StatementFormat = (typeof statementFormats)[number];

const writers: Record<StatementFormat, () => Promise<(statement: OpenStatement) => StatementWriter>> = {
  csv: async () => (await import("./csv.ts")).csvWriter,
  json: async () => (await import("./json.ts")).jsonWriter,
  html: async () => (await import("./html.ts")).htmlWriter,
};

/** Whether each part is a separate file. The first has the requested name. */
export function isOfParts(format: string): boolean {
  return format === "csv";
}

const rowsInBatch = 500;

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
 * Yields the chunks of all files, one file after the other. Checks and adds up rows as a stream and holds a few hundred
 * (HTML: a few thousand). `name`: the file name without a folder.
 */
export async function* renderStatement(
  format: StatementFormat,
  shape: StatementShape,
  header: StatementHeader,
  rows: AsyncIterable<PartRow> | Iterable<PartRow>,
): AsyncGenerator<FileChunk, void, void> {
  const make = await writers[format]();
  const writer = make({ shape, header });
  const totals = new Map<string, PartTotals>();
  const chunk = (part: Part | undefined, text = ""): FileChunk[] => {
    const isOwn = part !== undefined && part !== shape.parts[0] && isOfParts(format);
    return text === "" ? [] : [{ file: isOwn ? part.name : "", chunk: text }];
  };
  let at = -1;
  let open: OpenPart | undefined;

  /** Ends the open part, writes empty parts up to `next`, and begins that. */
  function* turnTo(next: number): Iterable<FileChunk> {
    for (; at < next; at += 1) {
      if (open !== undefined) {
        const { part, adding, batch } = open;
        if (batch.length > 0) yield* chunk(part, writer.rows(part, batch));
        const sums = adding.totals();
        totals.set(part.name, sums);
        yield* chunk(part, writer.endPart?.(part, sums));
      }
      const part = shape.parts[at + 1];
      open = part && { part, check: rowCheck(part), adding: addingUp(part), batch: [] };
      yield* chunk(part, part && writer.beginPart(part));
    }
  }

  yield* chunk(undefined, writer.begin?.());
  for await (const { part: name, row } of rows) {
    const wanted = shape.parts.findIndex((part) => part.name === name);
    if (wanted < Math.max(at, 0)) throw outOfTurn(shape, name);
    yield* turnTo(wanted);
    if (open === undefined) continue;
    const { part, check, adding }: OpenPart = open;
    check(row, adding.rows + 1);
    adding.add(row);
    open.batch.push(row);
    if (open.batch.length < rowsInBatch) continue;
    yield* chunk(part, writer.rows(part, open.batch));
    open.batch = [];
  }
  yield* turnTo(shape.parts.length);
  yield* chunk(undefined, writer.end?.(totals));
}

interface OpenPart {
  part: Part;
  check: ReturnType<typeof rowCheck>;
  adding: ReturnType<typeof addingUp>;
  batch: Row[];
}

function outOfTurn(shape: StatementShape, part: string): Problem {
  return new Problem({
    code: "statement.part",
    message: `the statement ${shape.kind} got a row for the part ${JSON.stringify(part)}, which is unknown or ended`,
    cure: "this is a defect of crm-sync: report it, with the command that you ran",
  });
}
