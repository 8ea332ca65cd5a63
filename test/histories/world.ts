import { chosenFrom } from "../../src/requests/plan-file.ts";
import { Problem } from "../../src/base/errors.ts";
import { formatKey } from "../../src/crm/keys.ts";
import { needsOf } from "../../src/engine/plan/blocks.ts";
import type { RunRequest } from "../../src/engine/run/request.ts";
import type { UndoSummary } from "../../src/engine/run/undo-run.ts";
import { emptyLedger } from "../simulation/simulate.ts";
import { rowsOf } from "../support/world/start.ts";
import { Backups, type Restores } from "./backups.ts";
import { differences, shownProducts } from "./checker.ts";
import { enabled, newCustomer, newOrder, newPerson, turns } from "./edits.ts";
import { handWorks } from "./hands.ts";
import { Life, whose } from "./life.ts";
import { loginOf } from "./model.ts";
import { growing, hour, movesOf, otherSettings, shrinking } from "./moves.ts";
import { wrongStatements } from "./statements.ts";
import { giveRest, troubles } from "./troubles.ts";

/** So often the CRM turns a value to and fro, where it does: a person is asked after five times back. */
const mostTurns = 8;
const week = 7 * 24 * hour;

/** What a history came to. */
export interface HistoryResult {
  seed: number;
  edits: number;
  runs: number;
  kills: number;
  /** So often an older copy of the ledger was put back. */
  restores: number;
  /** Orders that wait for a person at the end, since nobody knows what was done of them before a restore. */
  waiting: number;
  faults: number;
  /** Accepted calls of E5, by what they did. */
  purchases: number;
  deletions: number;
  /** Empty where everything is as meant. */
  wrong: string[];
  /** Of everything that happened: equal for equal seeds. */
  trace: string;
  story: string[];
}

/**
 * A random history of CRM edits, interleaved with runs, kills and lost answers, and what the platform holds of it;
 * `edits` are those that it is made of.
 */
export async function live(
  seed: number,
  folder: string,
  edits = enabled,
  { restores }: { restores?: Restores | undefined } = {},
): Promise<HistoryResult> {
  const history = new History(seed, folder, edits, restores);
  try {
    return await history.run(await emptyLedger(folder));
  } finally {
    history.close();
  }
}

class History {
  readonly #life: Life;
  readonly #backups: Backups;
  readonly #restoring: Restores | undefined;
  /** The platform holds what somebody did by hand, and not what the CRM says. */
  #isChangedByHand = false;

  constructor(seed: number, folder: string, edits: typeof enabled, restoring: Restores | undefined) {
    this.#life = new Life(seed, folder, edits, restoring === undefined ? movesOf(seed) : new Set());
    this.#backups = new Backups(this.#life, restoring);
    this.#restoring = restoring;
  }

  async run(empty: string): Promise<HistoryResult> {
    const life = this.#life;
    await life.begin(empty);
    const draws = life.draws;
    for (let customers = draws.whole(1, 2); customers > 0; customers -= 1) newCustomer(life.crm, draws);
    life.changed();
    if (life.moves.size > 0) await this.#grow();
    for (let left = draws.whole(2, 6) + (life.moves.size > 0 ? 3 : 0), first = true; left > 0; first = false) {
      for (let edits = first ? 0 : draws.whole(1, 3); edits > 0 && left > 0; edits -= 1, left -= 1)
        life.edit(life.moves.size > 0 && draws.chance(0.5) ? shrinking : undefined);
      await this.#move();
      life.services.faultRate = draws.pick([0, 0.1, 0.3]) ?? 0;
      await life.oneRun(
        draws.chance(life.moves.size > 0 ? 0.2 : 0.4) ? draws.whole(1, draws.pick([20, 80, 160]) ?? 80) : undefined,
      );
      if (draws.chance(0.4)) await (life.moves.has("in part") ? life.decideInPart() : life.decide());
      if (this.#restoring !== undefined) await this.#backups.backupOrRestore();
      if (draws.chance(0.5)) await life.timeline.pass(draws.whole(0, 8_000));
    }
    if (this.#backups.isThere) await this.#backups.restore();
    if (life.seed % 4 === 2) await this.#turnToAndFro();
    life.services.faultRate = 0;
    await this.#endMoves();
    await life.lastRuns();
    if (life.moves.has("service down")) await this.#oneDown();
    // What was brought back by reading was not bought by this ledger: where it goes, people see to it.
    if (life.seed % 3 === 1 && this.#restoring === undefined && life.moves.size === 0) await this.#workByHand();
    if (this.#backups.waiting() === 0 && !this.#isChangedByHand)
      for (const text of differences(life.crm, life.services)) if (!this.#backups.isLeft(text)) life.wrong.push(text);
    life.wrong.push(...wrongStatements(life.path));
    if (life.moves.size > 0) life.wrong.push(...life.questions.left());
    const [edits, runs, kills] = [life.edits, life.runs, life.kills];
    const { faultCount: faults, observation } = life.services;
    const state = observation.state();
    return {
      seed: life.seed,
      edits,
      runs,
      kills,
      restores: this.#backups.restores,
      waiting: this.#backups.waiting(),
      faults,
      purchases: Object.keys(state.orders).length,
      deletions: Object.keys(state.deletions).length,
      wrong: [...new Set(life.wrong)],
      trace: life.trace,
      story: life.story,
    };
  }

  /** A company that has something to lose, and a platform that holds it. */
  async #grow(): Promise<void> {
    const life = this.#life;
    for (let left = life.draws.whole(3, 6); left > 0; left -= 1) life.edit(growing);
    await life.lastRuns();
  }

  /** What else happens before a run. */
  async #move(): Promise<void> {
    const life = this.#life;
    const [draws, moves] = [life.draws, life.moves];
    if (moves.has("undo") && draws.chance(0.5)) await this.#undo();
    if (moves.has("away")) this.#comeAndGo();
    if (moves.has("settings") && draws.chance(0.5)) {
      life.stop();
      life.configuration = { ...life.configuration, ...otherSettings(draws, moves) };
      life.settings += 1;
      life.note(`settings: ${JSON.stringify(life.configuration)}`);
    }
    if (moves.has("in part") && draws.chance(0.4)) await life.timeline.pass(draws.whole(1, 5) * week);
    if (moves.has("service down")) {
      life.services.down = draws.pick([undefined, "order", "member"]);
      life.note(`down: ${life.services.down ?? "none"}`);
    }
    await troubles(life);
    if (moves.has("pause")) {
      const what = draws.pick(["now", "in a run", "resume", "resume"]);
      if (what === "now") await this.#pause();
      else if (what === "in a run") life.pausesAfter = draws.whole(1, draws.pick([5, 30]) ?? 5);
      else await this.#resume();
    }
  }

  /** Faults are over, what was away is back, and a person answers everything. */
  async #endMoves(): Promise<void> {
    const life = this.#life;
    if (life.moves.size === 0) return;
    life.services.down = undefined;
    life.pausesAfter = 0;
    await this.#resume();
    if (life.away.isAnythingAway) this.#isBack();
    life.isAllAnswered = true;
    if (life.moves.has("renamed source")) await giveRest(life);
    await life.timeline.pass(week);
  }

  #comeAndGo(): void {
    const life = this.#life;
    const draws = life.draws;
    if (life.away.isAnythingAway && draws.chance(0.4)) this.#isBack();
    const arrived = draws.chance(0.5) ? life.away.arrive(draws) : undefined;
    const gone = draws.chance(0.6) ? life.away.leave(draws) : undefined;
    if (arrived === undefined && gone === undefined) return;
    life.changed();
    life.note(`away: ${gone ?? "nothing"}; arrived: ${arrived ?? "nothing"}`);
  }

  #isBack(): void {
    const life = this.#life;
    const back = life.away.comeBack();
    life.changed();
    life.note(`back: ${back}`);
  }

  async #pause(): Promise<void> {
    const life = this.#life;
    const engine = await life.program(undefined);
    await engine.wait(engine.ledger.pause.begin(whose));
    life.paused = 0;
    life.note("paused");
  }

  async #resume(): Promise<void> {
    const life = this.#life;
    const engine = await life.program(undefined);
    await engine.wait(engine.ledger.pause.end(whose));
    life.paused = undefined;
    life.note("resumed");
  }

  /** The newest run that did something is taken back by a program that may die, as far as a person approves. */
  async #undo(): Promise<void> {
    const life = this.#life;
    const draws = life.draws;
    life.services.faultRate = 0;
    life.services.down = undefined;
    const engine = await life.program(undefined);
    const undone = await engine.wait(engine.ledger.journal.newestRunWithDone());
    const before = life.before.get(undone ?? "");
    if (undone === undefined || before === undefined) return;
    const planned = await engine.undo(undone);
    if (planned === undefined) return;
    life.note(`undo of ${undone}: exit ${planned.exitCode}, ${planned.plans.length} plans`);
    for (let left = draws.whole(1, 3); left > 0; left -= 1) {
      life.forms.add(before);
      life.holdings.forget();
      life.crm.lineage.anew([...life.ordersOfLines.keys()]);
      life.changed();
      const part = await this.#partOf(planned);
      if (part === undefined) return;
      await life.oneRun(draws.chance(0.3) ? draws.whole(1, 60) : undefined, part);
      await (draws.chance(0.5) ? life.decide() : life.decideInPart());
    }
  }

  /** What is left to apply of an undo. */
  async #partOf({ run, undone, plans }: UndoSummary): Promise<Pick<RunRequest, "expected" | "header"> | undefined> {
    const engine = await this.#life.program(undefined);
    const customers = plans.map(({ plan: { customer, facts, operations } }) => {
      const needs = needsOf(operations);
      return {
        customer,
        facts: { ...facts },
        operations: operations.map((one) => ({ ...one, needs: [...(needs.get(one.hash) ?? [])] })),
      };
    });
    const ours = {
      version: "1",
      ledger: "1",
      at: "2026-01-01T00:00:00.000Z",
      config: "1",
    } as const;
    const saved = {
      header: { type: "plan", format: 2, ...ours, run, undo: undone } as const,
      customers: new Map(customers.map((one) => [formatKey(one.customer), one])),
    };
    const applied = await engine.wait(engine.ledger.runs.appliedOf(run));
    try {
      const { expected } = chosenFrom("undo", saved, { operations: [], customers: [] }, applied);
      return expected.size === 0 ? undefined : { expected, header: { plan: run, undo: undone } };
    } catch (error) {
      if (error instanceof Problem && error.code === "plan.refused") return undefined;
      throw error;
    }
  }

  /** With one service down, what needs only the other one is done all the same. */
  async #oneDown(): Promise<void> {
    const life = this.#life;
    const draws = life.draws;
    const customer = draws.pick(life.crm.customers.filter(({ gone }) => !gone));
    if (life.wrong.length > 0 || customer === undefined) return;
    const made = [newOrder(life.crm, draws, customer.id).id, newPerson(life.crm, draws, customer.id)];
    life.changed();
    const [down, due] = draws.pick([["order", "M1"] as const, ["member", "E5"] as const]) ?? ["order", "M1"];
    const calls = life.services.calls.length;
    life.services.down = down;
    life.note(`edit: ${made.join(" ")}, with the ${down} service down`);
    await life.oneRun();
    if (!life.services.calls.slice(calls).some(({ operation }) => operation === due))
      life.wrong.push(`${due} is not sent with the ${down} service down`);
    life.services.down = undefined;
    await life.timeline.pass(10_000);
    await life.lastRuns();
  }

  /** The CRM turns one value to and fro, with a run after each time. */
  async #turnToAndFro(): Promise<void> {
    const life = this.#life;
    const draws = life.draws;
    const [name, begin] = draws.pick(Object.entries(turns)) ?? ["", undefined];
    const turn = begin?.(life.crm, draws);
    if (turn === undefined) return;
    for (let left = draws.whole(mostTurns / 2, mostTurns); left > 0; left -= 1) {
      const now = turn();
      life.edits += 1;
      life.changed();
      life.note(`edit: to and fro: ${name}: ${now}`);
      await life.oneRun(draws.chance(0.2) ? draws.whole(1, 80) : undefined);
      if (draws.chance(0.2)) await life.decide();
    }
  }

  /**
   * Somebody works on the platform itself, where it holds what the CRM says. The program, which may die meanwhile, sends
   * nothing because of it, and tells of all that is missing.
   */
  async #workByHand(): Promise<void> {
    const life = this.#life;
    const draws = life.draws;
    if (life.wrong.length > 0 || differences(life.crm, life.services).length > 0) return;
    await life.readBack();
    const missing: NonNullable<ReturnType<(typeof handWorks)[string]>>["missing"][] = [];
    for (let left = draws.whole(1, 3); left > 0; left -= 1) {
      const [name, work] = draws.pick(Object.entries(handWorks)) ?? ["", undefined];
      const done = work?.(life.services, draws);
      if (done === undefined) continue;
      life.note(`by hand: ${name}: ${done.what}`);
      const person = life.crm.people.find((one) => !one.gone && loginOf(one) === done.missing?.subject);
      const isAccount = done.missing?.level === "staff";
      // The account of a person who left is wanted by nobody.
      if (!isAccount) missing.push(done.missing);
      else missing.push(person && { level: "staff", subject: `of crm/${person.id}` });
    }
    life.forms.add(shownProducts(life.services));
    life.holdings.forget();
    this.#isChangedByHand = missing.length > 0;
    const writes = life.services.writingCalls;
    for (const _ of [1, 2]) {
      await life.readBack();
      await life.timeline.pass(life.configuration.settle.timeMs + 1_000);
    }
    life.services.faultRate = draws.pick([0, 0.1]) ?? 0;
    await life.oneRun();
    await life.decide();
    await life.oneRun(draws.chance(0.5) ? draws.whole(1, 80) : undefined);
    life.services.faultRate = 0;
    await life.lastRuns();
    await life.readBack();
    if (life.services.writingCalls !== writes)
      life.wrong.push("something was sent because of what somebody did by hand");
    const told = rowsOf<{ level: string; subject: string }>(
      life.path,
      "select level, subject from difference where class = 'missing' and ended_at is null",
    );
    for (const one of missing)
      if (one !== undefined && !told.some((row) => row.level === one.level && row.subject.includes(one.subject)))
        life.wrong.push(`nothing tells that ${one.level} ${one.subject} is missing`);
  }

  close(): void {
    this.#life.close();
  }
}
