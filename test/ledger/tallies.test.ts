import { expect, it } from "vitest";
import { sqlite } from "../support/world/start.ts";
import { agreedWorld } from "../inquiry/agreed-world.ts";

const counts: Record<string, string> = {
  link: "link where to_at is null",
  placed_order: "placed_order where to_at is null",
  staff_link: "staff_link where to_at is null",
  "staff_link adopted": "staff_link where to_at is null and origin = 'adopted'",
  assignment: "assignment where to_at is null",
  "asset_number in use": "asset_number where fixed_at is not null and ended_at is null",
  observation_read: "observation_read",
  "observation_read incomplete": "observation_read where complete = 0",
};

it("the tallies are what counting says, whatever happens to the rows", async () => {
  const { world } = await agreedWorld();
  const database = sqlite(world.ledger.path);
  const products = "select coalesce(sum(products), 0) from placed_order where to_at is null";
  const wrong = (): string[] => [
    ...(Number(database.prepare(products).pluck().get()) ===
    Number(database.prepare("select count from tally where name = 'product'").pluck().get())
      ? []
      : ["product"]),
    ...Object.entries(counts).flatMap(([name, rows]) => {
      const counted = Number(database.prepare(`select count(*) from ${rows}`).pluck().get());
      const kept = Number(database.prepare("select count from tally where name = ?").pluck().get(name));
      return counted === kept ? [] : [`${name}: ${kept}, and there are ${counted}`];
    }),
    ...database
      .prepare<[], string>(
        `select format('%s %s: %d with %d pending', stream, state, sum(count), sum(pending)) from (
           select stream, state, count, pending from record_tally
           union all select stream, state, -count(*), -sum(pending) from record group by stream, state)
         group by stream, state having sum(count) <> 0 or sum(pending) <> 0`,
      )
      .pluck()
      .all(),
  ];
  expect(wrong()).toEqual([]);
  for (const change of [
    ...["link", "placed_order", "staff_link", "assignment"].flatMap((table) => [
      `update ${table} set to_at = '2026-10-02T00:00:00.000Z'`,
      `update ${table} set to_at = '2026-10-03T00:00:00.000Z'`,
      `update ${table} set to_at = null`,
    ]),
    "update placed_order set products = 7",
    "update placed_order set products = 2",
    "delete from placed_order",
    "update asset_number set fixed_at = null",
    "update asset_number set fixed_at = taken_at",
    "update observation_read set complete = 0",
    "update observation_read set complete = 1, seen_at = '2026-10-02T00:00:00.000Z'",
    "update record set pending = 1",
    "update record set state = 'quarantined' where stream = 'orders'",
    "update record set state = 'absent', pending = 0",
    "delete from record where stream = 'staff'",
    "delete from assignment",
    "delete from observation_read",
  ]) {
    database.exec(change);
    expect(wrong(), change).toEqual([]);
  }
});
