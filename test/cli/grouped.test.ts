import { expect, it } from "vitest";
import { startService } from "../source/http-service.ts";
import { assetRow, company } from "../support/world/crm.ts";
import { world } from "../support/cli.ts";

interface Seat {
  seat: string;
  order: string;
  holder: string;
  customer: string;
  instance: string;
}

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

it(
  "seats of people come from the rows of orders, in any order, and lost rows take no seat away",
  { tags: "long" },
  async () => {
    const records = company(3, 4);
    const w = await world({ records: { ...records, staff: [] } });
    // Two seats a person.
    const seats = records.orders.flatMap(({ customer, assets }) =>
      assets.map((asset, index): Seat => {
        const holder = `${customer}person${Math.floor(index / 2)}`;
        return { seat: `L${customer}-${index}`, order: "O", holder, customer, instance: assetRow(asset).id };
      }),
    );
    expect(seats.length).toBeGreaterThan(5);
    let shown: Seat[] = seats;
    const service = await startService(() => ({ body: shown }));
    w.extra = peopleFrom(service.origin);
    w.write();
    const ended = await w.does("run", "everything");
    expect(ended.exitCode, ended.stdout + ended.stderr).toBe(0);
    const given = w.sandbox.state().assignments;
    expect(given).toBe(seats.length);

    shown = seats.toReversed();
    expect(await w.does("run", "everything"), "the same seats in another order").toMatchObject({
      exitCode: 0,
      sent: 0,
    });

    // One seat goes: its holder keeps the others. A row twice is nobody's to count.
    const [first, ...others] = seats;
    shown = others;
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, sent: 1 });
    expect(w.sandbox.state().assignments).toBe(given - 1);
    if (first === undefined || others[0] === undefined) throw new Error("the company is too small");
    shown = [...others, others[0]];
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 3, sent: 0 });
    expect(w.rows("select distinct code from quarantine where state <> 'resolved'")).toEqual([
      { code: "duplicate-row" },
    ]);

    shown = others.slice(0, Math.floor(others.length / 2));
    for (let read = 1; read <= 4; read += 1) {
      const lost = await w.does("run", "everything");
      expect(lost.stdout).toMatch(/lost \d+ of \d+ rows [^]*nothing is taken away/u);
      expect(lost).toMatchObject({ exitCode: 7, sent: 0 });
    }
    shown = seats;
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, sent: 1 });
    expect(w.sandbox.state().assignments).toBe(given);
  },
);
