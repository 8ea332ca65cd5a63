import type { JsonObject } from "../../base/canonical-json.ts";
import { headsPath, readKeptHeads } from "./audit-heads.ts";
import type { AuditHead, AuditRow } from "./audit-log.ts";
import { entriesOf, type HeadPlaceTable } from "./tables.ts";
import { keptOf } from "./kept-tree.ts";
import { stored } from "../database/damage.ts";
import { verifyRecord, type AuditVerdicts } from "./verify-log.ts";
import type { LedgerContext } from "../context.ts";

/** The append-only, hash-chained record, beside the entries that other concerns append with what they describe. */
export class Audit {
  readonly #context: LedgerContext;

  constructor(context: LedgerContext) {
    this.#context = context;
  }

  /** Appends an entry that stands for itself, such as a person's decision. */
  async append(entry: { kind: string; subject: string; body: JsonObject }): Promise<AuditHead> {
    return await this.#context.write(() => this.#context.audit.append({ ...entry, at: this.#context.now }));
  }

  /** What the newest entry of a kind about a subject says. */
  said(kind: string, subject: string): JsonObject | undefined {
    return this.#context.read(() => {
      const newest = "select body from audit where subject = +? and kind = +? order by sequence desc limit 1";
      const body = this.#context.database.prepare<[string, string], string>(newest).pluck().get(subject, kind);
      return body === undefined ? undefined : stored<JsonObject>(body);
    });
  }

  head(): AuditHead | undefined {
    return this.#context.read(() => this.#context.audit.head());
  }

  /** A place outside the database has the head of this entry. */
  async headKept(place: string, sequence: number): Promise<void> {
    await this.#context.write(() => this.#places().kept.run({ place, sequence, at: this.#context.now }));
  }

  /** A place outside the database did not get a head. */
  async headNotKept(place: string, problem: string): Promise<void> {
    await this.#context.write(() => this.#places().notKept.run({ place, problem, at: this.#context.now }));
  }

  /** Forgets every other place: it is not configured. */
  async onlyPlaces(places: readonly string[]): Promise<void> {
    if (this.places().every(({ place }) => places.includes(place))) return;
    await this.#context.write(() => this.#places().only.run(JSON.stringify(places)));
  }

  /** The places outside the database that heads were sent to. */
  places(): HeadPlaceTable[] {
    return this.#context.read(() => this.#places().all.all());
  }

  #places() {
    const { database } = this.#context;
    return {
      all: database.prepare<[], HeadPlaceTable>("select * from head_place order by place"),
      kept: database.prepare<[{ place: string; sequence: number; at: string }]>(
        `insert into head_place (place, sequence, kept_at) values (@place, @sequence, @at)
         on conflict (place) do update
           set sequence = @sequence, kept_at = @at, problem = null, failing_since = null`,
      ),
      notKept: database.prepare<[{ place: string; problem: string; at: string }]>(
        `insert into head_place (place, problem, failing_since) values (@place, @problem, @at)
         on conflict (place) do update set problem = @problem, failing_since = coalesce(failing_since, @at)`,
      ),
      only: database.prepare<[string]>("delete from head_place where place not in (select value from json_each(?))"),
    };
  }

  /** The hash of an entry; undefined if the log has no entry of that number. */
  hashAt(sequence: number): string | undefined {
    return this.#context.read(() => this.#context.audit.hashAt(sequence));
  }

  rows(): Generator<AuditRow, void, void> {
    return entriesOf(this.#context.database);
  }

  /** The whole record, with the tree and the guards that the database keeps and the heads beside it. */
  verify(heads?: readonly AuditHead[]): AuditVerdicts {
    const { database, path } = this.#context;
    return this.#context.readTogether(() =>
      verifyRecord({ rows: this.rows(), heads: heads ?? readKeptHeads(headsPath(path)), ...keptOf(database) }),
    );
  }
}
