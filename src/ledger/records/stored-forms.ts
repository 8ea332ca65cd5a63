import type { RecordKey, Stream } from "../../crm/model.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";

/** A record as its source gave it; `raw` is JSON with its secrets blanked, null where it is not kept any more. */
export interface StoredForm {
  key: RecordKey;
  raw: string | null;
  /** The hash by which it is known again, with the mapping that it was mapped with. */
  rawHash: string;
  /** The record is missing, and waits in quarantine because this form was refused when it was mapped anew. */
  isRefused: boolean;
}

/** The forms in which missing records came last. Reads only. */
export class StoredForms {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = statements.onUse({
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
    });
  }

  /**
   * The records of one stream of a source that the last whole reads lacked, with those whose stored form is refused, in
   * key order, `limit` at a time after `after`.
   */
  of(source: string, stream: Stream, after: RecordKey | undefined, limit: number): StoredForm[] {
    const { namespace = "", id = "" } = after ?? {};
    const rows = this.#statements.missing.all({ source, stream, namespace, id, limit });
    return rows.map(({ raw, rawHash, refused, ...key }) => ({ key, raw, rawHash, isRefused: refused === 1 }));
  }
}

type RawRow = RecordKey & { raw: string | null; rawHash: string; refused: number };
