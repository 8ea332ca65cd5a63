import type { Sqlite } from "../database/database.ts";
import type { AuditRow } from "./audit-log.ts";

/** Entries that are read together: to read them one by one takes a third longer, and more of them gain little. */
const entriesInPage = 500;

/** The entries of a record in their order, in pages; the caller holds one state of the database. */
export function* entriesOf(database: Sqlite): Generator<AuditRow, void, void> {
  const after = database.prepare<[number], AuditRow>(
    `select sequence, format, at, kind, subject, body, previous, hash, salt from audit
     where sequence > +? order by sequence limit ${entriesInPage}`,
  );
  let last: number | undefined = Number.MIN_SAFE_INTEGER;
  // No number beyond those that are told apart is one of ours, and the next page would begin with it again.
  while (last !== undefined && last <= Number.MAX_SAFE_INTEGER) {
    const page: AuditRow[] = after.all(last);
    yield* page;
    last = page.length < entriesInPage ? undefined : page.at(-1)?.sequence;
  }
}
