import type { RecordKey, Stream } from "../crm/model.ts";
import type { ExplainFacts } from "../report/explain.ts";
import type {
  AuditHeadFacts,
  HoldFacts,
  OperationFacts,
  QuarantineFacts,
  RunFacts,
  RunStory,
} from "../report/facts.ts";
import type { ReportRequest } from "../report/document.ts";
import { requireFormat } from "../report/document.ts";
import type { OpenRecords } from "../report/open.ts";
import type { AgreementCount, FoundDifference } from "../report/reconciliation.ts";
import type { StatusFacts } from "../report/status.ts";
import type { AuditRow } from "../ledger/audit/audit-log.ts";
import type { Sqlite } from "../ledger/database/database.ts";
import { openReadOnly } from "../ledger/database/database.ts";
import { openRecords } from "../ledger/records/open-records.ts";
import type { OpenScope } from "../ledger/records/open-records.ts";
import { explain } from "./explain.ts";
import { find } from "./find.ts";
import type { Found } from "./find.ts";
import { holds, openStates, operationById, operations } from "./operations.ts";
import type { OperationFilter } from "./operations.ts";
import { quarantine, quarantineById, runs, runStory } from "./records.ts";
import type { QuarantineFilter } from "./records.ts";
import { agreement, findings, reportChunks } from "./reports.ts";
import { status } from "./status.ts";
import { Reading } from "./reading.ts";

const auditPage = 500;

/**
 * Questions to the ledger, on a connection of their own that can only read, so that they can be asked while a run is
 * on. Rows are streamed; no private value is read, but by `rawForm` and `keptAnswer`, which a person has to ask for.
 */
export class Queries {
  readonly path: string;
  readonly #reading: Reading;

  constructor(path: string, database: Sqlite) {
    this.path = path;
    this.#reading = new Reading(path, database);
  }

  /** Runs `work` on one state of the ledger, whatever a run writes meanwhile. May be nested. */
  async snapshot<T>(work: () => Promise<T>): Promise<T> {
    return await this.#reading.snapshot(work);
  }

  async status(): Promise<StatusFacts> {
    return await this.snapshot(() => status(this.#reading, this.path));
  }

  /** The whole story of one record, also of one the ledger does not know (`record` is null then). */
  async explain(stream: Stream, key: RecordKey): Promise<ExplainFacts> {
    return await this.snapshot(() => explain(this.#reading, stream, key));
  }

  /**
   * Records of a stream that a text may mean: an id without its namespace, an asset number, a name. Names are compared,
   * and never answered.
   */
  async find(stream: Stream, text: string): Promise<Found[]> {
    return await this.snapshot(() => find(this.#reading, stream, text));
  }

  /** Records in quarantine that wait; with `all` also those that are resolved. */
  quarantine(filter: QuarantineFilter = {}): Iterable<QuarantineFacts> {
    return quarantine(this.#reading, filter);
  }

  async quarantineById(id: string): Promise<QuarantineFacts | undefined> {
    return await this.snapshot(() => quarantineById(this.#reading, id));
  }

  /** The raw form of a quarantined record, secrets blanked. It holds personal data. Undefined where it was erased. */
  async rawForm(id: string): Promise<string | undefined> {
    const row = await this.quarantineById(id);
    return row === undefined ? undefined : await this.#privateBody(row.rawRef);
  }

  /** The redacted answer of the service to the last attempt, where it was kept. It may hold personal data. */
  async keptAnswer(operation: string): Promise<string | undefined> {
    return await this.#privateBody(`answer/${operation}`);
  }

  async #privateBody(ref: string): Promise<string | undefined> {
    const row = await this.#reading.db
      .selectFrom("private_value")
      .select("body")
      .where("ref", "=", ref)
      .orderBy("version", "desc")
      .limit(1)
      .executeTakeFirst();
    return row?.body ?? undefined;
  }

  /** Every record that is not done, once, by how it stands and why. */
  async open(scope: OpenScope = {}): Promise<OpenRecords[]> {
    return openRecords((statement, parameters) => this.#reading.all(statement, parameters), scope);
  }

  /** Operations, oldest first. */
  operations(filter: OperationFilter = {}): AsyncIterable<OperationFacts> {
    return operations(this.#reading, filter);
  }

  /** Operations whose outcome is open: what `settle list` shows. */
  unsettled(): AsyncIterable<OperationFacts> {
    return operations(this.#reading, { states: openStates });
  }

  async operation(id: string): Promise<OperationFacts | undefined> {
    return await this.snapshot(() => operationById(this.#reading, id));
  }

  async holds(
    filter: { states?: readonly HoldFacts["state"][]; customer?: RecordKey; id?: string } = {},
  ): Promise<HoldFacts[]> {
    return await this.snapshot(() => holds(this.#reading, filter));
  }

  /** Runs, newest first; `before` goes on from the last one of a page. */
  async runs(
    filter: { job?: string; limit?: number; before?: { startedAt: string; id: string } } = {},
  ): Promise<RunFacts[]> {
    return await this.snapshot(() => runs(this.#reading, { ...filter, limit: filter.limit ?? 20 }));
  }

  /** A run with its readings, and how its operations and records ended. */
  async run(id: string): Promise<RunStory | undefined> {
    return await this.snapshot(() => runStory(this.#reading, id));
  }

  /**
   * A report as chunks of text, all of one state of the ledger: the same ledger and request give the same bytes. Throws
   * a Problem for a format that is not built.
   */
  async *report(request: ReportRequest, format: string): AsyncGenerator<string, void, void> {
    const built = requireFormat(format);
    yield* this.#reading.oneState(reportChunks(this.#reading, request, built));
  }

  /** How much of each kind of thing the platform shows as meant: the totals of the reconciliation over everything. */
  async agreement(): Promise<AgreementCount[]> {
    return await this.snapshot(() => agreement(this.#reading));
  }

  /**
   * What was placed, added or given and is not shown, differs, or is shown twice, as the customers were last read back.
   */
  async *findings(): AsyncGenerator<FoundDifference, void, void> {
    yield* this.#reading.oneState(findings(this.#reading));
  }

  async auditHead(): Promise<AuditHeadFacts | undefined> {
    return await this.#reading.db
      .selectFrom("audit")
      .select(["sequence", "hash"])
      .orderBy("sequence", "desc")
      .limit(1)
      .executeTakeFirst();
  }

  /** The audit chain, oldest first, in pages: whoever takes the entries slowly keeps no state of the ledger open. */
  *auditRows(): Generator<AuditRow, void, void> {
    for (let after = Number.MIN_SAFE_INTEGER; ;) {
      const page = [
        ...this.#reading.rows(
          this.#reading.db
            .selectFrom("audit")
            .select(["sequence", "format", "at", "kind", "subject", "body", "previous", "hash"])
            .where("sequence", ">", after)
            .orderBy("sequence")
            .limit(auditPage),
        ),
      ];
      yield* page;
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.sequence;
    }
  }

  close(): void {
    this.#reading.close();
  }
}

/**
 * Opens the ledger for reading. Throws a Problem with exit code 65 where there is none, or it is older or newer than
 * the program.
 */
export async function openQueries(path: string): Promise<Queries> {
  return new Queries(path, openReadOnly(path));
}
