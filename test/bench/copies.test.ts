import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { linesOfCopy, ordersOfCopy } from "../../bench/books/export.ts";
import { makeLedgers } from "../../bench/books/statements.ts";
import { environment, period } from "../../bench/books/template.ts";
import { crmSync, type Program } from "../../bench/program.ts";
import { openInquiry } from "../../src/inquiry/inquiry.ts";
import { bundled } from "../support/bundle.ts";
import { folder } from "../support/world/start.ts";

const root = join(import.meta.dirname, "../..");
const program: Program = { root, script: bundled(), nodeOptions: [], environment: {}, commit: "here" };

const partSchema = z.object({ totals: z.looseObject({ rows: z.int(), columns: z.record(z.string(), z.unknown()) }) });
const statementSchema = z.object({ parts: z.record(z.string(), partSchema) });

async function totals(configuration: string, kind: string) {
  const file = join(dirname(configuration), `${kind}.json`);
  const report = ["report", kind, "--period", period.label, "--format", "json", "--out", file];
  await crmSync(program, configuration, ["--sandbox=http://127.0.0.1:9", ...report], z.unknown(), { environment });
  const { parts } = statementSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, part.totals.rows]));
}

/** The number of entries of an audit log that is whole. */
async function entries(configuration: string): Promise<number> {
  const inquiry = openInquiry(join(dirname(configuration), "ledger.db"));
  const verdicts = await inquiry.auditVerdicts([]);
  inquiry.close();
  expect(verdicts.integrity).toEqual({ good: true });
  return verdicts.entries;
}

it(
  "a ledger of copies has what the program made, as often as it was copied, and a record that is whole",
  { tags: "long" },
  async () => {
    const ledgers = await makeLedgers(program, folder(), { lines: 2 * linesOfCopy, tell: () => undefined });
    expect(ledgers.lines).toBe(2 * linesOfCopy);
    for (const kind of ["orders", "reconciliation"]) {
      const [one, two] = [await totals(ledgers.few, kind), await totals(ledgers.many, kind)];
      for (const [part, rows] of Object.entries(one)) {
        // What is added up by verdict or product is so for all copies together.
        if (part !== "summary") expect(two[part], `${kind}, ${part}`).toBe(2 * rows);
      }
      if (kind === "orders") {
        expect(one["orders"]).toBe(ordersOfCopy);
        expect(one["lines"]).toBeGreaterThanOrEqual(linesOfCopy);
      }
    }
    const [few, many] = [await entries(ledgers.few), await entries(ledgers.many)];
    expect(many).toBe(2 * few);
  },
);
