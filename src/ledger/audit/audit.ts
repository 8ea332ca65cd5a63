import type { JsonObject } from "../../base/canonical-json.ts";
import { headsPath, readKeptHeads } from "./audit-heads.ts";
import type { AuditHead, AuditRow } from "./audit-log.ts";
import { entriesOf, type HeadPlaceTable } from "./tables.ts";
import { keptOf } from "./kept-tree.ts";
import { stored } from "../database/damage.ts";
import { prepared, sql } from "../database/statements.ts";
import { verifyRecord, type AuditVerdicts } from "./verify-log.ts";
import type { LedgerContext } from "../context.ts";

export class Audit {
  readonly #context: LedgerContext;
  readonly #places;

  constructor(context: LedgerContext) {
    this.#context = context;
    this.#places = prepared(context.database, texts);
  }

  /** Appends an entry without any other change, such as a person's decision. */
  async append(entry: { kind: string; subject: string; body: JsonObject }): Promise<AuditHead> {
    return await this.#context.write(() => this.#context.audit.append({ ...entry, at: this.#context.now }));
  }

  /** The body of the newest entry of this kind about this subject. */
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

  async headKept(place: string, sequence: number): Promise<void> {
    await this.#context.write(() => this.#places.kept.run({ place, sequence, at: this.#context.now }));
  }

  async headNotKept(place: string, problem: string): Promise<void> {
    await this.#context.write(() => this.#places.notKept.run({ place, problem, at: this.#context.now }));
  }

  async onlyPlaces(places: readonly string[]): Promise<void> {
    if (this.places().every(({ place }) => places.includes(place))) return;
    await this.#context.write(() => this.#places.only.run(JSON.stringify(places)));
  }

  places(): HeadPlaceTable[] {
    return this.#context.read(() => this.#places.all.all());
  }

  hashAt(sequence: number): string | undefined {
    return this.#context.read(() => this.#context.audit.hashAt(sequence));
  }

  rows(): Generator<AuditRow, void, void> {
    return entriesOf(this.#context.database);
  }

  verify(heads?: readonly AuditHead[]): AuditVerdicts {
    const { database, path } = this.#context;
    return this.#context.readTogether(() =>
      verifyRecord({ rows: this.rows(), heads: heads ?? readKeptHeads(headsPath(path)), ...keptOf(database) }),
    );
  }
}

const texts = {
  all: sql<[], HeadPlaceTable>`select * from head_place order by place`,
  kept: sql<[{ place: string; sequence: number; at: string }]>`
    insert into head_place (place, sequence, kept_at) values (@place, @sequence, @at)
      on conflict (place) do update
        set sequence = @sequence, kept_at = @at, problem = null, failing_since = null`,
  notKept: sql<[{ place: string; problem: string; at: string }]>`
    insert into head_place (place, problem, failing_since) values (@place, @problem, @at)
      on conflict (place) do update set problem = @problem, failing_since = coalesce(failing_since, @at)`,
  only: sql<[string]>`delete from head_place where place not in (select value from json_each(?))`,
};
