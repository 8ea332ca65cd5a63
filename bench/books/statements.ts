import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { exitCodes } from "../../src/base/errors.ts";
import { type Cost, costSchema, measure, words } from "../measure.ts";
import { type Measuring, eachProgram, ofPrograms } from "../measuring.ts";
import { type Program, crmSync } from "../program.ts";
import { linesOfCopy } from "./export.ts";
import { environment, makeTemplate, period, writeBooksConfiguration } from "./template.ts";

/** What is printed of a ledger of many order lines, as `report` is asked for it. */
const asked = [
  ["orders", "csv"],
  ["orders", "json"],
  ["orders", "html"],
  ["entitlements", "csv"],
  ["reconciliation", "csv"],
] as const;

const statementSchema = z.object({ kind: z.string(), format: z.string(), few: costSchema, many: costSchema });

/** What each statement costs of a ledger of many order lines, and of one that has a tenth of them. */
const statementsSchema = z.object({ lines: z.int(), statements: z.array(statementSchema) });
export type Statements = z.infer<typeof statementsSchema>;
export const statementsOfSchema = ofPrograms(statementsSchema);

/** Prints every statement of two ledgers of order lines, the larger of which has `lines`. */
export async function measureStatements(measuring: Measuring, lines: number) {
  return await eachProgram(measuring.programs, async (program, name) => {
    const tell = (step: string): void => measuring.tell(`statements, ${name}: ${step}`);
    const work = join(measuring.work, `statements-${name}`);
    const ledgers = await makeLedgers(program, work, { lines, tell });
    const statements: z.infer<typeof statementSchema>[] = [];
    for (const [kind, format] of asked) {
      tell(`${kind} as ${format}`);
      const few = await printed(program, ledgers.few, kind, format);
      statements.push({ kind, format, few, many: await printed(program, ledgers.many, kind, format) });
    }
    tell("closing a month");
    const few = await closed(program, ledgers.few);
    statements.push({ kind: "close", format: "all", few, many: await closed(program, ledgers.many) });
    rmSync(work, { recursive: true });
    return { lines: ledgers.lines, statements };
  });
}

/** Two ledgers of order lines, by their configurations: one of as many as wanted or a few more, and one of a tenth. */
export interface Ledgers {
  lines: number;
  few: string;
  many: string;
}

export async function makeLedgers(
  program: Program,
  work: string,
  { lines, tell }: { lines: number; tell: (step: string) => void },
): Promise<Ledgers> {
  const copies = Math.ceil(lines / linesOfCopy);
  tell("a small ledger, made by the program");
  const template = await makeTemplate(program, join(work, "template"));
  const copied = async (name: string, count: number): Promise<string> => {
    tell(`${count * linesOfCopy} order lines`);
    const directory = join(work, name);
    mkdirSync(directory, { recursive: true });
    const script = join(program.root, "bench/subjects/copies.ts");
    const { from, days } = period;
    const args = words({ path: join(directory, "ledger.db"), template, copies: count, from, days });
    await measure({ script, args }, z.object({ entries: z.int() }));
    return writeBooksConfiguration(directory);
  };
  const few = await copied("few", Math.max(1, Math.round(copies / 10)));
  return { lines: copies * linesOfCopy, few, many: await copied("many", copies) };
}

const blockersSchema = z.looseObject({ blockers: z.array(z.looseObject({ id: z.string() })) });

/** Closes the last month: every statement in every format of the configuration, once all blockers are signed off. */
async function closed(program: Program, configuration: string): Promise<Cost> {
  const report = async <Result>(words: readonly string[], schema: z.ZodType<Result>, exit = 0) =>
    await crmSync(program, configuration, ["--sandbox=http://127.0.0.1:9", "report", ...words], schema, {
      environment,
      exit,
    });
  // The export is not read again: what was not read since the month was over stands in the way.
  const { result } = await report(["blockers", period.last], blockersSchema, exitCodes.held);
  const ids = result.blockers.map(({ id }) => id);
  const whose = ["--by", "bench", "--reason", "measured"];
  if (ids.length > 0) await report(["sign-off", period.last, ...ids, ...whose], z.unknown());
  return costSchema.parse(await report(["close", period.last, ...whose], z.unknown()));
}

/** Prints one statement to files beside the ledger, which go again. */
export async function printed(program: Program, configuration: string, kind: string, format: string): Promise<Cost> {
  const folder = join(configuration, "../printed");
  mkdirSync(folder, { recursive: true });
  const report = ["report", kind, "--period", period.label, "--format", format, "--out", join(folder, `it.${format}`)];
  // No call is made.
  const command = ["--sandbox=http://127.0.0.1:9", ...report];
  const { wallSeconds, cpuSeconds, peakMegabytes } = await crmSync(program, configuration, command, z.unknown(), {
    environment,
  });
  rmSync(folder, { recursive: true });
  return { wallSeconds, cpuSeconds, peakMegabytes };
}
