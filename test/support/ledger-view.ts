import Database from "better-sqlite3";
import { z } from "zod";
import type { AuditRow } from "../../src/ledger/audit/audit-log.ts";

const auditRow: z.ZodType<AuditRow> = z.object({
  sequence: z.int(),
  format: z.int(),
  at: z.string(),
  kind: z.string(),
  subject: z.string(),
  body: z.string(),
  previous: z.string(),
  hash: z.string(),
  salt: z.string(),
});

/** A look into the ledger's file from outside the program, with SQL of its own. Close it after use. */
export class LedgerView {
  readonly #database: Database.Database;

  constructor(path: string) {
    this.#database = new Database(path, { readonly: true, timeout: 10_000 });
  }

  close(): void {
    this.#database.close();
  }

  rows<T>(schema: z.ZodType<T>, sql: string, ...values: string[]): T[] {
    return z.array(schema).parse(this.#database.prepare(sql).all(...values));
  }

  /** The audit chain, from its first entry on. */
  auditEntries(): AuditRow[] {
    return this.rows(
      auditRow,
      "select sequence, format, at, kind, subject, body, previous, hash, salt from audit order by sequence",
    );
  }

  /** How many operations of an endpoint are in a state. */
  operations(endpoint: string, state: string): number {
    const [row] = this.rows(
      z.object({ n: z.int() }),
      "select count(*) as n from operation where endpoint = ? and state = ?",
      endpoint,
      state,
    );
    return row?.n ?? 0;
  }

  /** Every text of every table but those left out, with its place. */
  *texts(leftOut: readonly string[]): Generator<{ place: string; text: string }> {
    const tables = this.rows(z.object({ name: z.string() }), "select name from sqlite_schema where type = 'table'");
    for (const { name } of tables) {
      if (leftOut.includes(name)) continue;
      for (const row of this.#database.prepare<[], Record<string, unknown>>(`select * from "${name}"`).iterate()) {
        for (const [column, value] of Object.entries(row)) {
          if (typeof value === "string") yield { place: `${name}.${column}`, text: value };
          if (value instanceof Uint8Array)
            yield { place: `${name}.${column}`, text: Buffer.from(value).toString("latin1") };
        }
      }
    }
  }
}
