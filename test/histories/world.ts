import { createHash } from "node:crypto";
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { exitCodes, Problem } from "../../src/base/errors.ts";
import { chosenFrom } from "../../src/app/chosen-operations.ts";
import { correctClock } from "../../src/app/clock.ts";
import { reassign } from "../../src/app/reassign.ts";
import { toInstant } from "../../src/base/clock.ts";
import { durationMs } from "../../src/base/duration.ts";
import type { JsonObject } from "../../src/base/canonical-json.ts";
import { formatKey } from "../../src/crm/keys.ts";
import { streams } from "../../src/crm/model.ts";
import { policySettingsSchema } from "../../src/plan/policy-settings.ts";
import { needsOf } from "../../src/plan/needs-of-operations.ts";
import { copyWhileWritten } from "../../src/ledger/database/backup.ts";
import type { RunRequest } from "../../src/run/request.ts";
import type { UndoSummary } from "../../src/run/undo-run.ts";
import type { RunSummary } from "../../src/run/summary.ts";
import { TrustedClock } from "../../src/run/trusted-clock.ts";
import { routes } from "../../src/sandbox/endpoints.ts";
import type { EndpointId } from "../../src/sandbox/endpoints.ts";
import { Engine, ProgramDied } from "../simulation/engine.ts";
import type { Configuration } from "../simulation/engine.ts";
import { decideAll, decideInPart, withdrawAll } from "../simulation/person.ts";
import { Questions } from "../simulation/questions.ts";
import { emptyLedger } from "../simulation/simulate.ts";
import { SimulatedServices } from "../simulation/services.ts";
import { beginning, Draws, Timeline } from "../simulation/timeline.ts";
import { rowsOf } from "../support/world/start.ts";
import { differences, Forms, isRemovalWanted, shownProducts } from "./checker.ts";
import { CrmSource } from "./crm-source.ts";
import type { edits } from "./edits.ts";
import { enabled, newCustomer, newOrder, newPerson, settle, turns } from "./edits.ts";
import { Holdings } from "./holdings.ts";
import { handWorks, madeByHand } from "./hands.ts";
import { CrmNow } from "./model.ts";
import {
  askingAlways,
  Away,
  clockJumps,
  growing,
  limitsOf,
  movesOf,
  otherSettings,
  roadOf,
  shrinking,
} from "./moves.ts";
import { wrongStatements } from "./statements.ts";
import { nameByStanding } from "./seats.ts";
import { cappedList, isOther, isShown, lacking, lostTable, misread, stale } from "./misreads.ts";
import type { Misread } from "./misreads.ts";
import type { Stream } from "../../src/crm/model.ts";
import { believesAll } from "../support/world/acceptances.ts";

const mostLastRuns = 12;
/** So many runs in a row that write nothing and leave nothing open end a history. */
const quietRuns = 2;
/** So often the CRM turns a value to and fro, where it does: a person is asked after five times back. */
const mostTurns = 8;
const hour = 3_600_000;
const week = 7 * 24 * hour;
/** So long history is kept: longer than any lasts. */
const kept = { rawRecordDays: 1_000, observationDays: 1_000, runDays: 1_000 };
const whose = { by: "tester", reason: "to see what happens" };
/** What is taken from the platform by hand is made good. */
const repairing = policySettingsSchema.parse({ drift: { missing: "apply" } });

/**
 * When older copies of the ledger are put back: whenever it is, or where the platform holds what the CRM says, so that
 * nothing has to wait for a person afterwards.
 */
export type Restores = "any" | "agreed";

/** Codes of orders that wait for a person, since nobody knows what of them was done before the ledger was restored. */
const waitingCodes = [
  "order.shown-in-part",
  "order.shown-otherwise",
  "order.amended-elsewhere",
  "order.shown-elsewhere",
  "order.placed-before-restore",
  "order.form-lost",
];

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
  readonly #seed: number;
  readonly #kinds: typeof enabled;
  readonly #path: string;
  readonly #draws: Draws;
  readonly #timeline = new Timeline();
  readonly #services: SimulatedServices;
  #configuration: Configuration;
  readonly #crm = new CrmNow();
  readonly #forms = new Forms();
  readonly #holdings: Holdings;
  readonly #trace = createHash("sha256");
  readonly #story: string[] = [];
  readonly #wrong: string[] = [];
  #engine: Engine | undefined;
  #edits = 0;
  #runs = 0;
  #kills = 0;
  #restores = 0;
  #backup = false;
  /** Older copies of the ledger are put back on the way. */
  readonly #restoring: Restores | undefined;
  readonly #moves: ReturnType<typeof movesOf>;
  readonly #away: Away;
  readonly #questions: Questions;
  /** The order of each line that there ever was. */
  readonly #ordersOfLines = new Map<string, string>();
  /** How often the settings were changed. */
  #settings = 0;
  /** So many calls that had begun before the pause may still leave; undefined: it is not paused. */
  #paused: number | undefined;
  /** After so many calls somebody pauses. */
  #pausesAfter = 0;
  /** What the platform held when a run began, by run. */
  readonly #before = new Map<string, ReturnType<typeof shownProducts>>();
  /** What its readings make of the CRM now. */
  #wrongRead: Misread | undefined;
  /** A person answers whatever waits for one. */
  #isAllAnswered = false;
  readonly #source: CrmSource;
  #sourceName = "crm";
  /** What the CRM gave before its last change, and what it gives since. */
  #earlier: Partial<Record<Stream, JsonObject[]>> = {};
  #latest: Partial<Record<Stream, JsonObject[]>> = {};
  /** How far the clock of this machine is ahead, in milliseconds. */
  #ahead = 0;
  /** After so many calls it jumps. */
  #jumpsAfter = 0;

  constructor(seed: number, folder: string, edits: typeof enabled, restoring: Restores | undefined) {
    this.#seed = seed;
    this.#restoring = restoring;
    this.#kinds = edits;
    this.#path = join(folder, `history-${process.pid}-${seed}.db`);
    const draws = new Draws(seed);
    this.#draws = draws;
    this.#services = new SimulatedServices(this.#timeline, draws, { shortM6: false });
    this.#holdings = new Holdings(this.#crm, this.#services);
    this.#moves = restoring === undefined ? movesOf(seed) : new Set();
    this.#away = new Away(this.#crm);
    this.#questions = new Questions(this.#path, (hold) =>
      isRemovalWanted(hold, this.#crm, this.#services, this.#ordersOfLines),
    );
    const isAlwaysAsked = this.#moves.has("away") || this.#moves.has("in part");
    this.#configuration = {
      ordersUnseen: "resend",
      ...(seed % 5 === 3 ? { syncMode: "async" as const } : {}),
      settle: { timeMs: 4_000, readings: 2, maxWaitMs: 30_000, asyncDeadlineMs: 20_000, asyncPauseMs: 500 },
      concurrency: draws.whole(1, 2),
      callsAtOnce: draws.whole(1, 2),
      jobs: 1,
      policies: isAlwaysAsked ? askingAlways : repairing,
      limits: limitsOf(this.#moves),
    };
    this.#source = new CrmSource({
      road: roadOf(this.#moves, seed),
      folder: `${this.#path}.crm`,
      timeline: this.#timeline,
      draws,
      given: () => ({ rows: (stream) => this.#rows(stream), wrong: this.#wrongRead }),
    });
    this.#services.onLeave = (operation) => this.#leaves(operation);
  }

  async run(empty: string): Promise<HistoryResult> {
    copyFileSync(empty, this.#path);
    await this.#source.begin();
    const draws = this.#draws;
    for (let customers = draws.whole(1, 2); customers > 0; customers -= 1) newCustomer(this.#crm, draws);
    this.#changed();
    if (this.#moves.size > 0) await this.#grow();
    for (let left = draws.whole(2, 6) + (this.#moves.size > 0 ? 3 : 0), first = true; left > 0; first = false) {
      for (let edits = first ? 0 : draws.whole(1, 3); edits > 0 && left > 0; edits -= 1, left -= 1)
        this.#edit(this.#moves.size > 0 && draws.chance(0.5) ? shrinking : undefined);
      await this.#move();
      this.#services.faultRate = draws.pick([0, 0.1, 0.3]) ?? 0;
      await this.#oneRun(
        draws.chance(this.#moves.size > 0 ? 0.2 : 0.4) ? draws.whole(1, draws.pick([20, 80, 160]) ?? 80) : undefined,
      );
      if (draws.chance(0.4)) await (this.#moves.has("in part") ? this.#decideInPart() : this.#decide());
      if (this.#restoring !== undefined) await this.#backupOrRestore();
      if (draws.chance(0.5)) await this.#timeline.pass(draws.whole(0, 8_000));
    }
    if (this.#restoring !== undefined && this.#backup) await this.#restore();
    if (this.#seed % 4 === 2) await this.#turnToAndFro();
    this.#services.faultRate = 0;
    await this.#endMoves();
    await this.#lastRuns();
    if (this.#moves.has("service down")) await this.#oneDown();
    // What was brought back by reading was not bought by this ledger: where it goes, people see to it.
    if (this.#seed % 3 === 1 && this.#restoring === undefined && this.#moves.size === 0) await this.#workByHand();
    if (this.#waiting() === 0)
      for (const text of differences(this.#crm, this.#services)) if (!this.#isLeft(text)) this.#wrong.push(text);
    this.#wrong.push(...wrongStatements(this.#path));
    if (this.#moves.size > 0) this.#wrong.push(...this.#questions.left());
    const [edits, runs, kills] = [this.#edits, this.#runs, this.#kills];
    const { faultCount: faults, observation } = this.#services;
    const state = observation.state();
    return {
      seed: this.#seed,
      edits,
      runs,
      kills,
      restores: this.#restores,
      waiting: this.#waiting(),
      faults,
      purchases: Object.keys(state.orders).length,
      deletions: Object.keys(state.deletions).length,
      wrong: [...new Set(this.#wrong)],
      trace: this.#trace.digest("hex"),
      story: this.#story,
    };
  }

  close(): void {
    this.#engine?.close();
    this.#services.close();
    this.#source.close();
    for (const ending of ["", "-wal", "-shm", ".heads", ".lock", ".lock-journal", ".backup"])
      rmSync(this.#path + ending, { force: true });
  }

  #note(line: string): void {
    const text = `${Math.floor(this.#timeline.elapsed)} ${line}`;
    this.#trace.update(text);
    this.#story.push(text);
  }

  #edit(names?: readonly (keyof typeof edits)[]): void {
    const kinds = names === undefined ? this.#kinds : this.#kinds.filter(([name]) => names.some((one) => one === name));
    const [name, kind] = this.#draws.pick(kinds) ?? ["", undefined];
    // What is away is given again for the customer that it had.
    if (this.#away.isAnythingAway && name === "two customers merge") return;
    const done = kind?.make(this.#crm, this.#draws);
    if (done === undefined) return;
    this.#edits += 1;
    this.#changed();
    this.#note(`edit: ${name}: ${done}`);
  }

  #changed(): void {
    settle(this.#crm);
    this.#forms.add(this.#crm.wanted());
    this.#holdings.changed();
    this.#earlier = this.#latest;
    this.#latest = Object.fromEntries(streams.map((stream) => [stream, this.#rows(stream)]));
    for (const { id, lines } of this.#crm.orders) for (const line of lines) this.#ordersOfLines.set(line.id, id);
  }

  /** A company that has something to lose, and a platform that holds it. */
  async #grow(): Promise<void> {
    for (let left = this.#draws.whole(3, 6); left > 0; left -= 1) this.#edit(growing);
    await this.#lastRuns();
  }

  /** What else happens before a run. */
  async #move(): Promise<void> {
    const [draws, moves] = [this.#draws, this.#moves];
    if (moves.has("undo") && draws.chance(0.5)) await this.#undo();
    if (moves.has("away")) this.#comeAndGo();
    if (moves.has("settings") && draws.chance(0.5)) {
      this.#stop();
      this.#configuration = { ...this.#configuration, ...otherSettings(draws, moves) };
      this.#settings += 1;
      this.#note(`settings: ${JSON.stringify(this.#configuration)}`);
    }
    if (moves.has("in part") && draws.chance(0.4)) await this.#timeline.pass(draws.whole(1, 5) * week);
    if (moves.has("service down")) {
      this.#services.down = draws.pick([undefined, "order", "member"]);
      this.#note(`down: ${this.#services.down ?? "none"}`);
    }
    for (const [name, wrong] of Object.entries(this.#wrongs))
      if ([...moves].some((move) => move === name) && draws.chance(0.6)) await this.#misread(wrong());
    if (moves.has("renamed source") && draws.chance(0.5)) await this.#rename();
    if (moves.has("wrong clock") && draws.chance(0.6)) await this.#wrongClock();
    if (moves.has("pause")) {
      const what = draws.pick(["now", "in a run", "resume", "resume"]);
      if (what === "now") await this.#pause();
      else if (what === "in a run") this.#pausesAfter = draws.whole(1, draws.pick([5, 30]) ?? 5);
      else await this.#resume();
    }
  }

  /** What may be wrong with a source for a while, by its move. */
  get #wrongs(): Record<string, () => Misread> {
    const draws = this.#draws;
    const { road } = this.#source;
    return {
      misread: () => misread(draws),
      ...(road === "files" && {
        "stale marker": () => stale(draws, (stream) => this.#earlier[stream] ?? []),
        "lost table": () => lostTable(draws),
      }),
      ...(road === "lists" && { "capped list": () => cappedList(draws) }),
    };
  }

  #rows(stream: Stream): JsonObject[] {
    return JSON.parse(JSON.stringify(this.#crm.rows(stream)));
  }

  /** What a source that was read whole gives goes wrong, once or twice; then it is right again. */
  async #misread(wrong: Misread): Promise<void> {
    this.#services.faultRate = 0;
    if (this.#away.isAnythingAway || (await this.#oneRun()) === undefined) return;
    await this.#wrongRuns(wrong);
    await this.#oneRun();
  }

  async #wrongRuns(wrong: Misread): Promise<void> {
    const draws = this.#draws;
    this.#wrongRead = wrong;
    const { stream, name } = wrong;
    this.#note(`misread: ${stream} ${name}`);
    for (let left = draws.whole(1, 2); left > 0; left -= 1) {
      const summary = await this.#oneRun(draws.chance(0.2) ? draws.whole(1, 80) : undefined);
      if (summary === undefined) continue;
      const rows = this.#rows(stream);
      const shown = isShown(wrong, rows.length);
      if (summary.exitCode === 0 && (shown || (wrong.isTold && isOther(wrong, rows))))
        this.#wrong.push(`${stream} ${name}: the run says that all is well`);
      const [read] = rowsOf<{ complete: number }>(
        this.#path,
        `select complete from source_read where stream = '${stream}' order by number desc limit 1`,
      );
      if (shown && read?.complete !== 0) this.#wrong.push(`${stream} ${name}: the read counts as complete`);
    }
    this.#wrongRead = undefined;
  }

  /** The source is called otherwise and lacks rows at first; then it is whole, and may be given what the other left. */
  async #rename(): Promise<void> {
    const draws = this.#draws;
    this.#services.faultRate = 0;
    if (this.#away.isAnythingAway || (draws.chance(0.5) && (await this.#oneRun()) === undefined)) return;
    this.#stop();
    this.#sourceName = this.#sourceName === "crm" ? "people" : "crm";
    this.#note(`the source is called ${this.#sourceName}`);
    if (draws.chance(0.7)) await this.#wrongRuns(lacking(draws));
    await this.#oneRun();
    if (draws.chance(0.5)) await this.#reassign();
  }

  /** A person gives the source what is left of the one that it was. */
  async #reassign(): Promise<void> {
    const engine = await this.#program(undefined);
    const to = this.#sourceName;
    const place = {
      existingLedger: () => Promise.resolve(engine.ledger),
      sources: () => [this.#source.named(to)],
      jobs: () => [],
    };
    try {
      await engine.wait(reassign(place, { from: to === "crm" ? "people" : "crm", to }, whose));
      this.#note(`reassigned to ${to}`);
    } catch (error) {
      // Nothing was left.
      if (!(error instanceof Problem) || error.exitCode !== exitCodes.usage) throw error;
    }
  }

  /**
   * The clock of this machine is wrong at several jobs, while some rows are missing for less than the time after which
   * they are gone; then it is right again, and a person corrects what it wrote.
   */
  async #wrongClock(): Promise<void> {
    const draws = this.#draws;
    this.#services.faultRate = 0;
    this.#services.down = undefined;
    if (this.#away.isAnythingAway || (await this.#oneRun()) === undefined) return;
    this.#services.faultRate = draws.pick([0, 0.1, 0.3]) ?? 0;
    this.#wrongRead = lacking(draws);
    for (let left = draws.whole(1, 4); left > 0; left -= 1) {
      if (draws.chance(0.5)) this.#edit();
      this.#jumpsAfter = draws.chance(0.5) ? draws.whole(1, 12) : 0;
      if (this.#jumpsAfter === 0) this.#jump();
      await this.#job();
      this.#jumpsAfter = 0;
      if (draws.chance(0.5)) await this.#timeline.pass(draws.whole(0, 3 * hour));
    }
    this.#ahead = 0;
    this.#services.faultRate = 0;
    this.#note("the clock is right");
    if (draws.chance(0.5)) await this.#job();
    this.#wrongRead = undefined;
    const engine = await this.#program(undefined);
    const place = {
      requireLedger: () => {},
      requirePlatform: () => Promise.resolve(),
      ledger: () => Promise.resolve(engine.ledger),
      runDependencies: () => Promise.resolve(engine.deps),
    };
    const { rows } = await engine.wait(correctClock(place, whose));
    this.#note(`a person corrected ${rows} rows`);
    await this.#oneRun();
  }

  #jump(): void {
    this.#ahead = (this.#draws.pick(clockJumps) ?? 1) * hour;
    this.#note(`the clock is ${this.#ahead / hour} hours ahead`);
  }

  /** A run, a verification or a thinning of history, which finds nothing that is old enough. */
  async #job(): Promise<void> {
    const draws = this.#draws;
    const job = draws.pick(["run", "run", "verify", "thin"]);
    if (job === "run") await this.#oneRun(draws.chance(0.2) ? draws.whole(1, 80) : undefined);
    else if (job === "verify") await this.#readBack();
    else {
      const engine = await this.#program(undefined);
      const time = await engine.wait(new TrustedClock(engine.deps).now({ isFresh: false }));
      if (time === undefined) return;
      const thinned = await engine.wait(engine.ledger.runs.thinHistory(time, kept, () => false));
      if (Object.keys(thinned).length > 0) this.#wrong.push(`thinned: ${JSON.stringify(thinned)}`);
    }
  }

  /** Faults are over, what was away is back, and a person answers everything. */
  async #endMoves(): Promise<void> {
    if (this.#moves.size === 0) return;
    this.#services.down = undefined;
    this.#pausesAfter = 0;
    await this.#resume();
    if (this.#away.isAnythingAway) this.#isBack();
    this.#isAllAnswered = true;
    if (this.#moves.has("renamed source")) await this.#reassign();
    await this.#timeline.pass(week);
  }

  #comeAndGo(): void {
    const draws = this.#draws;
    if (this.#away.isAnythingAway && draws.chance(0.4)) this.#isBack();
    const arrived = draws.chance(0.5) ? this.#away.arrive(draws) : undefined;
    const gone = draws.chance(0.6) ? this.#away.leave(draws) : undefined;
    if (arrived === undefined && gone === undefined) return;
    this.#changed();
    this.#note(`away: ${gone ?? "nothing"}; arrived: ${arrived ?? "nothing"}`);
  }

  #isBack(): void {
    const back = this.#away.comeBack();
    this.#changed();
    this.#note(`back: ${back}`);
  }

  async #pause(): Promise<void> {
    const { ledger } = await this.#program(undefined);
    await this.#engine?.wait(ledger.pause.begin(whose));
    this.#paused = 0;
    this.#note("paused");
  }

  async #resume(): Promise<void> {
    const { ledger } = await this.#program(undefined);
    await this.#engine?.wait(ledger.pause.end(whose));
    this.#paused = undefined;
    this.#note("resumed");
  }

  /** A call leaves the program. */
  #leaves(operation: EndpointId): void {
    this.#look("before a call");
    if (routes[operation].writes && this.#paused !== undefined) {
      if (this.#paused === 0) this.#wrong.push(`${operation} was sent while paused`);
      this.#paused = Math.max(0, this.#paused - 1);
    }
    this.#jumpsAfter -= 1;
    if (this.#jumpsAfter === 0) this.#jump();
    this.#pausesAfter -= 1;
    const ledger = this.#engine?.ledger;
    if (this.#pausesAfter !== 0 || ledger === undefined) return;
    const paused = (): void => {
      this.#paused = ledger.pause.goingOn;
      this.#note("paused in a run");
    };
    ledger.pause.begin(whose).then(paused, () => {});
  }

  /** The newest run that did something is taken back by a program that may die, as far as a person approves. */
  async #undo(): Promise<void> {
    const draws = this.#draws;
    this.#services.faultRate = 0;
    this.#services.down = undefined;
    const engine = await this.#program(undefined);
    const undone = await engine.wait(engine.ledger.journal.newestRunWithDone());
    const before = this.#before.get(undone ?? "");
    if (undone === undefined || before === undefined) return;
    const planned = await engine.undo(undone);
    if (planned === undefined) return;
    this.#note(`undo of ${undone}: exit ${planned.exitCode}, ${planned.plans.length} plans`);
    for (let left = draws.whole(1, 3); left > 0; left -= 1) {
      this.#forms.add(before);
      this.#holdings.forget();
      this.#crm.lineage.anew([...this.#ordersOfLines.keys()]);
      this.#changed();
      const part = await this.#partOf(planned);
      if (part === undefined) return;
      await this.#oneRun(draws.chance(0.3) ? draws.whole(1, 60) : undefined, part);
      await (draws.chance(0.5) ? this.#decide() : this.#decideInPart());
    }
  }

  /** What is left to apply of an undo. */
  async #partOf({ run, undone, plans }: UndoSummary): Promise<Pick<RunRequest, "expected" | "header"> | undefined> {
    const engine = await this.#program(undefined);
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
      private: "withheld",
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
    const draws = this.#draws;
    const customer = draws.pick(this.#crm.customers.filter(({ gone }) => !gone));
    if (this.#wrong.length > 0 || customer === undefined) return;
    const made = [newOrder(this.#crm, draws, customer.id).id, newPerson(this.#crm, draws, customer.id)];
    this.#changed();
    const [down, due] = draws.pick([["order", "M1"] as const, ["member", "E5"] as const]) ?? ["order", "M1"];
    const calls = this.#services.calls.length;
    this.#services.down = down;
    this.#note(`edit: ${made.join(" ")}, with the ${down} service down`);
    await this.#oneRun();
    if (!this.#services.calls.slice(calls).some(({ operation }) => operation === due))
      this.#wrong.push(`${due} is not sent with the ${down} service down`);
    this.#services.down = undefined;
    await this.#timeline.pass(10_000);
    await this.#lastRuns();
  }

  async #decideInPart(): Promise<void> {
    const engine = await this.#program(undefined);
    for (const said of await decideInPart(engine, this.#path, this.#draws)) this.#note(`a person ${said}`);
  }

  /** Where the platform holds exactly what the CRM says, that is what it may not fall short of from now on. */
  #agree(): void {
    if (this.#away.isAnythingAway) return;
    if (differences(this.#crm, this.#services).length > 0) return;
    this.#forms.agreed(this.#crm.wanted());
    for (const text of this.#holdings.agreed()) this.#wrong.push(`agreed: ${text}`);
  }

  /** The CRM turns one value to and fro, with a run after each time. */
  async #turnToAndFro(): Promise<void> {
    const draws = this.#draws;
    const [name, begin] = draws.pick(Object.entries(turns)) ?? ["", undefined];
    const turn = begin?.(this.#crm, draws);
    if (turn === undefined) return;
    for (let left = draws.whole(mostTurns / 2, mostTurns); left > 0; left -= 1) {
      const now = turn();
      this.#edits += 1;
      this.#changed();
      this.#note(`edit: to and fro: ${name}: ${now}`);
      await this.#oneRun(draws.chance(0.2) ? draws.whole(1, 80) : undefined);
      if (draws.chance(0.2)) await this.#decide();
    }
  }

  /**
   * Somebody works on the platform itself, where it holds what the CRM says; readings show it for long enough, and a
   * program that may die makes it good.
   */
  async #workByHand(): Promise<void> {
    const draws = this.#draws;
    if (this.#wrong.length > 0 || differences(this.#crm, this.#services).length > 0) return;
    // What is bought again has a number of its own, which goes on from no earlier line.
    for (const person of this.#crm.people) nameByStanding(this.#crm, person);
    await this.#readBack();
    for (let left = draws.whole(1, 3); left > 0; left -= 1) {
      const [name, work] = draws.pick(Object.entries(handWorks)) ?? ["", undefined];
      const done = work?.(this.#services, draws);
      if (done !== undefined) this.#note(`by hand: ${name}: ${done}`);
    }
    this.#forms.add(shownProducts(this.#services));
    this.#holdings.forget();
    const strangers = madeByHand(this.#services);
    for (const _ of [1, 2]) {
      await this.#readBack();
      await this.#timeline.pass(this.#configuration.settle.timeMs + 1_000);
    }
    this.#services.faultRate = draws.pick([0, 0.1]) ?? 0;
    await this.#oneRun();
    await this.#decide();
    await this.#oneRun(draws.chance(0.5) ? draws.whole(1, 80) : undefined);
    this.#services.faultRate = 0;
    await this.#lastRuns();
    const left = madeByHand(this.#services);
    if (left !== strangers) this.#wrong.push(`${strangers - left} accounts that somebody made by hand are gone`);
  }

  async #readBack(): Promise<void> {
    const engine = await this.#program(undefined);
    const calls = this.#services.calls.length;
    const summary = await engine.verify();
    const writes = this.#services.calls.slice(calls).filter(({ operation }) => routes[operation].writes);
    if (writes.length > 0) this.#wrong.push(`reading back sent ${writes.length} writing calls`);
    this.#note(`read back: exit ${summary?.exitCode ?? "none"} ${summary?.findings.first.join("; ") ?? ""}`);
  }

  /** Each customer has what the CRM said before an edit or after it, at every moment. */
  #look(when: string): void {
    for (const text of this.#forms.unexplained(shownProducts(this.#services))) this.#wrong.push(`${when}: ${text}`);
    for (const text of this.#holdings.unexplained()) this.#wrong.push(`${when}: ${text}`);
  }

  /** One run, which the program may die in. */
  async #oneRun(diesAt?: number, undo?: Pick<RunRequest, "expected" | "header">): Promise<RunSummary | undefined> {
    const engine = await this.#program(diesAt);
    const began = toInstant(beginning + this.#timeline.elapsed);
    const before = shownProducts(this.#services);
    this.#questions.begin();
    this.#runs += 1;
    const calls = this.#services.calls.length;
    const { limits } = this.#configuration;
    const request = {
      job: "everything",
      trigger: "schedule",
      streams,
      limits,
      read: undo === undefined,
      accepts: this.#wrongRead === undefined ? believesAll(this.#sourceName) : [],
      header: {},
      ...undo,
    } as const;
    const summary = await engine.run(request);
    for (const call of this.#services.calls.slice(calls))
      this.#note(`call ${call.operation} ${call.fault ?? ""} ${call.body ?? ""}`);
    this.#look("after a run");
    this.#agree();
    const isAlwaysAsked = this.#configuration.policies === askingAlways;
    this.#wrong.push(...this.#questions.end(this.#settings, isAlwaysAsked ? began : undefined));
    const [newest] = rowsOf<{ id: string }>(this.#path, "select id from run order by id desc limit 1");
    if (newest !== undefined) this.#before.set(newest.id, before);
    if (summary === undefined) {
      this.#kills += 1;
      this.#note(`killed at step ${engine.life.steps}`);
      return undefined;
    }
    this.#note(`run ${summary.state} exit ${summary.exitCode}`);
    for (const open of summary.open) this.#story.push(`  open: ${JSON.stringify(open)}`);
    if (!summary.balance.adds) this.#wrong.push(`a run does not balance: ${JSON.stringify(summary.balance)}`);
    return summary;
  }

  async #program(diesAt: number | undefined, fillsGap = false): Promise<Engine> {
    const before = this.#engine;
    const isFree = before !== undefined && !before.life.dead && !before.life.doomed && diesAt === undefined;
    // A process that was told its token is bad gets another one only from a new one.
    if (isFree && this.#services.faultRate > 0) return before;
    before?.close();
    const engine = await Engine.start({
      path: this.#path,
      timeline: this.#timeline,
      draws: this.#draws,
      services: this.#services,
      sources: [this.#source.named(this.#sourceName)],
      configuration: this.#configuration,
      offset: () => this.#ahead,
      diesAt: diesAt ?? Number.POSITIVE_INFINITY,
      fillsGap,
      log: (line) => this.#story.push(line.trim()),
    });
    this.#engine = engine;
    if (this.#moves.has("pause")) this.#paused = engine.ledger.pause.now() === undefined ? undefined : 0;
    return engine;
  }

  /** Orders that wait for a person since a restore in the middle of something. */
  #waiting(): number {
    if (this.#restoring !== "any") return 0;
    const codes = waitingCodes.map((code) => `'${code}'`).join(", ");
    return rowsOf(this.#path, `select 1 from record where deferred_code in (${codes})`).length;
  }

  /**
   * What a rebuild says that it leaves where it is: what somebody was given since the backup and is not to have any
   * more, and what was placed for customers that the CRM gives no more.
   */
  #isLeft(text: string): boolean {
    if (this.#restoring !== "any" || this.#restores === 0) return false;
    if (/^seats: .* holds \S+ \(.*\), and is not to$/u.test(text)) return true;
    const extra = /^products: nobody wants (.*)$/u.exec(text)?.[1]?.split(", ") ?? [];
    const gone = this.#crm.customers.filter((customer) => customer.gone).map(({ id }) => id);
    return extra.length > 0 && extra.every((item) => gone.includes(item.split(" ")[0] ?? ""));
  }

  #stop(): void {
    this.#engine?.close();
    this.#engine = undefined;
  }

  /** A backup is made, or the one that was made is put back. */
  async #backupOrRestore(): Promise<void> {
    if (this.#backup && this.#draws.chance(0.5)) await this.#restore();
    else if (!this.#backup || this.#draws.chance(0.3)) {
      this.#stop();
      rmSync(`${this.#path}.backup`, { force: true });
      await copyWhileWritten(this.#path, `${this.#path}.backup`, () => {});
      this.#backup = true;
      this.#note("backup");
    }
  }

  /**
   * Puts the older copy back, with what was decided and learned since lost, and has the gap rebuilt by a program that
   * may die on the way, without a writing call.
   */
  async #restore(): Promise<void> {
    const draws = this.#draws;
    if (this.#restoring === "agreed") {
      this.#services.faultRate = 0;
      await this.#lastRuns();
    }
    this.#stop();
    for (const ending of ["", "-wal", "-shm"]) rmSync(this.#path + ending, { force: true });
    copyFileSync(`${this.#path}.backup`, this.#path);
    this.#restores += 1;
    this.#note("restored");
    // A call of a program that was killed may still arrive.
    const writes = this.#services.writesLeft;
    let diesAt = draws.chance(0.5) ? draws.whole(1, 150) : undefined;
    for (let tries = 0; tries < 4; tries += 1) {
      this.#services.faultRate = tries > 0 ? 0 : (draws.pick([0, 0.1]) ?? 0);
      let summary;
      try {
        const engine = await this.#program(diesAt, true);
        summary = await engine.rebuild(this.#configuration.limits);
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== "rebuild.ledger-used") throw error;
        break;
      }
      diesAt = undefined;
      this.#note(summary === undefined ? "killed rebuilding" : `rebuilt: exit ${summary.exitCode}`);
      for (const { record, why } of [...(summary?.lost ?? []), ...(summary?.left ?? [])])
        this.#story.push(`  ${record}: ${why}`);
      if (summary?.unreadable === 0) break;
    }
    if (this.#services.writesLeft !== writes) this.#wrong.push("a rebuild sent a writing call");
    this.#stop();
    this.#services.faultRate = 0;
  }

  /** A person approves what is held, and decides what is parked after a look at the platform. */
  async #decide(): Promise<number> {
    try {
      const engine = await this.#program(undefined);
      const withdrawn = this.#isAllAnswered ? await withdrawAll(engine, this.#path) : 0;
      const decided = withdrawn + (await decideAll(engine, this.#services, () => {}));
      if (decided > 0) this.#note(`a person decided ${decided} times`);
      return decided;
    } catch (error) {
      if (!(error instanceof ProgramDied)) throw error;
      this.#kills += 1;
      return 0;
    }
  }

  /** Runs without faults until nothing is left to do, and a last one that does nothing. */
  async #lastRuns(): Promise<void> {
    for (let run = 1, quiet = 0; quiet < quietRuns; run += 1) {
      const writes = this.#services.writingCalls;
      const summary = await this.#oneRun();
      const { settle: time, limits } = this.#configuration;
      await this.#timeline.pass(Math.max(time.timeMs, durationMs(limits.absenceTime)));
      const decided = await this.#decide();
      const isQuiet = this.#services.writingCalls === writes && decided === 0 && summary?.openOperations === 0;
      quiet = isQuiet ? quiet + 1 : 0;
      this.#agree();
      if (run < mostLastRuns) continue;
      this.#wrong.push(`run ${run} without faults still does something, or leaves something open`);
      return;
    }
  }
}
