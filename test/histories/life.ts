import { createHash } from "node:crypto";
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/base/canonical-json.ts";
import { toInstant } from "../../src/base/clock.ts";
import { durationMs } from "../../src/base/duration.ts";
import { streams, type Stream } from "../../src/crm/model.ts";
import { policySettingsSchema } from "../../src/engine/model/policy-settings.ts";
import type { RunRequest } from "../../src/engine/run/request.ts";
import type { RunSummary } from "../../src/engine/run/run.ts";
import { routes, type EndpointId } from "../../src/sandbox/endpoints.ts";
import { Engine, ProgramDied, type Configuration } from "../simulation/engine.ts";
import { believeLines, decideAll, decideInPart, withdrawAll } from "../simulation/person.ts";
import { Questions } from "../simulation/questions.ts";
import { SimulatedServices } from "../simulation/services.ts";
import { beginning, Draws, Timeline } from "../simulation/timeline.ts";
import { believesAll } from "../support/world/acceptances.ts";
import { rowsOf } from "../support/world/start.ts";
import { differences, Forms, isRemovalWanted, shownProducts } from "./checker.ts";
import { CrmSource } from "./crm-source.ts";
import { settle, type edits, type enabled } from "./edits.ts";
import { Holdings } from "./holdings.ts";
import type { Misread } from "./misreads.ts";
import { CrmNow } from "./model.ts";
import { askingAlways, Away, clockJumps, hour, limitsOf, roadOf, type Move } from "./moves.ts";

const mostLastRuns = 12;
/** So many runs in a row that write nothing and leave nothing open end a history. */
const quietRuns = 2;
export const whose = { by: "tester", reason: "to see what happens" };
const standardPolicies = policySettingsSchema.parse(undefined);

/** A CRM, the platform and the program that makes them agree, with what is watched of them at every moment. */
export class Life {
  readonly seed: number;
  readonly kinds: typeof enabled;
  readonly path: string;
  readonly draws: Draws;
  readonly timeline = new Timeline();
  readonly services: SimulatedServices;
  configuration: Configuration;
  readonly crm = new CrmNow();
  readonly forms = new Forms();
  readonly holdings: Holdings;
  readonly story: string[] = [];
  readonly wrong: string[] = [];
  edits = 0;
  runs = 0;
  kills = 0;
  readonly moves: ReadonlySet<Move>;
  readonly away: Away;
  readonly questions: Questions;
  /** The order of each line that there ever was. */
  readonly ordersOfLines = new Map<string, string>();
  /** How often the settings were changed. */
  settings = 0;
  /** So many calls that had begun before the pause may still leave; undefined: it is not paused. */
  paused: number | undefined;
  /** After so many calls somebody pauses. */
  pausesAfter = 0;
  /** What the platform held when a run began, by run. */
  readonly before = new Map<string, ReturnType<typeof shownProducts>>();
  /** What its readings make of the CRM now. */
  wrongRead: Misread | undefined;
  /** A person answers whatever waits for one. */
  isAllAnswered = false;
  readonly source: CrmSource;
  sourceName = "crm";
  /** What the CRM gave before its last change. */
  earlier: Partial<Record<Stream, JsonObject[]>> = {};
  /** How far the clock of this machine is ahead, in milliseconds. */
  ahead = 0;
  /** After so many calls it jumps. */
  jumpsAfter = 0;
  readonly #trace = createHash("sha256");
  #latest: Partial<Record<Stream, JsonObject[]>> = {};
  #engine: Engine | undefined;

  constructor(seed: number, folder: string, edits: typeof enabled, moves: ReadonlySet<Move>) {
    this.seed = seed;
    this.kinds = edits;
    this.moves = moves;
    this.path = join(folder, `history-${process.pid}-${seed}.db`);
    const draws = new Draws(seed);
    this.draws = draws;
    this.services = new SimulatedServices(this.timeline, draws, { shortM6: false });
    this.holdings = new Holdings(this.crm, this.services);
    this.away = new Away(this.crm);
    this.questions = new Questions(this.path, (hold) =>
      isRemovalWanted(hold, this.crm, this.services, this.ordersOfLines),
    );
    const isAlwaysAsked = this.moves.has("away") || this.moves.has("in part");
    this.configuration = {
      ordersUnseen: "resend",
      ...(seed % 5 === 3 ? { syncMode: "async" as const } : {}),
      settle: { timeMs: 4_000, readings: 2, maxWaitMs: 30_000, asyncDeadlineMs: 20_000, asyncPauseMs: 500 },
      concurrency: draws.whole(1, 2),
      callsAtOnce: draws.whole(1, 2),
      jobs: 1,
      policies: isAlwaysAsked ? askingAlways : standardPolicies,
      limits: limitsOf(this.moves),
    };
    this.source = new CrmSource({
      road: roadOf(this.moves, seed),
      folder: `${this.path}.crm`,
      timeline: this.timeline,
      draws,
      given: () => ({ rows: (stream) => this.rows(stream), wrong: this.wrongRead }),
    });
    this.services.onLeave = (operation) => this.leaves(operation);
  }

  async begin(empty: string): Promise<void> {
    copyFileSync(empty, this.path);
    await this.source.begin();
  }

  close(): void {
    this.#engine?.close();
    this.services.close();
    this.source.close();
    for (const ending of ["", "-wal", "-shm", ".heads", ".lock", ".lock-journal", ".backup"])
      rmSync(this.path + ending, { force: true });
  }

  /** Of everything that happened. */
  get trace(): string {
    return this.#trace.digest("hex");
  }

  note(line: string): void {
    const text = `${Math.floor(this.timeline.elapsed)} ${line}`;
    this.#trace.update(text);
    this.story.push(text);
  }

  edit(names?: readonly (keyof typeof edits)[]): void {
    const kinds = names === undefined ? this.kinds : this.kinds.filter(([name]) => names.some((one) => one === name));
    const [name, kind] = this.draws.pick(kinds) ?? ["", undefined];
    // What is away is given again for the customer that it had.
    if (this.away.isAnythingAway && name === "two customers merge") return;
    const done = kind?.make(this.crm, this.draws);
    if (done === undefined) return;
    this.edits += 1;
    this.changed();
    this.note(`edit: ${name}: ${done}`);
  }

  changed(): void {
    settle(this.crm);
    this.forms.add(this.crm.wanted());
    this.holdings.changed();
    this.earlier = this.#latest;
    this.#latest = Object.fromEntries(streams.map((stream) => [stream, this.rows(stream)]));
    for (const { id, lines } of this.crm.orders) for (const line of lines) this.ordersOfLines.set(line.id, id);
  }

  rows(stream: Stream): JsonObject[] {
    return JSON.parse(JSON.stringify(this.crm.rows(stream)));
  }

  /** A call leaves the program. */
  leaves(operation: EndpointId): void {
    this.look("before a call");
    if (routes[operation].writes && this.paused !== undefined) {
      if (this.paused === 0) this.wrong.push(`${operation} was sent while paused`);
      this.paused = Math.max(0, this.paused - 1);
    }
    this.jumpsAfter -= 1;
    if (this.jumpsAfter === 0) this.jump();
    this.pausesAfter -= 1;
    const ledger = this.#engine?.ledger;
    if (this.pausesAfter !== 0 || ledger === undefined) return;
    const paused = (): void => {
      this.paused = ledger.pause.goingOn;
      this.note("paused in a run");
    };
    ledger.pause.begin(whose).then(paused, () => {});
  }

  /** Where the platform holds exactly what the CRM says, that is what it may not fall short of from now on. */
  agree(): void {
    if (this.away.isAnythingAway) return;
    if (differences(this.crm, this.services).length > 0) return;
    this.forms.agreed(this.crm.wanted());
    for (const text of this.holdings.agreed()) this.wrong.push(`agreed: ${text}`);
  }

  /** Each customer has what the CRM said before an edit or after it, at every moment. */
  look(when: string): void {
    for (const text of this.forms.unexplained(shownProducts(this.services))) this.wrong.push(`${when}: ${text}`);
    for (const text of this.holdings.unexplained()) this.wrong.push(`${when}: ${text}`);
  }

  async readBack(): Promise<void> {
    const engine = await this.program(undefined);
    const calls = this.services.calls.length;
    const summary = await engine.verify();
    const writes = this.services.calls.slice(calls).filter(({ operation }) => routes[operation].writes);
    if (writes.length > 0) this.wrong.push(`reading back sent ${writes.length} writing calls`);
    this.note(`read back: exit ${summary?.exitCode ?? "none"} ${summary?.findings.first.join("; ") ?? ""}`);
  }

  /** One run, which the program may die in. */
  async oneRun(diesAt?: number, undo?: Pick<RunRequest, "expected" | "header">): Promise<RunSummary | undefined> {
    const engine = await this.program(diesAt);
    const began = toInstant(beginning + this.timeline.elapsed);
    const before = shownProducts(this.services);
    this.questions.begin();
    this.runs += 1;
    const calls = this.services.calls.length;
    const { limits } = this.configuration;
    const request = {
      job: "everything",
      trigger: "schedule",
      streams,
      limits,
      read: undo === undefined,
      accepts: this.wrongRead === undefined ? believesAll(this.sourceName) : [],
      header: {},
      ...undo,
    } as const;
    const summary = await engine.run(request);
    for (const call of this.services.calls.slice(calls))
      this.note(`call ${call.operation} ${call.fault ?? ""} ${call.body ?? ""}`);
    this.look("after a run");
    this.agree();
    const isAlwaysAsked = this.configuration.policies === askingAlways;
    this.wrong.push(...this.questions.end(this.settings, isAlwaysAsked ? began : undefined));
    const [newest] = rowsOf<{ id: string }>(this.path, "select id from run order by id desc limit 1");
    // A program that was killed early has no run: what was before an earlier one stays as it is.
    if (newest !== undefined && !this.before.has(newest.id)) this.before.set(newest.id, before);
    if (summary === undefined) {
      this.kills += 1;
      this.note(`killed at step ${engine.life.steps}`);
      return undefined;
    }
    this.note(`run ${summary.state} exit ${summary.exitCode}`);
    for (const open of summary.open) this.story.push(`  open: ${JSON.stringify(open)}`);
    if (!summary.balance.adds) this.wrong.push(`a run does not balance: ${JSON.stringify(summary.balance)}`);
    return summary;
  }

  async program(diesAt: number | undefined, fillsGap = false): Promise<Engine> {
    const before = this.#engine;
    const isFree = before !== undefined && !before.life.dead && !before.life.doomed && diesAt === undefined;
    // A process that was told its token is bad gets another one only from a new one.
    if (isFree && this.services.faultRate > 0) return before;
    before?.close();
    const engine = await Engine.start({
      path: this.path,
      timeline: this.timeline,
      draws: this.draws,
      services: this.services,
      sources: [this.source.named(this.sourceName)],
      configuration: this.configuration,
      offset: () => this.ahead,
      diesAt: diesAt ?? Number.POSITIVE_INFINITY,
      fillsGap,
      log: (line) => this.story.push(line.trim()),
    });
    this.#engine = engine;
    if (this.moves.has("pause")) this.paused = engine.ledger.pause.now() === undefined ? undefined : 0;
    return engine;
  }

  stop(): void {
    this.#engine?.close();
    this.#engine = undefined;
  }

  /** A person approves what is held, and decides what is parked after a look at the platform. */
  async decide(): Promise<number> {
    try {
      const engine = await this.program(undefined);
      const answered = this.isAllAnswered
        ? (await withdrawAll(engine, this.path)) + (await believeLines(engine, this.path))
        : 0;
      const decided = answered + (await decideAll(engine, this.services, () => {}));
      if (decided > 0) this.note(`a person decided ${decided} times`);
      return decided;
    } catch (error) {
      if (!(error instanceof ProgramDied)) throw error;
      this.kills += 1;
      return 0;
    }
  }

  async decideInPart(): Promise<void> {
    const engine = await this.program(undefined);
    for (const said of await decideInPart(engine, this.path, this.draws)) this.note(`a person ${said}`);
  }

  /** Runs without faults until nothing is left to do, and a last one that does nothing. */
  async lastRuns(): Promise<void> {
    for (let run = 1, quiet = 0; quiet < quietRuns; run += 1) {
      const writes = this.services.writingCalls;
      const summary = await this.oneRun();
      const { settle: time, limits } = this.configuration;
      await this.timeline.pass(Math.max(time.timeMs, durationMs(limits.absenceTime)));
      const decided = await this.decide();
      const isQuiet = this.services.writingCalls === writes && decided === 0 && summary?.openOperations === 0;
      quiet = isQuiet ? quiet + 1 : 0;
      this.agree();
      if (run < mostLastRuns) continue;
      this.wrong.push(`run ${run} without faults still does something, or leaves something open`);
      return;
    }
  }

  jump(): void {
    this.ahead = (this.draws.pick(clockJumps) ?? 1) * hour;
    this.note(`the clock is ${this.ahead / hour} hours ahead`);
  }
}
