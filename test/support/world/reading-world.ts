import { setImmediate as nextTurn } from "node:timers/promises";
import { pino } from "pino";
import type { Acceptance } from "../../../src/ingest/belief/guards.ts";
import type { JsonObject } from "../../../src/base/canonical-json.ts";
import { Problem } from "../../../src/base/errors.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { limitsSettingsSchema } from "../../../src/engine/run/run-settings.ts";
import { SourceReading } from "../../../src/ingest/source-reading.ts";
import type { StreamTally } from "../../../src/ingest/tally.ts";
import type { Source } from "../../../src/source/source.ts";
import { pagedSource, type AnsweredPage, type AskedPage } from "../paged-source.ts";
import { customerRow } from "./crm.ts";
import { settings } from "./ledger-world.ts";
import { standardPolicies } from "./rules.ts";
import { changeFile, openLedger, rowsOf, type HandTime } from "./start.ts";
import { trustedAt } from "../trusted.ts";

export interface ListRow {
  branch: string;
  office: string;
  /** When it was changed, by the clock of the service. */
  changed: number;
}

/** How a reading is cut: the source is down, the process is killed, or the run is stopped. */
export type Cut = "down" | "killed" | "stopped";

/** What ends a reading whose process is killed. */
export class Killed extends Error {}

export type SourceOf = (world: ReadingWorld) => Source;

/** A list of customers behind a service, a ledger, and runs that read it. Both have clocks of their own. */
export class ReadingWorld {
  readonly rows = new Map<string, ListRow>();
  readonly pageSize: number;
  readonly time: HandTime;
  /** The clock of the service. */
  serviceTime: number;
  givesDate = true;
  branch: "branch" | "office" = "branch";
  query = "";
  by: "key" | "place" | "none" = "key";
  fullReadEveryMs: number | undefined = undefined;
  absence = { reads: 1, ms: 0 };
  sourceShrink = 0.9;
  massChange = { floor: 1_000_000 };
  accepts: readonly Acceptance[] = [];
  /** Every page that was asked for, since it was emptied. */
  asked: AskedPage[] = [];
  /** Cuts the next reading when so many pages were asked for. */
  cut: { how: Cut; after: number } | undefined;
  /** The next page is answered with this problem. */
  failsWith: string | undefined;
  /** Called before each page is answered. */
  meanwhile: () => void = () => {};
  #ledger: Ledger;
  #answers = 0;
  readonly #path: string;
  #stop = new AbortController();
  readonly source: Source;

  private constructor(opened: { ledger: Ledger; path: string; time: HandTime }, pageSize: number, sourceOf?: SourceOf) {
    const source = (): Source => sourceOf?.(this) ?? this.#source();
    this.time = opened.time;
    this.serviceTime = opened.time.at;
    this.#ledger = opened.ledger;
    this.#path = opened.path;
    this.pageSize = pageSize;
    this.source = {
      name: "crm",
      streams: ["customers"],
      check: (signal) => source().check(signal),
      fullReadEveryMs: (stream) => source().fullReadEveryMs(stream),
      mapping: (stream, signal) => source().mapping(stream, signal),
      read: (stream, options) => source().read(stream, options),
      endReading: () => source().endReading(),
      close: () => source().close(),
    };
  }

  /** `sourceOf` gives the source as it is set now; by default a reader for tests, which reads `rows`. */
  static async open(pageSize: number, sourceOf?: SourceOf): Promise<ReadingWorld> {
    const opened = await openLedger();
    await opened.ledger.identity.name();
    return new ReadingWorld(opened, pageSize, sourceOf);
  }

  get ledger(): Ledger {
    return this.#ledger;
  }

  #source(): Source {
    return pagedSource({
      ask: (page) => this.#answer(page),
      by: this.by,
      branch: () => this.branch,
      query: () => this.query,
      monotonic: () => this.time.at,
      overlapMs: 300_000,
      fullReadEveryMs: this.fullReadEveryMs,
    });
  }

  async #answer(page: AskedPage): Promise<AnsweredPage | Problem> {
    this.asked.push(page);
    const { failsWith: code } = this;
    this.failsWith = undefined;
    if (code !== undefined) return new Problem({ code, message: "refused", cure: "look" });
    const cut = await this.beforeAnswer();
    if (cut === "down") return new Problem({ code: "source.down", message: "no answer", cure: "wait" });
    if (cut === "killed") throw new Killed();
    const since = page.since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(page.since);
    const all = [...this.rows]
      .filter(([, row]) => row.changed >= since)
      .sort(([one], [other]) => (one < other ? -1 : 1));
    const rest = this.by === "key" ? all.filter(([id]) => id > page.after) : all.slice(page.offset);
    const rows = rest.slice(0, this.pageSize).map(([id, row]): JsonObject => this.#rowOf(id, row));
    const date = this.givesDate ? Math.floor(this.serviceTime / 1_000) * 1_000 : undefined;
    return { rows, date };
  }

  /** What comes to pass before an answer is given, and how the reading is cut there, if it is. */
  async beforeAnswer(): Promise<Cut | undefined> {
    this.#answers += 1;
    const { cut } = this;
    if (cut !== undefined && this.#answers > cut.after) {
      this.cut = undefined;
      if (cut.how === "stopped") this.#stop.abort(new Error("stopped"));
      if (cut.how === "killed") {
        await this.#quiet();
        this.#ledger.abandon();
      }
      if (cut.how !== "stopped") return cut.how;
    }
    this.meanwhile();
    return cut !== undefined && this.cut === undefined ? cut.how : undefined;
  }

  /**
   * Resolves when what was taken so far is committed. All of that happens in turns of this process, and no clock
   * counts.
   */
  async #quiet(): Promise<void> {
    let last = "";
    for (let turns = 0; turns < 20; turns += 1) {
      await nextTurn();
      const now = JSON.stringify([this.checkpoint(), this.kept("select count(*), max(version) from record")]);
      if (now !== last) turns = 0;
      last = now;
    }
  }

  #rowOf(id: string, { branch, office, changed }: ListRow): JsonObject {
    const row: JsonObject = JSON.parse(JSON.stringify(customerRow({ id })));
    return { ...row, branch, office, changed: new Date(changed).toISOString() };
  }

  /** A run or a plan, as far as it reads. Undefined: its process was killed. */
  async read(
    options: { isPlan?: boolean; scope?: { source: string; since?: string }; resumeWithin?: string } = {},
  ): Promise<StreamTally | undefined> {
    const { isPlan = false, scope, resumeWithin = "24h" } = options;
    this.asked = [];
    this.#answers = 0;
    this.#stop = new AbortController();
    const ledger = this.#ledger;
    const run = await ledger.runs.start({
      job: "customers",
      kind: isPlan ? "plan" : "sync",
      trigger: "hand",
      scope: null,
      header: {},
    });
    const { reads: absenceReads, ms } = this.absence;
    const limits = limitsSettingsSchema.parse({
      sourceShrink: this.sourceShrink,
      massChange: this.massChange,
      absenceReads,
      absenceTime: `${ms}ms`,
      resumeWithin,
    });
    const reading = new SourceReading(
      {
        ledger,
        sources: [this.source],
        streams: [{ source: "crm", stream: "customers", job: "customers" }],
        settings,
        policies: standardPolicies,
        logger: pino({ level: "silent" }),
        clock: this.time,
        progress: () => {},
      },
      { streams: ["customers"], read: true, limits, scope, accepts: this.accepts, signal: this.#stop.signal },
      run,
      isPlan ? undefined : { now: async () => trustedAt(this.time.now()) },
    );
    try {
      await reading.read();
      return reading.tallies[0];
    } catch (error) {
      if (this.#ledger.path !== ledger.path || !(error instanceof Killed)) {
        if (!isClosed(error)) throw error;
      }
      await this.#startAgain();
      return undefined;
    }
  }

  async #startAgain(): Promise<void> {
    this.#ledger = (await openLedger({ path: this.#path, time: this.time })).ledger;
  }

  kept<Row>(sql: string, ...parameters: unknown[]): Row[] {
    return rowsOf<Row>(this.#path, sql, ...parameters);
  }

  /** Changes the ledger as somebody with the file at hand could. */
  change(sql: string): void {
    changeFile(this.#path, sql);
  }

  /** What stands of each customer that is not gone: its branch as it is desired. */
  desired(): Map<string, string> {
    const found = this.kept<{ id: string; branch: string }>(
      `select r.id, v.body ->> '$.branchName' as branch from record r join record_version v on v.stream = r.stream
         and v.namespace = r.namespace and v.id = r.id and v.version = r.version
       where r.stream = 'customers' and r.state <> 'absent' order by r.id`,
    );
    return new Map(found.map(({ id, branch }) => [id, branch]));
  }

  /** The same as the list has it. */
  listed(): Map<string, string> {
    const rows = [...this.rows].sort(([one], [other]) => (one < other ? -1 : 1));
    return new Map(rows.map(([id, row]) => [id, row[this.branch]]));
  }

  /** The last reading, as the ledger keeps it. */
  lastRead(): { complete: number; whole: number; rows: number; continues: number | null; cursor: string | null } {
    const [last] = this.kept<ReturnType<ReadingWorld["lastRead"]>>(
      "select complete, whole, rows, continues, cursor from source_read order by number desc limit 1",
    );
    if (last === undefined) throw new Error("nothing was read yet");
    return last;
  }

  checkpoint(): { rows: number; position: string } | undefined {
    return this.kept<{ rows: number; position: string }>("select rows, position from read_checkpoint")[0];
  }

  /** Adds so many customers, or changes those of these ids. */
  add(count: number): void {
    for (let number = 1; number <= count; number += 1)
      this.rows.set(`C${String(number).padStart(4, "0")}`, {
        branch: `B${number}`,
        office: `O${number}`,
        changed: this.serviceTime,
      });
  }
}

/** What a killed process does next fails, since its ledger is closed. */
function isClosed(error: unknown): boolean {
  return error instanceof Error && /not open|closed/u.test(error.message);
}
