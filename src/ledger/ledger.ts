import type { Problem } from "../base/errors.ts";
import { handedIn } from "../engine/model/registry.ts";
import { Audit } from "./audit/audit.ts";
import { Books } from "./books/books.ts";
import { ChangeTables, stateRows, KnownTables } from "./state/registry.ts";
import { AssumptionsMet } from "./state/assumptions-met.ts";
import { LedgerContext, type LedgerOptions } from "./context.ts";
import { databaseProblem } from "./database/damage.ts";
import { openDatabase, type Sqlite } from "./database/database.ts";
import { Decisions } from "./decisions/decisions.ts";
import { HoldRows } from "./decisions/hold-rows.ts";
import { Gap } from "./gap/gap.ts";
import { Identity } from "./identity.ts";
import { Journal } from "./journal/journal.ts";
import { Pause } from "./pause.ts";
import { PrivateValues } from "./private/private-values.ts";
import { Records } from "./records/records.ts";
import { RejectionTables } from "./journal/rejections.ts";
import { Runs } from "./runs/runs.ts";
import { LedgerTime } from "./time/time.ts";
import { Schedule } from "./schedule/schedule.ts";
import { EnterpriseState } from "./state/enterprise-state.ts";
import { LinksDesk, RequestsDesk } from "./state/desks.ts";
import { WorkTables } from "./records/work.ts";

export type { LedgerOptions } from "./context.ts";

/** The ledger, with one part for each concern. Writing methods resolve after a durable commit. */
export class Ledger {
  readonly path: string;
  readonly identity: Identity;
  readonly gap: Gap;
  readonly pause: Pause;
  readonly records: Records;
  readonly journal: Journal;
  readonly state: EnterpriseState;
  readonly requests: RequestsDesk;
  readonly links: LinksDesk;
  readonly assumptions: AssumptionsMet;
  readonly decisions: Decisions;
  readonly runs: Runs;
  readonly schedule: Schedule;
  readonly audit: Audit;
  readonly books: Books;
  readonly time: LedgerTime;
  readonly private: PrivateValues;
  readonly #context: LedgerContext;

  private constructor(database: Sqlite, options: LedgerOptions) {
    const context = new LedgerContext(database, options);
    const rows = stateRows(database);
    const tables = {
      private: rows.private,
      rows,
      changes: new ChangeTables(rows),
      holds: new HoldRows(database, context.audit),
      known: new KnownTables(rows),
      rejections: new RejectionTables(database),
      work: new WorkTables(database),
    };
    this.#context = context;
    this.path = options.path;
    this.identity = new Identity(context);
    this.gap = new Gap(context, tables);
    this.pause = new Pause(context);
    this.private = new PrivateValues(context, tables);
    this.records = new Records(context, tables);
    this.journal = new Journal(context, { ...tables, private: this.private, pause: this.pause });
    this.state = new EnterpriseState(context, tables);
    this.requests = new RequestsDesk(context, tables);
    this.links = new LinksDesk(context, tables);
    this.assumptions = new AssumptionsMet(context);
    this.decisions = new Decisions(context, tables);
    this.runs = new Runs(context);
    this.schedule = new Schedule(context);
    this.audit = new Audit(context);
    this.books = new Books(context);
    this.time = new LedgerTime(context);
  }

  /** Needs `handedIn()`. Throws a Problem (exit code 65): no ledger, wrong version, damaged, missing, not durable. */
  static async open(options: LedgerOptions): Promise<Ledger> {
    handedIn();
    const { busyTimeoutMs, group, fillsGap } = options;
    const database = openDatabase(options.path, { busyTimeoutMs, group, fillsGap });
    try {
      return new Ledger(database, options);
    } catch (error) {
      // Preparing statements fails if a name in the schema is damaged.
      database.close();
      throw databaseProblem(error, options.path);
    }
  }

  /** How far apart the clocks of two computers, or of a service, may be, in milliseconds. */
  get clockSkewMs(): number {
    return this.#context.host.clockSkewMs;
  }

  get broken(): Problem | undefined {
    return this.#context.broken;
  }

  /** Aborted if the ledger failed or lost its lock. Then nothing more may be sent. */
  get failed(): AbortSignal {
    return this.#context.failed;
  }

  close(): void {
    this.#context.close();
  }

  abandon(): void {
    this.#context.abandon();
  }
}
