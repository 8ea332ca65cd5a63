/** @module-tag sized */
import { join } from "node:path";
import pLimit from "p-limit";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { endpoints } from "../../src/contract/endpoints.ts";
import { kinds } from "../../src/operation/registry.ts";
import { newSandbox } from "../support/world/start.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { fullCheck } from "../support/full-check.ts";
import { killPoints } from "../support/kill-points-names.ts";
import type { KillPoint } from "../support/kill-points-names.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { temporaryFolder } from "../support/northwind.ts";
import { earlierKill, silentAt } from "../support/killed-at.ts";
import { startCrmSync } from "../support/process.ts";
import { crmSync, goodRunOf } from "../support/program.ts";
import type { Ended, Place } from "../support/program.ts";
import { cellsOf, sampled } from "../support/sizes.ts";
import { begin, Beginnings } from "../support/world/beginnings.ts";
import { baseWished, changes, configOf, ledgerOf, notSentYet, nthCallOf, platformOf } from "../support/world/small.ts";
import { decideAsPerson } from "../support/world/decided.ts";
import { personal, sealEnvironment, secrets } from "../support/world/crm.ts";
import type { Change } from "../support/world/small.ts";

/**
 * Each cell ends the program with SIGKILL at one exact point of one operation, starts the same command again, and looks
 * at everything. The points are reached from outside the program (test/support/kill-points.ts); a point that is not
 * reached fails its cell, because the process then ends by itself.
 */
const preload = join(import.meta.dirname, "../support/kill-points.ts");

/** What a kill leaves behind: the state of the operation in the journal, and whether the platform has its effect. */
const leftBehind: Record<KillPoint, { journal: string | undefined; effects: 0 | 1 }> = {
  "before the plan row": { journal: undefined, effects: 0 },
  "in the intent transaction": { journal: undefined, effects: 0 },
  "after the intent": { journal: "sending", effects: 0 },
  "half the request written": { journal: "sending", effects: 0 },
  "all written, nothing committed there": { journal: "sending", effects: 0 },
  "committed there, no reply": { journal: "sending", effects: 1 },
  "half the reply read": { journal: "sending", effects: 1 },
  "reply parsed": { journal: "sending", effects: 1 },
  "in the outcome transaction": { journal: "sending", effects: 1 },
  "after the outcome": { journal: "done", effects: 1 },
  "in settling, after a look-up that shows it": { journal: "unknown", effects: 1 },
  "in settling, after a look-up that does not": { journal: "unknown", effects: 0 },
  "in settling, after a resend": { journal: "sending", effects: 1 },
};

const folder = temporaryFolder();
const beginnings = new Beginnings(folder.path);
const twoAtOnce = pLimit(2);
const operationRow = z.object({ id: z.string(), state: z.string() });

class Cell {
  readonly folder: string;
  readonly change: Change;
  readonly sandbox: Sandbox;
  readonly effectsBefore: number;
  readonly begun = new Date().toISOString();
  readonly output: string[] = [];

  constructor(path: string, change: Change, sandbox: Sandbox) {
    this.folder = path;
    this.change = change;
    this.sandbox = sandbox;
    this.effectsBefore = sandbox.counts().effects[change.endpoint] ?? 0;
  }

  async run(environment: Record<string, string> = {}): Promise<Ended> {
    const place = { ...this.place, environment: { ...this.place.environment, ...environment } };
    const words = ["--json", "run", "everything"];
    const isKilled = environment["KILL_POINT"] !== undefined;
    const ended = await (isKilled ? startCrmSync({ ...place, preload }, ...words).ended : crmSync(place, ...words));
    this.output.push(ended.stdout, ended.stderr);
    return ended;
  }

  /** A run finds that a person has to decide, and nothing else; the person does. */
  async decide(): Promise<void> {
    // What the killed program had written may reach the platform a moment after it died.
    await sleep(500);
    const { writingCalls } = this.sandbox.counts();
    const { exitCode } = await this.run();
    if (exitCode === 5 && this.sandbox.counts().writingCalls !== writingCalls) throw new Error("it was sent again");
    const of = { ledger: ledgerOf(this.folder), kind: this.change.kind, wasDone: () => this.effects() > 0 };
    await decideAsPerson(of, (...words) => crmSync(this.place, ...words));
  }

  get place(): Place {
    return {
      config: configOf(this.folder),
      sandbox: this.sandbox.url,
      ledger: ledgerOf(this.folder),
      environment: { ...sealEnvironment, ...this.change.environment },
    };
  }

  async killAt(point: KillPoint): Promise<void> {
    const { endpoint, kind } = this.change;
    const lift = silentAt(point, this.sandbox, { operation: endpoint, nth: nthCallOf(this.change) });
    const orders = { KILL_POINT: point, KILL_KIND: kind, KILL_OPERATION: this.operation()?.id ?? "" };
    let ended = await this.run(orders);
    // What is taken away is judged once a run, so a revoke that settling found unsent is sent by the next one.
    if (ended.exitCode === 0 && this.change.judged === true && point === "in settling, after a resend")
      ended = await this.run(orders);
    if (ended.signal !== "SIGKILL") throw new Error(`${point} was not reached: ${ended.stderr.slice(-2000)}`);
    await lift(true);
  }

  effects(): number {
    return (this.sandbox.counts().effects[this.change.endpoint] ?? 0) - this.effectsBefore;
  }

  /** The operation of this change that the journal got last. */
  operation(): z.infer<typeof operationRow> | undefined {
    const ledger = new LedgerView(ledgerOf(this.folder));
    try {
      return ledger
        .rows(
          operationRow,
          "select id, state from operation where kind = ? and created_at > ? order by created_at desc, id desc limit 1",
          this.change.kind,
          this.begun,
        )
        .at(0);
    } finally {
      ledger.close();
    }
  }
}

/**
 * What the kill has to have left behind in this cell. In a move the grant comes after the revoke, and both are planned
 * before either is sent; what is deleted in the place of something is planned only once that was bought.
 */
function expectedAt(point: KillPoint, cell: Cell): { journal: string | undefined; effects: number } {
  const { journal, effects } = leftBehind[point];
  const { judged, approved } = cell.change;
  const planned = judged === true && approved !== true && point === "in the intent transaction";
  const isPlannedLater = cell.change.kind === "delete-products";
  const earlier = point === "before the plan row" && !isPlannedLater ? 0 : nthCallOf(cell.change) - 1;
  return { journal: planned ? "planned" : journal, effects: effects + earlier };
}

async function inCell(name: string, change: Change, work: (cell: Cell) => Promise<void>): Promise<void> {
  const path = join(folder.path, name.replaceAll(/\W+/gu, "-"));
  await begin(beginnings, change, path);
  const sandbox = await newSandbox({ store: platformOf(path) });
  try {
    await work(new Cell(path, change, sandbox));
  } finally {
    await sandbox.close();
  }
}

beforeAll(async () => void (await beginnings.base()));
afterAll(() => folder.remove());

/** What a person decides is not sent again by itself, and what nothing reads is not looked for. */
const neverReached = {
  always: (point: KillPoint) => point.startsWith("in settling"),
  unseen: (point: KillPoint) => point === "in settling, after a resend",
};
const rows = cellsOf(changes, ({ asksPerson }) =>
  sampled(
    killPoints.filter((point) => asksPerson === undefined || !neverReached[asksPerson](point)),
    5,
  ),
);

describe.concurrent.each(rows)("killed with SIGKILL while %s,", (name, change, points) => {
  it.each(points)("%s: the same command brings everything to its end, once", { tags: "long" }, async (point) => {
    await twoAtOnce(() =>
      inCell(`${name} ${point}`, change, async (cell) => {
        const earlier = earlierKill[point];
        if (earlier !== undefined) await cell.killAt(earlier);
        await cell.killAt(point);
        const left = expectedAt(point, cell);
        expect(cell.operation()?.state).toBe(left.journal);
        // Where the platform is slow, what was written before the first kill is carried out after all.
        const again = change.repeatable === true && left.effects > 0 ? [0, 1] : [0];
        expect(again).toContain(cell.effects() - left.effects);

        if (change.asksPerson !== undefined) await cell.decide();
        goodRunOf(await cell.run());
        if (change.judged === true) goodRunOf(await cell.run());
        expect(
          await fullCheck({
            ledger: ledgerOf(cell.folder),
            sandbox: cell.sandbox.url,
            wished: { ...baseWished, ...change.wished },
            personal,
            secrets,
            output: cell.output,
          }),
        ).toEqual([]);
        const calls = change.calls ?? 1;
        const more = change.repeatable === true ? [0, 1, 2] : change.asksPerson === "always" ? [-1, 0] : [0];
        expect(more).toContain(cell.effects() - calls);

        const before = cell.sandbox.counts().writingCalls;
        expect(goodRunOf(await cell.run()).writingCalls).toBe(0);
        expect(cell.sandbox.counts().writingCalls).toBe(before);
      }),
    );
  });
});

describe("the matrix", () => {
  it("has a row for every writing operation that the program sends and for every kind, and names the others", () => {
    const writing = Object.entries(endpoints).flatMap(([id, operation]) => (operation.writes ? [id] : []));
    const sent = Object.values(kinds).map((item) => item.endpoint);
    const rows = Object.values(changes).map((change) => change.endpoint);
    expect([...new Set(rows)].sort()).toEqual([...new Set(sent)].sort());
    expect([...new Set(rows), ...notSentYet].sort()).toEqual(writing.sort());
    expect(new Set(Object.values(changes).map((change) => change.kind))).toEqual(new Set(Object.keys(kinds)));
  });
});
