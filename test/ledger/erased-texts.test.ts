import { expect, it } from "vitest";
import {
  erasedMark,
  eraseTexts,
  replacing,
  wordsOfAll,
  wordsOfCustomer,
} from "../../src/ledger/private/erased-texts.ts";
import { openLedger, sqlite } from "../support/world/start.ts";
import { key } from "../support/world/records.ts";

it("takes texts out of words of others, whole and in whatever case, and leaves ids and JSON as they are", () => {
  const clean = replacing(["Ann", "ann Example", "王芳", "anna", "n+m (x)", "status", "."]);
  expect(clean("ANN EXAMPLE and Ann, Annex, crm/anna, 客户王芳已有 n+m (x).")).toBe(
    "[erased] and [erased], Annex, crm/anna, 客户[erased]已有 [erased].",
  );
  expect(clean('{"status":["Anna","x"],"n":1}')).toBe('{"status":["[erased]","x"],"n":1}');
  expect(clean('{"status": "as it was"}')).toBe('{"status": "as it was"}');
  expect(clean("{broken Ann")).toBe("{broken [erased]");
  expect(replacing([])("Ann")).toBe("Ann");
});

it("looks through every column that holds words of others, in rows of the customer and in those of nobody", async () => {
  const { ledger, path } = await openLedger();
  ledger.close();
  const database = sqlite(path);
  const columns = (table: string): Set<string> =>
    new Set(database.prepare<[string], string>("select name from pragma_table_info(?)").pluck().all(table));
  for (const [table, named] of [...wordsOfCustomer, ...wordsOfAll])
    for (const column of named) expect(columns(table), `${table}.${column}`).toContain(column);
  const differ = (customer: string): string =>
    `insert into difference values ('crm', '${customer}', 'staff', 's', 'extra', '1', '1', 'Ann Example is shown', null)`;
  database.exec(`${differ("C1")}; ${differ("C2")};
    insert into alert values ('k', '1', '{"summary":"Ann Example and Li","Li":1}', null);
    insert into moved_order values ('crm', 'O', 'crm', 'C1', '1', null, 'Li said so')`);
  expect(eraseTexts(database, [key("C1")], new Set(["Ann Example", "Li"]))).toBe(3);
  expect(database.prepare("select detail from difference order by customer_id").pluck().all()).toEqual([
    `${erasedMark} is shown`,
    "Ann Example is shown",
  ]);
  expect(database.prepare("select unclear from moved_order").pluck().get()).toBe(`${erasedMark} said so`);
  // A short text in what is nobody's may stand for anything.
  expect(database.prepare("select body from alert").pluck().get()).toBe(`{"summary":"${erasedMark} and Li","Li":1}`);
});
