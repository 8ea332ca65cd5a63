import { handInResources } from "../../src/app/resources.ts";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { durationMs } from "../../src/base/duration.ts";
import { openDatabase } from "../../src/ledger/database/database.ts";
import { streams, type Stream } from "../../src/crm/model.ts";
import type { RunRequest } from "../../src/engine/run/request.ts";
import { limitsSettingsSchema } from "../../src/engine/run/run-settings.ts";
import type { RunSummary } from "../../src/engine/run/run.ts";
import { rowOf } from "../../src/sandbox/answers.ts";
import type { Source } from "../../src/source/source.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { privateText } from "../support/world/crm.ts";
import { Company } from "./company.ts";
import { companySource, readingMoods, type ReadingMood } from "./crm-source.ts";
import { Engine, jobs, ProgramDied, type Configuration, type Seams } from "./engine.ts";
import { judge } from "./judge.ts";
import { askForRefused, decideAll } from "./person.ts";
import { Questions } from "./questions.ts";
import { LockPeople, textOf, type LockWish } from "./locks.ts";
import { Refusals } from "./refusals.ts";
import { Backup } from "./restore.ts";
import { latestEffectMs, SimulatedServices } from "./services.ts";
import { judgeTelling, Undonenesses } from "./telling.ts";
import { beginning, Draws, Timeline } from "./timeline.ts";
import { Truth } from "./truth.ts";
import { believesAll } from "../support/world/acceptances.ts";

handInResources();

/** What is wrong with a seed, in words; nothing wrong is an empty list. */
export function faultsOf(result: SeedResult): string[] {
  return [
    ...result.twice.map((text) => `twice: ${text}`),
    ...result.lost.map((text) => `lost: ${text}`),
    ...result.takenUnmeant.map((text) => `taken unmeant: ${text}`),
    ...result.silent.map((text) => `silent: ${text}`),
    ...result.wrong.map((text) => `wrong: ${text}`),
  ];
}

/** What one seed came to. */
export interface SeedResult {
  seed: number;
  kills: number;
  faults: number;
  /** Operations whose outcome was found out afterwards, by reading or by a person. */
  settled: number;
  runs: number;
  twice: string[];
  lost: string[];
  /** Took something away that the CRM wanted kept, or that might have been wanted by what was not read. */
  takenUnmeant: string[];
  /** Not done, and not told of; or told of, and done. */
  silent: string[];
  wrong: string[];
  /** Of everything that happened: equal for equal seeds. */
  trace: string;
  /** What happened, line by line, where it was asked for. */
  story: string[];
}

/**
 * Where ledgers lie: in memory where the machine has such a place, since a kill here loses nothing that was committed.
 */
export function simulationFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "crm-sync-simulation-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Makes the empty ledger that every seed begins with a copy of. */
export async function emptyLedger(folder: string): Promise<string> {
  const path = join(folder, "empty.db");
  if (!existsSync(path)) openDatabase(path).close();
  return path;
}

/** What happens to a process, at which of its steps. */
interface Fate {
  diesAt: number;
  jumpsAt: number | undefined;
  stopsAt: number | undefined;
  /** The ledger is copied. */
  copiedAt: number | undefined;
}

const nothingHappens: Fate = {
  diesAt: Number.POSITIVE_INFINITY,
  jumpsAt: undefined,
  stopsAt: undefined,
  copiedAt: undefined,
};

function isFated(fate: Fate): boolean {
  return fate.diesAt < Number.POSITIVE_INFINITY || Object.values(fate).some((step) => Number.isFinite(step));
}

type JobName = keyof typeof jobs;

const leastFaults = 5;
const mostRuns = 14;
const mostQuietRuns = 7;
const mostLastingRounds = 5;
const hour = 3_600_000;

/** Runs one seed from the first look at the CRM to the last verdict. `seams`: what each program gets otherwise. */
export async function simulate(
  seed: number,
  folder: string,
  options: { story?: boolean; seams?: Seams } = {},
): Promise<SeedResult> {
  const simulation = new Simulation(seed, folder, options);
  try {
    return await simulation.run(await emptyLedger(folder));
  } finally {
    simulation.close();
  }
}

class Simulation {
  readonly #seed: number;
  readonly #path: string;
  readonly #draws: Draws;
  readonly #timeline = new Timeline();
  readonly #services: SimulatedServices;
  readonly #company: Company;
  readonly #configuration: Configuration;
  readonly #trace = createHash("sha256");
  readonly #story: string[] | undefined;
  readonly #seams: Seams | undefined;
  readonly #wrong: string[] = [];
  #engine: Engine | undefined;
  /** Orders that a whole run has read as cancelled. */
  readonly #cancelled = new Set<string>();
  readonly #truth: Truth;
  readonly #refusals: Refusals;
  readonly #undone: Undonenesses;
  readonly #backup: Backup;
  readonly #questions: Questions;
  /** In some seeds: all others draw what they drew before there were any. */
  readonly #locks: LockPeople | undefined;
  readonly #takenUnmeant: string[] = [];
  readonly #silent: string[] = [];
  /** How the streams are read that are not read whole. */
  readonly #moods = new Map<Stream, ReadingMood>();
  #offset = 0;
  /** The furthest that the clock of the machine was before it was set. */
  #furthest = 0;
  #setForward = false;
  #kills = 0;
  #runs = 0;
  #called = 0;

  constructor(seed: number, folder: string, { story, seams }: { story?: boolean; seams?: Seams }) {
    this.#seed = seed;
    this.#path = join(folder, `${process.pid}-${seed}.db`);
    this.#story = story === true ? [] : undefined;
    this.#seams = seams;
    const draws = new Draws(seed);
    this.#draws = draws;
    const hasLocks = seed % 5 === 4;
    this.#company = new Company(draws, hasLocks);
    const readings = draws.whole(2, 3);
    this.#services = new SimulatedServices(this.#timeline, draws, { shortM6: readings >= 3 });
    // The clocks of the services are set with that of the machine: while they differ, nobody counts as gone.
    this.#services.wall = () => this.#now;
    this.#configuration = {
      ordersUnseen: draws.chance(0.5) ? "resend" : "ask",
      settle: {
        asyncDeadlineMs: 20_000,
        asyncPauseMs: 500,
        timeMs: 4_000,
        readings,
        maxWaitMs: draws.chance(0.8) ? 30_000 : 1_000,
      },
      concurrency: draws.whole(1, 4),
      callsAtOnce: draws.whole(1, 3),
      jobs: draws.chance(0.5) ? 2 : 1,
      limits: limitsSettingsSchema.parse({
        removals: { enterprise: { floor: draws.pick([0, 1, 5]) }, run: { floor: draws.pick([1, 20]) } },
        sourceShrink: 0.6,
        absenceReads: draws.whole(1, 3),
        absenceTime: draws.pick(["0s", "0s", "1h", "24h"]),
      }),
    };
    const { absenceReads, absenceTime, sourceShrink } = this.#configuration.limits;
    const rule = { reads: absenceReads, ms: durationMs(absenceTime), shrink: sourceShrink };
    this.#truth = new Truth(this.#company, rule, () => this.#now);
    this.#refusals = new Refusals(this.#company, this.#services, (what) =>
      this.#wrong.push(`${what} was refused and is sent again, and nothing has changed`),
    );
    this.#undone = new Undonenesses(this.#company, this.#truth, this.#services);
    this.#backup = new Backup(this.#path);
    this.#questions = new Questions(this.#path);
    const wrong = (what: string): void => void this.#wrong.push(what);
    this.#locks = hasLocks ? new LockPeople(seed, this.#services, wrong) : undefined;
    this.#services.refuses = (operation, call) =>
      this.#refusals.answer(operation, call) ?? this.#locks?.answer(operation, call);
    this.#services.onAnswered = (operation, answer) => this.#locks?.heard(operation, answer);
    this.#services.onRefused = (operation, call, code) => this.#refusals.heard(operation, call, code);
    this.#services.onLeave = (operation, call) => {
      this.#refusals.leaves(operation, call);
      if (operation === "M9") this.#watchRevokes(call.parameters[0] ?? "", call.body);
      if (operation === "E5") this.#watchOrder(call.body);
    };
  }

  async run(empty: string): Promise<SeedResult> {
    copyFileSync(empty, this.#path);
    this.#somethingIsThere();
    this.#note(`configuration ${JSON.stringify(this.#configuration)}`);
    await this.#troubledTimes();
    await this.#lockTimes();
    await this.#lastingTimes();
    await this.#quietTimes();
    const settled = this.#settledOperations();
    const verdict = judge(this.#company, this.#services, this.#path);
    const locks = this.#locks?.judge();
    return {
      seed: this.#seed,
      kills: this.#kills,
      faults: this.#services.faultCount,
      settled,
      runs: this.#runs,
      twice: [...verdict.twice, ...(locks?.twice ?? [])],
      lost: [...verdict.lost, ...(locks?.lost ?? [])],
      takenUnmeant: this.#takenUnmeant,
      silent: this.#silent,
      wrong: [...this.#wrong, ...verdict.wrong],
      trace: this.#trace.digest("hex"),
      story: this.#story ?? [],
    };
  }

  close(): void {
    this.#engine?.close();
    this.#services.close();
    this.#backup.remove();
    for (const ending of ["", "-wal", "-shm", ".heads", ".lock", ".lock-journal"])
      rmSync(this.#path + ending, { force: true });
  }

  /** What the clock of the machine says. */
  get #now(): number {
    return beginning + this.#timeline.elapsed + this.#offset;
  }

  #note(line: string): void {
    const text = `${Math.floor(this.#timeline.elapsed)} ${line}`;
    this.#trace.update(text);
    this.#story?.push(text);
  }

  /** Some enterprises, and some of their people, were on the platform before the program was. */
  #somethingIsThere(): void {
    for (const customer of this.#company.customers) {
      if (!this.#draws.chance(0.12)) continue;
      const { data } = this.#services.byHand("E2", [], {
        crmCustomerId: customer.id,
        customerName: "Zqcanary Old Name",
        branchName: "Old",
      });
      const enterprise = z.looseObject({ enterpriseGlobalId: z.string() }).parse(data).enterpriseGlobalId;
      this.#note(`${customer.id} is there already`);
      for (const person of this.#company.staff.filter((item) => item.customer === customer.id)) {
        if (!this.#draws.chance(0.4)) continue;
        const { login: userName, name } = person;
        this.#services.byHand("M1", [enterprise], { userList: [{ userName, name, password: "Password1234" }] });
        this.#note(`${person.id} is there already`);
      }
    }
  }

  /** Runs with faults, kills, stops, edits and jumps of the clock, until enough has gone wrong. */
  async #troubledTimes(): Promise<void> {
    const draws = this.#draws;
    const troubled = draws.whole(2, 4);
    for (let round = 0; round < troubled || (this.#services.faultCount < leastFaults && round < mostRuns); round += 1) {
      if (round > 0) {
        for (let edits = draws.whole(0, 3); edits > 0; edits -= 1) {
          const edit = this.#company.edit();
          if (edit !== undefined) this.#note(`edit: ${edit}`);
        }
      }
      this.#services.faultRate = draws.pick([0.05, 0.15, 0.3, 0.6]) ?? 0.3;
      for (const stream of streams)
        this.#moods.set(stream, draws.chance(0.9) ? "whole" : (draws.pick(readingMoods) ?? "whole"));
      const diesAt = draws.chance(0.6) ? draws.whole(1, draws.pick([20, 80, 250]) ?? 80) : Number.POSITIVE_INFINITY;
      const jumpsAt = draws.chance(0.3) ? draws.whole(1, 100) : undefined;
      const copiedAt = draws.chance(0.2) ? draws.whole(1, 80) : undefined;
      const stopsAt = draws.chance(0.1) ? draws.whole(1, 150) : undefined;
      if (draws.chance(0.15)) await this.#onePlan();
      await this.#oneRun({ diesAt, jumpsAt, stopsAt, copiedAt });
      this.#noteCalls();
      if (this.#locks !== undefined && draws.chance(0.7))
        await this.#askForLocks(this.#locks.wish(), draws.chance(0.4) ? draws.whole(1, 60) : undefined);
      if (draws.chance(0.3)) await this.#ask();
      if (draws.chance(0.5)) await this.#timeline.pass(draws.whole(0, 8_000));
      if (draws.chance(0.2)) await this.#timeline.pass(draws.whole(0, 14 * hour));
      if (this.#backup.isTaken && draws.chance(0.6)) await this.#putBackupBack();
    }
    this.#moods.clear();
    // A seed in which little was left to do gets more to do, until enough has gone wrong.
    for (let round = 0; this.#services.faultCount < leastFaults && round < mostRuns; round += 1) {
      for (let edits = 0; edits < 6; edits += 1) {
        const edit = this.#company.edit();
        if (edit !== undefined) this.#note(`edit: ${edit}`);
      }
      this.#services.faultRate = 0.6;
      await this.#oneRun(nothingHappens);
      this.#noteCalls();
    }
    this.#services.faultRate = 0;
  }

  /** People have locks switched again and again, with faults, kills, and runs in between. */
  async #lockTimes(): Promise<void> {
    const people = this.#locks;
    if (people === undefined) return;
    const draws = this.#draws;
    await this.#oneRun(nothingHappens, "everything");
    for (let round = draws.whole(3, 7); round > 0; round -= 1) {
      this.#services.faultRate = draws.pick([0, 0.15, 0.3, 0.6]) ?? 0.3;
      await this.#askForLocks(people.wish(), draws.chance(0.5) ? draws.whole(1, 40) : undefined);
      const diesAt = draws.chance(0.5) ? draws.whole(1, 60) : Number.POSITIVE_INFINITY;
      if (draws.chance(0.4)) await this.#oneRun({ ...nothingHappens, diesAt }, "everything");
      if (draws.chance(0.3)) await this.#timeline.pass(draws.whole(0, 8_000));
    }
    this.#services.faultRate = 0;
  }

  /** Somebody has locks switched; the program may be killed meanwhile, and then they ask once more. */
  async #askForLocks(wish: LockWish | undefined, diesAt?: number): Promise<boolean> {
    const people = this.#locks;
    if (people === undefined || wish === undefined) return false;
    // What is taken back may have been sent, and lands before anybody takes it back.
    if (wish.withdraw) await this.#timeline.pass(latestEffectMs);
    const fate = diesAt === undefined ? nothingHappens : { ...nothingHappens, diesAt };
    const engine = await this.#program(fate, new AbortController());
    try {
      const said = await people.ask(engine, engine.requestDesk(this.#configuration.limits), wish, false);
      this.#note(`${textOf(wish)}: ${said}`);
    } catch (error) {
      if (!(error instanceof ProgramDied)) throw error;
      this.#died();
      this.#note(`${textOf(wish)}: killed at step ${engine.life.steps}`);
      this.#watchPermits();
      const next = await this.#program(nothingHappens, new AbortController());
      const said = await people.ask(next, next.requestDesk(this.#configuration.limits), wish, true);
      this.#note(`${textOf(wish)}, once more: ${said}`);
    }
    this.#noteCalls();
    return true;
  }

  /** Somebody puts an older copy of the ledger in its place; the program says so, and the newest is put back. */
  async #putBackupBack(): Promise<void> {
    this.#engine?.close();
    this.#engine = undefined;
    const problem = await this.#backup.putBack();
    this.#note(`an older copy is put back: ${problem ?? "as is right"}`);
    if (problem !== undefined) this.#wrong.push(problem);
  }

  /**
   * No more faults, but what the services refuse stays as it is: everything that does not need it goes on, and only it
   * is told of.
   */
  async #lastingTimes(): Promise<void> {
    if (!this.#company.hasRefused) return;
    this.#company.mendReading();
    await this.#timeline.pass(60_000);
    this.#note("only what is refused is wrong");
    for (let round = 1; round <= mostLastingRounds; round += 1) {
      const before = this.#services.writingCalls;
      const summary = await this.#oneRound();
      await this.#timeline.pass(this.#configuration.settle.timeMs);
      const decided = await this.#ask("rejected.60023");
      // What is in doubt may need several readings, in a run each, before the rest of its customer goes on.
      const isOpen = (summary?.openOperations ?? 0) > 0 || (await this.#settles());
      if (round > 1 && this.#services.writingCalls === before && decided === 0 && !isOpen) break;
    }
    for (const item of this.#undone.all())
      if (!this.#needsRefused(item.stream, item.id) && !(item.stream === "staff" && this.#isKeptFor(item.id)))
        this.#wrong.push(`${item.stream} ${item.id} waits for what is refused of another: ${item.why}`);
  }

  #needsRefused(stream: Stream, id: string): boolean {
    return this.#company.needsRefused(stream, id, (login) => this.#truth.lastAssets(login));
  }

  /** Somebody else has an asset of this person, and keeps it until an order is placed that is refused. */
  #isKeptFor(id: string): boolean {
    const { staff } = this.#company;
    const person = staff.find((item) => item.id === id);
    const holders = (person?.holds ?? []).map((asset) => this.#undone.holderOf(person?.customer ?? "", asset));
    return staff.some((item) => item.id !== id && holders.includes(item.login) && this.#needsRefused("staff", item.id));
  }

  /**
   * No more faults: where nothing is open, two runs reach what is wished and the third makes no writing call. What
   * waits for settle times or for a person may take some runs more; they end with one that makes no writing call.
   */
  async #quietTimes(): Promise<void> {
    this.#company.mend();
    this.#locks?.mend();
    await this.#timeline.pass(60_000);
    this.#note("faults have stopped");
    await this.#believeWhatIsGone();
    let waited = (await this.#openThings()) > 0;
    for (let run = 1; ; run += 1) {
      const before = this.#services.writingCalls;
      const summary = await this.#oneRound();
      const writes = this.#services.writingCalls - before;
      await this.#timeline.pass(this.#configuration.settle.timeMs);
      const asked = await this.#askForLocks(this.#locks?.again());
      const decided = (await this.#ask()) > 0 || asked;
      const waits = summary?.open.some((group) => group.cause === "settle-time") === true;
      waited ||= decided || (run < 3 && (waits || (summary?.openOperations ?? 0) + (summary?.held.length ?? 0) > 0));
      // After a clock that was set back, the whole settle time counts from when a run first saw the rejected call.
      const isOpen = (waits || (summary?.openOperations ?? 0) > 0) && run < mostQuietRuns;
      if (run >= 3 && writes === 0 && !decided && !isOpen) return;
      if (run < (waited ? mostQuietRuns : 3)) continue;
      this.#wrong.push(`run ${run} without faults made ${writes} writing calls`);
      return;
    }
  }

  /** Somebody who is gone is believed to be so after several readings over some time. */
  async #believeWhatIsGone(): Promise<void> {
    const { absenceReads, absenceTime } = this.#configuration.limits;
    const setBack = Math.max(0, this.#furthest - this.#now);
    if (!this.#company.staff.some((person) => person.gone)) return;
    // A read while the ledger holds entries of the future does not count.
    const readings = setBack > 0 ? absenceReads + 1 : absenceReads;
    for (let reading = 1; reading <= readings; reading += 1) {
      await this.#oneRun(nothingHappens, this.#configuration.jobs === 1 ? "everything" : "staff");
      await this.#timeline.pass(setBack + durationMs(absenceTime) + 1_000);
    }
  }

  /** One run of each job, without faults. Gives what the last of them came to. */
  async #oneRound(): Promise<RunSummary | undefined> {
    const names: JobName[] = this.#configuration.jobs === 1 ? ["everything"] : ["customers-and-orders", "staff"];
    let summary: RunSummary | undefined;
    for (const name of names) {
      summary = await this.#oneRun(nothingHappens, name);
      this.#noteCalls();
      if (summary?.state !== "done") this.#wrong.push(`a run without faults ended ${summary?.state ?? "dead"}`);
    }
    return summary;
  }

  /** A record waits for a settle time and its readings: an order is looked for before it is sent once more. */
  async #settles(): Promise<boolean> {
    const groups = (await this.#engine?.ledger.records.open()) ?? [];
    return groups.some((group) => group.cause === "settle-time");
  }

  async #openThings(): Promise<number> {
    const engine = this.#engine;
    if (engine === undefined || engine.life.dead) return 1;
    return (
      (await engine.wait(engine.ledger.journal.open())).length +
      (await engine.wait(engine.ledger.decisions.questions())).length
    );
  }

  /** The program of the run before, or a new one. */
  async #program(fate: Fate, stop: AbortController): Promise<Engine> {
    let engine = this.#engine;
    if (engine === undefined || engine.life.dead || engine.life.doomed || this.#draws.chance(0.6) || isFated(fate)) {
      engine?.close();
      if (this.#services.faultRate > 0 && this.#draws.chance(0.2)) this.#jump();
      // A process that begins knows of the time before it only what the wall clock says. One that was set forward while
      // a call was on its way makes it believe that the settle time is over; this is the one thing that nothing here
      // can find out.
      if (this.#setForward) await this.#timeline.pass(latestEffectMs);
      this.#setForward = false;
      this.#locks?.begins();
      engine = await this.#start(fate, stop);
    }
    this.#engine = engine;
    return engine;
  }

  /** Somebody looks what would be done: nothing is sent, and what the sources lack is not missed. */
  async #onePlan(): Promise<void> {
    const engine = await this.#program(nothingHappens, new AbortController());
    const writes = this.#services.writesLeft;
    this.#truth.counts = false;
    const { limits } = this.#configuration;
    const summary = await engine.plan({ job: "plan", trigger: "hand", streams, limits, read: true, header: {} });
    this.#truth.counts = true;
    this.#note(`plan exit ${summary?.exitCode ?? "none"}`);
    this.#noteCalls();
    if (this.#services.writesLeft > writes) this.#wrong.push("a plan made a writing call");
  }

  #drawnJob(): JobName {
    if (this.#configuration.jobs === 1) return "everything";
    return this.#draws.pick<JobName>(["customers-and-orders", "staff", "staff", "everything"]) ?? "everything";
  }

  async #oneRun(fate: Fate, job = this.#drawnJob()): Promise<RunSummary | undefined> {
    const draws = this.#draws;
    this.#runs += 1;
    const stop = new AbortController();
    const engine = await this.#program(fate, stop);
    const quiet = this.#services.faultRate === 0;
    const customer = draws.pick(this.#company.customers);
    const scoped = !quiet && customer !== undefined && draws.chance(0.08);
    if (scoped) this.#refusals.askedFor(customer.id);
    const request: RunRequest = {
      job: scoped ? "resync" : job,
      trigger: "schedule",
      streams: jobs[job],
      ...(scoped ? { scope: { customer: { namespace: "crm", id: customer.id } } } : {}),
      limits: this.#configuration.limits,
      read: true,
      accepts: quiet ? believesAll("crm", "hr") : [],
      signal: stop.signal,
      header: {},
    };
    this.#truth.acceptsShrink = quiet;
    this.#truth.runBegins();
    const faults = this.#services.faultCount;
    this.#questions.begin();
    const summary = await engine.run(request);
    this.#wrong.push(...this.#questions.end(0, undefined));
    const knowsAll = streams.every((stream) => this.#truth.isKnown(stream));
    this.#refusals.runEnded(summary?.state === "done" && knowsAll);
    if (summary === undefined) {
      this.#died();
      this.#note(`killed at step ${engine.life.steps}`);
      this.#truth.died();
      this.#watchPermits();
      return undefined;
    }
    if (request.streams.includes("orders") && this.#truth.wasWhole("orders") && summary.state === "done")
      for (const order of this.#company.orders)
        if (order.cancelled && !this.#company.broken.has(`orders ${order.id}`)) this.#cancelled.add(order.id);
    this.#note(`run ${request.job} ${summary.state} exit ${summary.exitCode} after ${engine.life.steps} steps`);
    if (!summary.balance.adds)
      this.#wrong.push(`run ${summary.run} does not balance: ${JSON.stringify(summary.balance)}`);
    await this.#listen(engine, summary, request, quiet && this.#services.faultCount === faults);
    return summary;
  }

  #died(): void {
    this.#kills += 1;
    this.#locks?.died();
  }

  /** What people hear of a run that has ended. One that was asked to stop leaves the rest to the next. */
  async #listen(engine: Engine, summary: RunSummary, request: RunRequest, undisturbed: boolean): Promise<void> {
    try {
      await engine.tell(summary);
    } catch (error) {
      if (!(error instanceof ProgramDied)) throw error;
      this.#died();
      this.#note(`killed at step ${engine.life.steps}, before people were told`);
      return;
    }
    if (summary.state !== "done") {
      if (summary.exitCode === 0) this.#silent.push(`a run that is ${summary.state} ends with 0`);
      return;
    }
    const silent = await judgeTelling({
      engine,
      summary,
      streams: request.streams,
      scoped: request.scope !== undefined,
      undisturbed,
      truth: this.#truth,
      company: this.#company,
      undone: [...this.#undone.all(), ...(this.#locks?.undone() ?? [])],
      stillHeldAt: (customer) => this.#undone.stillHeldAt(customer),
      isAskedAt: (customer) => this.#locks?.mayBeTold(customer) === true,
    });
    for (const text of silent) {
      this.#note(`silent: ${text}`);
      this.#silent.push(`${summary.run}: ${text}`);
    }
  }

  /** A kill leaves at most as many calls of a service in doubt as it takes at once. */
  #watchPermits(): void {
    const view = new LedgerView(this.#path);
    try {
      const sending = view.rows(
        z.object({ service: z.string(), count: z.int() }),
        "select substr(endpoint, 1, 1) as service, count(*) as count from operation where state = 'sending' group by 1",
      );
      for (const { service, count } of sending)
        if (count > this.#configuration.callsAtOnce)
          this.#wrong.push(
            `${count} calls of ${service} in doubt after a kill, and ${this.#configuration.callsAtOnce} at once`,
          );
    } finally {
      view.close();
    }
  }

  async #start(fate: Fate, stop: AbortController): Promise<Engine> {
    return await Engine.start({
      path: this.#path,
      timeline: this.#timeline,
      draws: this.#draws,
      services: this.#services,
      sources: this.#sources(),
      configuration: this.#configuration,
      offset: () => this.#offset,
      diesAt: fate.diesAt,
      onStep: (step) => {
        if (step === fate.jumpsAt && this.#services.faultRate > 0) this.#jump();
        if (step === fate.stopsAt) stop.abort(new Error("asked to stop"));
        if (step === fate.copiedAt) {
          this.#backup.take();
          this.#note("the ledger is copied");
        }
      },
      log: (line) => {
        this.#note(line.trim());
        if (privateText.test(line)) this.#wrong.push(`the log holds something private: ${line}`);
      },
      seams: this.#seams,
    });
  }

  /** The CRM, and where another job reads the staff, another system for it. */
  #sources(): Source[] {
    const made = (name: string, own: readonly Stream[]): Source =>
      companySource(this.#company, this.#truth, {
        name,
        streams: own,
        mood: (stream) => this.#moods.get(stream) ?? "whole",
      });
    if (this.#configuration.jobs === 1) return [made("crm", streams)];
    return [made("crm", jobs["customers-and-orders"]), made("hr", jobs.staff)];
  }

  /** The wall clock of the machine is set. */
  #jump(): void {
    this.#truth.jumped = true;
    this.#furthest = Math.max(this.#furthest, this.#now);
    const by = this.#draws.pick([-24 * hour, -hour, -5_000, 5_000, hour, 24 * hour]) ?? 0;
    this.#offset += by;
    if (by > 0) this.#setForward = true;
    this.#note(`the clock jumps by ${by / 1000} s`);
  }

  /** A person looks at what waits for one. */
  async #ask(besides = ""): Promise<number> {
    const rate = this.#services.faultRate;
    let decisions = 0;
    this.#services.faultRate = 0;
    const engine = this.#engine;
    if (engine !== undefined && !engine.life.dead) {
      try {
        const onAsked = (customer: string): void => this.#refusals.askedFor(customer);
        decisions = await decideAll(engine, this.#services, onAsked);
        if (rate === 0) decisions += await askForRefused(engine, this.#path, { besides, onAsked });
      } catch (error) {
        if (!(error instanceof ProgramDied)) throw error;
        this.#died();
        this.#note(`killed at step ${engine.life.steps}, in a decision`);
      }
      if (decisions > 0) this.#note(`a person took ${decisions} decisions`);
    }
    this.#noteCalls();
    this.#services.faultRate = rate;
    return decisions;
  }

  #noteCalls(): void {
    const { calls } = this.#services;
    for (const call of calls.slice(this.#called)) {
      const line = `${call.operation} ${call.path} ${call.fault ?? ""} ${call.body ?? ""}`;
      this.#trace.update(line);
      this.#story?.push(`  ${line}`);
    }
    this.#called = calls.length;
  }

  /** No order is placed that the program knows to be cancelled. */
  #watchOrder(body: unknown): void {
    const parsed = z.looseObject({ channelOrderId: z.string() }).safeParse(body);
    if (parsed.success && this.#cancelled.has(parsed.data.channelOrderId))
      this.#wrong.push(`order ${parsed.data.channelOrderId} is sent after it was cancelled`);
  }

  /** Nothing is taken from anybody who did not lose it in the CRM, as far as it was read. */
  #watchRevokes(member: string, body: unknown): void {
    const { deleteAssets } = typeof body === "object" && body !== null && "deleteAssets" in body ? body : {};
    if (!Array.isArray(deleteAssets)) return;
    const meant = this.#services.store.prepare<[string, number], { customer: string; login: string; instance: string }>(
      `SELECT DISTINCT customers.channel_customer_id AS customer, staff.user_name AS login,
         substr(products.crm_product_id, 1, instr(products.crm_product_id, '-P') - 1) AS instance
       FROM assets JOIN customers ON customers.enterprise_id = assets.enterprise_id
       JOIN products ON products.asset_id = assets.id AND products.merchandise_id IS NULL, staff
       WHERE assets.asset_number = ? AND staff.id = ?`,
    );
    for (const number of deleteAssets) {
      for (const { customer, login, instance } of meant.all(String(number), rowOf("member", member) ?? -1)) {
        const why = this.#company.taken.has(`${customer} ${login} ${instance}`)
          ? this.#truth.whyUnmeant(customer, login, instance)
          : "nobody ever took it away";
        if (why !== undefined) this.#takenUnmeant.push(`${instance} from ${login} at ${customer}: ${why}`);
      }
    }
  }

  /** Operations whose outcome was unknown at some time: where all is as meant, each of them was found out. */
  #settledOperations(): number {
    const unknown = new Set<unknown>();
    for (const row of this.#engine?.ledger.audit.rows() ?? []) {
      if (row.kind !== "unknown" && row.kind !== "numbers-lost") continue;
      const body: unknown = JSON.parse(row.body);
      if (typeof body === "object" && body !== null && "operation" in body) unknown.add(body.operation);
    }
    return unknown.size;
  }
}
