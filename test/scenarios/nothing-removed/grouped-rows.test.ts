import { expect, it } from "vitest";
import { startService } from "../../source/http-service.ts";
import { quarantined } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

/** @module-tag long */

const peopleFrom = (origin: string): string => `  seats:
    kind: http
    baseUrl: ${origin}
    streams:
      staff:
        url: seats
        key: seat
        group: { by: holder, into: seats, fields: { customer: customer } }
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

it("people whose seats are rows of a list keep them when rows are lost, doubled or come in another order", async () => {
  const { customers, orders } = company(3, 4);
  const w = await world({ records: { customers, orders, staff: [] } });
  // Two seats a person.
  const seats = customers.flatMap(({ id }) =>
    [0, 1, 2, 3].map((index) => ({
      seat: `L${id}-${index}`,
      holder: `${id}person${Math.floor(index / 2)}`,
      customer: id,
      instance: `O${id.slice(1)}-A${index + 1}`,
    })),
  );
  let shown = seats;
  const service = await startService(() => ({ body: shown }));
  w.extra = peopleFrom(service.origin);
  w.write();
  const reads = async (rows: typeof seats): Promise<[number | null, number]> => {
    shown = rows;
    const { exitCode, sent } = await w.does("run", "everything");
    return [exitCode, sent];
  };
  expect(await reads(seats)).toEqual([0, 6]);
  expect(await reads(seats.toReversed())).toEqual([0, 0]);
  // One seat goes: its holder keeps the other one.
  const others = seats.slice(1);
  expect(await reads(others)).toEqual([0, 1]);
  expect(await reads([...others, ...others.slice(0, 1)])).toEqual([3, 0]);
  expect(new Set((await quarantined(w)).map(({ code }) => code))).toEqual(new Set(["duplicate-row"]));
  for (const _ of [1, 2, 3, 4]) expect(await reads(others.slice(0, 5))).toEqual([7, 0]);
  expect(await reads(seats)).toEqual([0, 1]);
  expect(w.sandbox.state().assignments).toBe(12);
});
