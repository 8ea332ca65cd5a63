import { setTimeout as pause } from "node:timers/promises";
import { request } from "undici";
import { z } from "zod";
import { migrations } from "../../src/ledger/database/database.ts";
import type { FaultRule } from "../../src/sandbox/faults.ts";
import { Draws } from "../simulation/timeline.ts";
import type { Running } from "../support/process.ts";
import { auditIsWhole, fullCheck } from "../support/full-check.ts";
import { startCrmSync } from "../support/process.ts";
import { goodRunOf, runJob, runResultOf, settleNotApplied } from "../support/program.ts";
import type { Ended } from "../support/program.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { readCounts, readState } from "../support/platform-view.ts";
import { startSandboxProcess } from "../support/sandbox-process.ts";
import type { SandboxProcess } from "../support/sandbox-process.ts";
import { configOf, ledgerOf, platformOf, writeWorld } from "../support/world/small.ts";
import { personal, sealEnvironment, secrets } from "../support/world/crm.ts";
import { GrowingCrm } from "./growing-crm.ts";

const editsPerKill = 10;
/** Time of each call of the platform, half of it before its effect. */
const latencyMs = 20;
/**
 * How long a platform takes at most to show an effect, and the settle time that goes with it: longer than that, and
 * than a kill and a new start.
 */
const platforms = {
  prompt: { faults: [], settleMs: 2000 },
  /** Some writing calls have their effect only when their caller is dead. */
  late: { faults: [{ operation: "writes", fault: "appliedLate", probability: 0.2, delayMs: 3000 }], settleMs: 8000 },
} as const satisfies Record<string, { faults: FaultRule[]; settleMs: number }>;
/**
 * When kills come: so many in the first moments of a process, the others soon or not so soon after its first writing
 * call.
 */
const moments = { early: 0.12, late: 0.25, longestStartMs: 600, longestWorkMs: 250, longestLateMs: 1000 };

const open = z.object({
  endpoint: z.string(),
  state: z.string(),
  orderId: z.string().nullable(),
  customer: z.string(),
});
const sent = z.object({ endpoint: z.string(), subject: z.string(), started: z.string() });
const parked = z.object({ id: z.string(), endpoint: z.string(), why: z.string() });
const counted = z.object({ n: z.int() });

const waiting = z.looseObject({
  summary: z.looseObject({ open: z.array(z.looseObject({ code: z.string() })).min(1) }),
});

/** Ended well, but for records that wait until a change with an unknown outcome can no longer land. */
function onlySettleTimesAreLeft(ended: Ended): boolean {
  const result = runResultOf(ended);
  const left = waiting.safeParse(result).data?.summary.open;
  const isWhole = result.exit === 3 && result.state === "done" && result.balance.adds;
  return isWhole && left?.every(({ code }) => code === "settle-time") === true;
}

/** What kills met and what was made of it. */
class Tally {
  kills = 0;
  /** Kills that met something on its way: an attempt of this very process has no end. */
  sending = 0;
  /** Operations that a later process settled. */
  settled = 0;
  /** Processes that came to their end before the kill did. */
  endedFirst = 0;
  /** What kills left behind, and how often. */
  readonly left = new Map<string, number>();

  note(left: string): void {
    this.left.set(left, (this.left.get(left) ?? 0) + 1);
  }

  get text(): string {
    const often = [...this.left].sort(([, a], [, b]) => b - a).map(([left, times]) => `${times} × ${left}`);
    return [
      `${this.kills} kills, ${this.sending} with something sending, ${this.settled} operations settled,`,
      `${this.endedFirst} runs that ended before their kill, ${this.left.size} different states left behind:\n`,
      often.join("\n"),
    ].join(" ");
  }
}

/**
 * A program that is killed again and again, its CRM that keeps changing, and its platform. The seed decides what
 * changes and when kills come; what a kill meets is up to the machine.
 */
export class KilledWorld {
  readonly tally = new Tally();
  readonly #folder: string;
  readonly #sandbox: SandboxProcess;
  readonly #settleMs: number;
  readonly #draws: Draws;
  readonly #crm: GrowingCrm;
  readonly #output: string[] = [];

  private constructor(folder: string, sandbox: SandboxProcess, settleMs: number, seed: number) {
    this.#folder = folder;
    this.#sandbox = sandbox;
    this.#settleMs = settleMs;
    this.#draws = new Draws(seed);
    this.#crm = new GrowingCrm(this.#draws, 10);
  }

  static async start(folder: string, platform: keyof typeof platforms, seed: number): Promise<KilledWorld> {
    const { faults, settleMs } = platforms[platform];
    const sandbox = await startSandboxProcess({ store: platformOf(folder), latencyMs, faults, seed });
    return new KilledWorld(folder, sandbox, settleMs, seed);
  }

  async close(): Promise<void> {
    await this.#sandbox.close();
  }

  get #program() {
    return {
      config: configOf(this.#folder),
      sandbox: this.#sandbox.url,
      ledger: ledgerOf(this.#folder),
      environment: {
        ...sealEnvironment,
        CRM_SYNC__settle__timeMs: String(this.#settleMs),
        CRM_SYNC__assumptions__poolBatch: "3",
        // What kills hold up adds up, and no limit is meant here.
        CRM_SYNC__limits__revokes__enterprise__floor: "1000000",
        CRM_SYNC__limits__revokes__run__floor: "1000000",
      },
    };
  }

  async killOnce(): Promise<string[]> {
    for (let edits = 0; edits < editsPerKill; edits += 1) this.#crm.edit();
    writeWorld(this.#folder, this.#crm.world());
    const early = this.#draws.chance(moments.early);
    const longest = this.#draws.chance(moments.late) ? moments.longestLateMs : moments.longestWorkMs;
    const afterMs = this.#draws.whole(0, early ? moments.longestStartMs : longest);
    const { writingCalls } = await readCounts(this.#sandbox.url);
    const started = new Date().toISOString();
    const program = startCrmSync(this.#program, "--json", "run", "everything");
    if (!early) await this.#writes(program, writingCalls);
    await pause(afterMs);
    program.child.kill("SIGKILL");
    const ended = await program.ended;
    this.#output.push(ended.stdout, ended.stderr);
    if (ended.signal !== "SIGKILL") {
      this.tally.endedFirst += 1;
      goodRunOf(ended);
      return [];
    }
    this.tally.kills += 1;
    // What was on its way is there now, unless the platform is late with it.
    await pause(2 * latencyMs);
    return await this.#lookAtWhatIsLeft(started);
  }

  /** Waits until the platform gets a writing call, or the program ends. */
  async #writes(program: Running, before: number): Promise<void> {
    await program.says(`"stream":"staff"`);
    const ended = program.ended.then(() => true);
    while ((await readCounts(this.#sandbox.url)).writingCalls === before)
      if (await Promise.race([ended, pause(10, false)])) return;
  }

  /** Names what the kill left behind; gives what must not be so at any moment. */
  async #lookAtWhatIsLeft(since: string): Promise<string[]> {
    let ledger: LedgerView;
    try {
      ledger = new LedgerView(ledgerOf(this.#folder));
    } catch {
      this.tally.note("no ledger");
      return [];
    }
    try {
      if (!isMade(ledger)) {
        this.tally.note("a ledger that was being made");
        return [];
      }
      const operations = ledger.rows(
        open,
        `select endpoint, state, customer_namespace || '/' || customer_id as customer,
           (select value ->> 'id' from json_each(records) where value ->> 'stream' = 'orders') as orderId
         from operation where state not in ('done', 'rejected', 'dropped') order by endpoint, state`,
      );
      const running = ledger.rows(counted, "select count(*) as n from run where state = 'running'")[0]?.n ?? 0;
      const { orders } = await readState(this.#sandbox.url);
      const names = operations.map(({ endpoint, state, orderId }) => {
        const there = orderId !== null && endpoint === "E5" && state !== "planned";
        return `${endpoint} ${state}${there ? (orderId in orders ? ", done there" : ", not there") : ""}`;
      });
      this.tally.note(
        `${running > 0 ? "in a run" : "between runs"}: ${[...new Set(names)].join("; ") || "nothing open"}`,
      );
      const cut = "select count(*) as n from attempt where finished_at is null and started_at >= ?";
      if ((ledger.rows(counted, cut, since)[0]?.n ?? 0) > 0) this.tally.sending += 1;
      const inDoubt = operations.filter((row) => row.state === "sending" || row.state === "unknown");
      const more = inDoubt.filter(
        (row, index) => inDoubt.findIndex((item) => item.customer === row.customer) !== index,
      );
      return [
        ...more.map((row) => `more than one operation of ${row.customer} is open: ${row.endpoint}`),
        ...auditIsWhole(ledger, ledgerOf(this.#folder)),
      ];
    } finally {
      ledger.close();
    }
  }

  async #run(): Promise<Ended> {
    return await runJob(this.#program);
  }

  /**
   * What waits for a person: only an E2 that was cut off before any E2 of this ledger was found again by E3 (A8), so
   * that not seeing it proves nothing. The person looks, and says that it was not applied.
   */
  async #decideWhatIsParked(): Promise<string[]> {
    const ledger = new LedgerView(ledgerOf(this.#folder));
    const rows = ledger.rows(
      parked,
      "select id, endpoint, outcome_message as why from operation where state = 'parked'",
    );
    ledger.close();
    const others = rows.filter((row) => row.endpoint !== "E2" || !row.why.includes("A8"));
    for (const { id } of rows) {
      const { exitCode: code, stdout } = await settleNotApplied(this.#program, id);
      if (code !== 0) others.push({ id, endpoint: "settle", why: stdout });
    }
    return others.map((row) => `${row.endpoint} is parked: ${row.why}`);
  }

  /**
   * Nothing is killed any more: two runs bring everything to its end, and the third has nothing to send. The first may
   * leave to the second what still waits for a settle time, and says so.
   */
  async comeToTheEnd(): Promise<string[]> {
    await request(`${this.#sandbox.url}/_sandbox/faults`, { method: "DELETE" });
    const mistaken = await this.#decideWhatIsParked();
    if (mistaken.length > 0) return mistaken;
    const first = await this.#run();
    if (!onlySettleTimesAreLeft(first)) goodRunOf(first);
    goodRunOf(await this.#run());
    const before = await readCounts(this.#sandbox.url);
    const third = goodRunOf(await this.#run());
    const after = await readCounts(this.#sandbox.url);
    const wished = this.#crm.wished();
    const wrong = await fullCheck({
      ledger: ledgerOf(this.#folder),
      sandbox: this.#sandbox.url,
      wished,
      personal,
      secrets,
      output: this.#output,
    });
    if (third.writingCalls !== 0 || after.writingCalls !== before.writingCalls)
      wrong.push(`the third run without a kill sent ${after.writingCalls - before.writingCalls} writing calls`);
    for (const [endpoint, number] of [
      ["E2", wished.enterprises],
      ["E5", wished.orders],
    ] as const) {
      const effects = after.effects[endpoint] ?? 0;
      if (effects !== number) wrong.push(`${endpoint} had ${effects} effects, wished are ${number}`);
    }
    wrong.push(...this.#sentTooEarly());
    await this.#sandbox.close();
    return [...wrong, ...this.#crm.differences(platformOf(this.#folder))];
  }

  /** What cannot be undone is sent again only when the settle time of the attempt before is over. */
  #sentTooEarly(): string[] {
    const ledger = new LedgerView(ledgerOf(this.#folder));
    try {
      const [settled] = ledger.rows(
        counted,
        "select count(distinct operation_id) as n from attempt where detail = 'the program ended while the call was in progress'",
      );
      this.tally.settled = settled?.n ?? 0;
      const attempts = ledger.rows(
        sent,
        `select endpoint, subject, started_at as started from attempt join operation on id = operation_id
         where endpoint in ('E2', 'E5') order by endpoint, subject, started_at`,
      );
      return attempts.flatMap((attempt, index) => {
        const before = attempts[index - 1];
        if (before?.endpoint !== attempt.endpoint || before.subject !== attempt.subject) return [];
        const apart = Date.parse(attempt.started) - Date.parse(before.started);
        return apart >= this.#settleMs
          ? []
          : [`${attempt.endpoint} on ${attempt.subject} was sent again after ${apart} ms`];
      });
    } finally {
      ledger.close();
    }
  }
}

/** A new ledger is made in two transactions: most of its tables, and then the migrations since. */
function isMade(ledger: LedgerView): boolean {
  const table = ledger.rows(counted, "select count(*) as n from sqlite_schema where name = 'kysely_migration'");
  if (table[0]?.n !== 1) return false;
  const applied = ledger.rows(counted, "select count(*) as n from kysely_migration");
  return applied[0]?.n === Object.keys(migrations).length;
}
