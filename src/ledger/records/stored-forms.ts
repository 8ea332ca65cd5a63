import type { JsonObject } from "../../base/canonical-json.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import { stored } from "../database/stored.ts";

/** A record as its source gave it; `raw` is JSON with its secrets blanked, null where it is not kept any more. */
export interface StoredForm {
  key: RecordKey;
  raw: string | null;
  /** The hash by which it is known again, with the mapping that it was mapped with. */
  rawHash: string;
  /** The record is missing, and waits in quarantine because this form was refused when it was mapped anew. */
  isRefused: boolean;
}

/** A record that a run gave another form. */
export interface ChangedForm {
  stream: Stream;
  key: RecordKey;
  /** Undefined: there was none. */
  before: JsonObject | undefined;
  after: JsonObject;
}

/** The forms in which records came, and what became of them in a run. Reads only. */
export class StoredForms {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = statements.onUse({
      of: () =>
        database.prepare<[{ source: string; stream: Stream; namespace: string; id: string; limit: number }], RawRow>(
          `select r.namespace, r.id, r.raw_hash as rawHash, p.body as raw, 0 as refused from record r
           left join private_value p on p.ref = 'raw:' || r.stream || '/' || r.namespace || '/' || r.id
             and p.version = r.version
           where r.stream = @stream and r.source = @source and r.state = 'current'
             and (r.namespace, r.id) > (@namespace, @id) order by r.namespace, r.id limit @limit`,
        ),
      missing: () =>
        database.prepare<[{ source: string; stream: Stream; namespace: string; id: string; limit: number }], RawRow>(
          `select r.namespace, r.id, r.raw_hash as rawHash, p.body as raw, r.state = 'quarantined' as refused
           from record r indexed by record_missing
           left join private_value p on p.ref = 'raw:' || r.stream || '/' || r.namespace || '/' || r.id
             and p.version = r.version
           where r.stream = @stream and r.source = @source and r.missed > 0 and r.state <> 'absent'
             and (r.state = 'current' or exists (
               select 1 from quarantine q where q.stream = r.stream and q.namespace = r.namespace
                 and q.record_id = r.id and q.source = r.source and q.state <> 'resolved' and q.of_stored_form = 1))
             and (r.namespace, r.id) > (@namespace, @id)
           order by r.namespace, r.id limit @limit`,
        ),
      changedIn: () =>
        database.prepare<[string], ChangedRow>(
          `select r.stream, r.namespace, r.id, v.body as after, (
             select b.body from record_version b where b.stream = r.stream and b.namespace = r.namespace
               and b.id = r.id and b.version < r.version order by b.version desc limit 1) as before
           from record r join record_version v on v.stream = r.stream and v.namespace = r.namespace and v.id = r.id
             and v.version = r.version
           where r.changed_run = ? order by r.stream, r.namespace, r.id`,
        ),
    });
  }

  /**
   * The current records of one stream of a source, in key order, `limit` at a time after `after`. `missing`: those that
   * the last whole reads lacked, with those whose stored form is refused.
   */
  of(
    source: string,
    stream: Stream,
    after: RecordKey | undefined,
    limit: number,
    { missing }: { missing: boolean },
  ): StoredForm[] {
    const { namespace = "", id = "" } = after ?? {};
    const statement = missing ? this.#statements.missing : this.#statements.of;
    const rows = statement.all({ source, stream, namespace, id, limit });
    return rows.map(({ raw, rawHash, refused, ...key }) => ({ key, raw, rawHash, isRefused: refused === 1 }));
  }

  /** Records that got another form in a run, in the order of their keys. */
  changedIn(run: string): ChangedForm[] {
    return this.#statements.changedIn.all(run).map(({ stream, namespace, id, before, after }) => ({
      stream,
      key: { namespace, id },
      before: before === null ? undefined : stored<JsonObject>(before),
      after: stored<JsonObject>(after),
    }));
  }
}

type RawRow = RecordKey & { raw: string | null; rawHash: string; refused: number };
type ChangedRow = RecordKey & { stream: Stream; before: string | null; after: string };
