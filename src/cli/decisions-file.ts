import { readFileSync } from "node:fs";
import { CsvError, parse } from "csv-parse/sync";
import { z } from "zod";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import type { PersonsVerdict } from "../apply/decide.ts";
import { personalIn } from "../app/reason.ts";

/** One decision as a line of a file gives it, or what is wrong with that line. `place` is FILE:LINE. */
export type DecisionLine =
  | { place: string; id: string; verdict: PersonsVerdict; reason: string }
  | { place: string; problem: Problem };

const columns = ["id", "decision", "reason"] as const;
const rowsSchema = z.array(z.object({ record: z.array(z.string()), info: z.object({ lines: z.int() }) }));

/**
 * Reads a CSV of decisions: `id,decision,reason`. A line that cannot be used stops no other; a file that is no CSV is
 * refused whole.
 */
export function readDecisions(path: string, defaultReason: string | undefined): DecisionLine[] {
  const [header, ...rows] = parsed(path);
  if (header === undefined || columns.some((name, index) => header.record[index]?.trim().toLowerCase() !== name))
    throw problemAt(
      `${path}:1`,
      "the first line does not name the columns",
      `write id,decision,reason as the first line`,
    );
  return rows.map(({ record, info }): DecisionLine => {
    const place = `${path}:${info.lines}`;
    const [id = "", decision = "", reason = ""] = record.map((text) => text.trim());
    const why = reason === "" ? (defaultReason?.trim() ?? "") : reason;
    const held = personalIn(why);
    const wrong =
      record.length > columns.length
        ? problemAt(place, "the line has more than three fields", 'put a reason that holds a comma in "quotes"')
        : id === ""
          ? problemAt(place, "the line names no operation", "`crm-sync settle list` shows the ids")
          : decision !== "applied" && decision !== "not-applied"
            ? problemAt(place, "the decision is neither applied nor not-applied", "write one of the two")
            : why === ""
              ? problemAt(
                  place,
                  "a decision needs a reason; it is kept in the audit record",
                  "fill the column, or add --reason TEXT for all",
                )
              : held !== undefined
                ? problemAt(place, `the reason holds ${held.what}; ${held.means}`, held.cure)
                : undefined;
    if (wrong !== undefined) return { place, problem: wrong };
    return { place, id, verdict: decision === "applied" ? "applied" : "not-applied", reason: why };
  });
}

function parsed(path: string): z.infer<typeof rowsSchema> {
  const text = textOf(path);
  try {
    const options = { bom: true, info: true, relax_column_count: true, skip_empty_lines: true } as const;
    return rowsSchema.parse(parse(text, options));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { lines } = z.object({ lines: z.int().default(1) }).parse({ lines: error["lines"] });
    throw problemAt(
      `${path}:${lines}`,
      `the file is no CSV (${error.code})`,
      "correct the quotes; nothing was decided",
    );
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw problemAt(path, `the file cannot be read (${messageOf(error)})`, "name the CSV; nothing was decided");
  }
}

function problemAt(place: string, message: string, cure: string): Problem {
  return new Problem({
    code: "settle.decisions-file",
    message: `${place}: ${message}`,
    cure,
    exitCode: exitCodes.usage,
    place,
  });
}
