import Database from "better-sqlite3";
import { expect, it, vi } from "vitest";
import { ReadOnlyLedger, asked } from "../../../src/inquiry/read-only-ledger.ts";

it("a question that is asked of one record after another is planned once, whatever its values are", () => {
  const database = new Database(":memory:");
  database.exec("create table one (a integer, b integer); create index some on one (a) where b = 1");
  database.exec("insert into one values (1, 1), (2, 1), (2, 5)");
  const prepared = vi.spyOn(database, "prepare");
  const question = asked<{ a: number; b: number }, { rows: number }>(
    "select count(*) as rows from one where a=@a and (b = @b or @b is null)",
  );
  const ledger = new ReadOnlyLedger(":memory:", database);
  const answers = [
    question(ledger, { a: 2, b: 1 }),
    question(ledger, { a: 2, b: 5 }),
    question(ledger, { a: 1, b: 1 }),
  ];
  expect(answers).toEqual([[{ rows: 1 }], [{ rows: 1 }], [{ rows: 1 }]]);
  // SQLite plans a statement anew for each value that an index with a condition might be chosen by.
  expect(prepared.mock.calls.map(([text]) => text)).toEqual([
    "select count(*) as rows from one where a=+@a and (b = +@b or +@b is null)",
  ]);
  database.close();
});
