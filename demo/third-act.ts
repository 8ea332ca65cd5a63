import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { systemClock, type Clock } from "../src/base/clock.ts";
import { type ExitCode, exitCodes } from "../src/base/errors.ts";
import { systemRandomness } from "../src/base/ids.ts";
import { projectFolder } from "../src/base/program-version.ts";
import { createOutput, type Output } from "../src/cli/output.ts";
import { carryOut } from "../src/cli/program.ts";
import type { Environment } from "../src/config/load.ts";
import { startSandbox } from "../src/sandbox/sandbox.ts";
import { change } from "./second-act.ts";

/** Customers of the sample that the act has; a few are enough to close a month. */
const customers = /^"?C-10(?:0\d|1[0-2])\b/u;

interface ActPlaces {
  config: string;
  sample: string;
  /** Where the act keeps everything, made anew each time. */
  work: string;
}

/** The exports of a few customers of the CRM, and nothing of the other systems. */
function writeExports(sample: string, folder: string): void {
  cpSync(sample, folder, { recursive: true });
  const keep = (file: string, isKept: (line: string) => boolean): string[] => {
    const path = join(folder, "crm", file);
    const [header = "", ...lines] = readFileSync(path, "utf8").trimEnd().split("\n");
    const kept = lines.filter(isKept);
    writeFileSync(path, `${[header, ...kept].join("\n")}\n`);
    return kept;
  };
  keep("customers.csv", (line) => customers.test(line));
  const orders = keep("orders.csv", (line) => customers.test(line.slice(line.indexOf(",") + 1)));
  const numbers = new Set(orders.map((line) => line.slice(0, line.indexOf(","))));
  keep("order-lines.csv", (line) => numbers.has(line.slice(0, line.indexOf(","))));
  const staff = readFileSync(join(folder, "hr/staff.ndjson"), "utf8").split("\n");
  // Without the two whose names are broken on purpose.
  const kept = staff.filter((line) => customers.test(line.split('"company":')[1] ?? "") && !/"E-2031[56]"/u.test(line));
  writeFileSync(join(folder, "hr/staff.ndjson"), `${kept.join("\n")}\n`);
  writeFileSync(join(folder, "portal/customers.ndjson"), "");
  writeFileSync(join(folder, "portal/orders.json"), '{"orders": []}\n');
}

/**
 * The third act, for finance: a month is closed, the CRM corrects an order afterwards, and the audit log is checked
 * without crm-sync. It has a ledger, a sandbox and a calendar of its own: only a month that is over can be closed, so
 * the act is in the last days of one month and the first days of the next.
 */
export async function demonstrateThirdAct(
  { config, sample, work }: ActPlaces,
  environment: Environment,
  output: Output,
  signal: AbortSignal,
): Promise<ExitCode> {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const exports = join(work, "exports");
  writeExports(sample, exports);
  const calendar = new Calendar();
  const sandbox = await startSandbox({ store: join(work, "sandbox.db"), clock: calendar, random: systemRandomness });
  const own: Record<string, string> = { CRM_SYNC__ledger__path: join(work, "ledger.db") };
  for (const name of ["crm", "portal", "hr"]) own[`CRM_SYNC__sources__${name}__directory`] = join(exports, name);
  const options = ["--config", config, `--sandbox=${sandbox.url}`];
  const stage = new Stage(options, { environment: { ...environment, ...own }, clock: calendar, signal }, output);
  try {
    await closesAMonth(stage, calendar, { exports, here: relative(process.cwd(), work) });
    for (const line of correctionsIn(join(work, "orders.csv"))) output.line(`      ${line}`);
    return await checksTheLog(stage, work, output);
  } finally {
    await sandbox.close();
  }
}

const [run, ofStaff] = [
  ["run", "customers-and-orders"],
  ["run", "staff"],
];

async function closesAMonth(
  stage: Stage,
  calendar: Calendar,
  { exports, here }: { exports: string; here: string },
): Promise<void> {
  const next = Temporal.Now.plainDateISO("UTC").subtract({ days: 4 }).toPlainYearMonth();
  const month = next.subtract({ months: 1 });
  const on = (day: Temporal.PlainDate, what: string): void => {
    calendar.moveTo(day);
    stage.say(`\n${day.toString()}: ${what}`);
  };
  stage.say("A month is closed, and corrected later. This act has a ledger and a calendar of its own.");
  on(month.toPlainDate({ day: month.daysInMonth - 2 }), "the orders and the staff of 12 customers are new.");
  await stage.does(run, /^(?:records|customers|orders) /u);
  await stage.does(ofStaff, /^(?:records|staff) /u);
  on(
    next.toPlainDate({ day: 1 }),
    `${month.toString()} is over. Finance reads the CRM once more and closes the month.`,
  );
  await stage.does(run, /^exit/u);
  await stage.does(ofStaff, /^exit/u);
  await stage.does(["report", "close", month.toString(), "--by", "finance.desk"], /is closed/u);
  on(next.toPlainDate({ day: 2 }), "the CRM corrects an order of the closed month: 1,464 EUR become 1,400 EUR.");
  change(join(exports, "crm/orders.csv"), "SO-50003,", (line) => line.replace('"1.464,00"', '"1.400,00"'));
  await stage.does(run, /^(?:records|orders) /u);
  stage.say(`  The closed statement stays as it is; ${next.toString()} has the correction:`);
  await stage.does(["report", "print", month.toString(), "--out", join(here, "closed")], /still|same|differ/u);
  const orders = [
    "report",
    "orders",
    "--period",
    next.toString(),
    "--part",
    "orders",
    "--out",
    join(here, "orders.csv"),
  ];
  await stage.does(orders, /written/u);
}

/** Checks the audit log with the verifier that shares no code with the program. */
async function checksTheLog(stage: Stage, work: string, output: Output): Promise<ExitCode> {
  const here = relative(process.cwd(), work);
  stage.say("\nAn auditor checks the audit log without crm-sync:");
  await stage.does(["audit", "export", "--out", join(here, "audit.ndjson")], /written/u);
  output.line(
    `  $ node docs/reference/audit/verify.mjs ${join(here, "audit.ndjson")} --heads ${join(here, "ledger.db.heads")}`,
  );
  const files = [join(work, "audit.ndjson"), "--heads", join(work, "ledger.db.heads")];
  const verifier = join(projectFolder, "docs/reference/audit/verify.mjs");
  const { status, stdout } = spawnSync(process.execPath, [verifier, ...files], { encoding: "utf8" });
  for (const line of stdout.trimEnd().split("\n")) output.line(`      ${line}`);
  output.line(`\nnext:    edit a line of ${join(here, "audit.ndjson")} and check it again`);
  return status === 0 ? stage.worst : exitCodes.other;
}

/** Where command lines are carried out and shown, one after the other. */
class Stage {
  readonly #options: readonly string[];
  readonly #surroundings: Surroundings;
  readonly #output: Output;
  /** The exit code of the last command line that did not end well. */
  worst: ExitCode = exitCodes.ok;

  constructor(options: readonly string[], surroundings: Surroundings, output: Output) {
    this.#options = options;
    this.#surroundings = surroundings;
    this.#output = output;
  }

  say(text: string): void {
    this.#output.line(text);
  }

  /** Carries a command line out and shows those of its lines that are wanted; all of them where it does not end well. */
  async does(words: readonly string[], wanted: RegExp): Promise<void> {
    this.say(`  $ crm-sync ${words.join(" ")}`);
    const { exitCode, lines } = await said([...this.#options, ...words], this.#surroundings);
    const shown = exitCode === exitCodes.ok ? lines.filter((line) => wanted.test(line)) : lines;
    for (const line of shown.slice(0, mostLines)) this.say(`      ${line.trim()}`);
    if (exitCode !== exitCodes.ok) this.worst = exitCode;
  }
}

interface Surroundings {
  environment: Environment;
  clock: Clock;
  signal: AbortSignal;
}

/** Most lines of a command that are shown. */
const mostLines = 4;

/** The amounts of a statement of orders that changed, in words. */
function correctionsIn(file: string): string[] {
  const [names = [], ...rows] = readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => line.split(","));
  const cell = (row: string[], name: string): string => row[names.indexOf(name)] ?? "";
  return rows.map((row) => {
    const [order, before, after, currency] = ["crm_order", "amount_before", "amount_after", "currency"].map((name) =>
      cell(row, name),
    );
    return `${order}: ${before} became ${after} ${currency}`;
  });
}

/** A clock that is moved from day to day, eight in the morning UTC, and goes on from there. */
class Calendar implements Clock {
  #start = 0;
  #begun = 0;
  readonly monotonic = (): number => systemClock.monotonic();
  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> => systemClock.sleep(ms, signal);
  readonly now = (): number => Math.round(this.#start + performance.now() - this.#begun);

  moveTo(day: Temporal.PlainDate): void {
    this.#start = day.toZonedDateTime({ timeZone: "UTC", plainTime: "08:00" }).epochMilliseconds;
    this.#begun = performance.now();
  }
}

/** What a command line said and came to, carried out in this process. */
async function said(
  words: readonly string[],
  { environment, clock, signal }: Surroundings,
): Promise<{ exitCode: ExitCode; lines: string[] }> {
  let text = "";
  const write = (part: string | Buffer, done?: () => void): boolean => {
    text += String(part);
    done?.();
    return true;
  };
  const startWeb = (): never => {
    throw new Error("the demo serves no pages");
  };
  const output = createOutput({ write }, { write }, () => performance.now());
  const exitCode = await carryOut(words, { environment, output, signal, clock, startWeb });
  return { exitCode, lines: text.split("\n").filter((line) => line.trim() !== "") };
}
