import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { quarantined, ran } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import type { Parsed } from "../../support/cli.ts";
import { lines } from "../../support/world/crm-files.ts";
import { company } from "../../support/world/crm.ts";

/** People are made of the seats in two lists of each customer: each has a seat in both. */
const sources = `  seats:
    kind: file
    directory: .
    streams:
      staff:
        files: seats.ndjson
        key: no
        group: { by: holder, into: seats, rows: seats, record: order, fields: { customer: order.customer } }
        mapping:
          id: key
          customerId: customer
          userName: key
          name: key
          assets:
            - { each: seats, fields: { instanceId: instance } }
jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
`;

it("takes no seat of people whose seats are in several lists while one of the lists cannot be used", async () => {
  const { customers, orders } = company(2, 4);
  const w = await world({ records: { customers, orders, staff: [] } });
  w.extra = sources;
  w.write();
  const all = ["C1", "C2"].flatMap((customer, at) =>
    [0, 1].map((part) => ({
      no: `${customer}-${part}`,
      customer,
      seats: [0, 1].map((holder) => ({
        instance: `O${at + 1}-A${holder * 2 + part + 1}`,
        holder: `${customer}person${holder}`,
      })),
    })),
  );
  const run = async (rows: readonly object[]): Promise<[number | null, number, number]> => {
    writeFileSync(w.path("seats.ndjson"), lines(rows));
    const { exitCode, calls } = await ran(w);
    return [exitCode, calls["M9"] ?? 0, w.sandbox.state().assignments];
  };
  expect(await run(all)).toEqual([0, 4, 8]);
  const reversed = all.toReversed().map((list) => ({ ...list, seats: list.seats.toReversed() }));
  expect(await run(reversed), "the same seats in another order").toEqual([0, 0, 8]);
  const [first, second, ...others] = all;
  const without = { ...second, seats: second?.seats.slice(1) };
  expect(await run([{ ...first }, without, ...others]), "the other seat of that person stays").toEqual([0, 1, 7]);
  // What is no list, or a seat of nobody, may hold seats of anybody.
  for (const seats of ["none", [{ instance: "A1" }, ...(first?.seats.slice(1) ?? [])]])
    expect(await run([{ ...first, seats }, without, ...others])).toEqual([3, 0, 7]);
  expect((await run([...all, { no: "X", customer: "C1", seats: "none" }, { ...second }]))[0]).toBe(3);
  const codes = (await quarantined(w)).map(({ code }: Parsed) => code);
  expect(new Set(codes)).toEqual(new Set(["duplicate-row", "not-a-list"]));
  expect(w.sandbox.state().assignments).toBe(7);
});
