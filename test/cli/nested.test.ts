import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { startService } from "../source/http-service.ts";
import { assetRow, company } from "../support/world/crm.ts";
import { world } from "../support/cli.ts";

interface NestedOrder {
  no: string;
  customer: string;
  seats: { instance: string; holder: string }[];
}

/** Two lists of seats a customer; each person has a seat of both. */
function nestedOrders(records: ReturnType<typeof company>): NestedOrder[] {
  return records.orders.flatMap(({ customer, assets }) =>
    [0, 1].map((part) => ({
      no: `${customer}-${part}`,
      customer,
      seats: assets
        .map((asset, index) => ({ instance: assetRow(asset).id, holder: `${customer}person${index >> 1}`, index }))
        .filter(({ index }) => index % 2 === part)
        .map(({ instance, holder }) => ({ instance, holder })),
    })),
  );
}

const stream = `        key: no
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

describe.each(["http", "file"])("people of the seats in orders of a source of the kind %s", (kind) => {
  it(
    "have their seats of all orders, which move with an edit and not with the order in which they come",
    { tags: "long" },
    async () => {
      const records = company(3, 4);
      const w = await world({ records: { ...records, staff: [] } });
      const orders = nestedOrders(records);
      let shown: unknown[] = orders;
      const service = await startService(() => ({ body: shown }));
      const show = (now: unknown[]): void => {
        shown = now;
        writeFileSync(w.path("seats.ndjson"), now.map((one) => `${JSON.stringify(one)}\n`).join(""));
      };
      const where =
        kind === "http"
          ? `    baseUrl: ${service.origin}\n    streams:\n      staff:\n        url: orders\n`
          : `    directory: .\n    streams:\n      staff:\n        files: seats.ndjson\n`;
      w.extra = `  seats:\n    kind: ${kind}\n${where}${stream}`;
      w.write();
      show(orders);
      const ended = await w.does("run", "everything");
      expect(ended.exitCode, ended.stdout + ended.stderr).toBe(0);
      expect(w.sandbox.state().assignments).toBe(12);

      show(orders.toReversed().map((order) => ({ ...order, seats: order.seats.toReversed() })));
      expect(await w.does("run", "everything"), "the same seats in another order").toMatchObject({
        exitCode: 0,
        sent: 0,
      });

      // One seat goes out of the second order of a person: the other stays.
      const [first, second, ...others] = orders;
      if (first === undefined || second === undefined) throw new Error("the company is too small");
      show([first, { ...second, seats: second.seats.slice(1) }, ...others]);
      expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, sent: 1 });
      expect(w.sandbox.state().assignments).toBe(11);

      // A list that is none, or a seat of nobody, may hold seats of anybody: nothing is taken away while it waits.
      for (const seats of ["none", [{ instance: "A1" }, ...first.seats.slice(1)]]) {
        show([{ ...first, seats }, { ...second, seats: second.seats.slice(1) }, ...others]);
        const bad = await w.does("run", "everything");
        expect([bad.exitCode, bad.sent], bad.stdout + bad.stderr).toEqual([3, 0]);
        expect(w.sandbox.state().assignments).toBe(11);
      }

      show(orders);
      expect((await w.run("check")).stdout).toContain("seats");
      const mapped = await w.run("map", "seats", "staff", "--limit", "1", "--show-private");
      expect(mapped.exitCode, mapped.stderr).toBe(0);
      expect(mapped.stdout).toMatch(/^customerId +C1 +customer = C1/mu);
      const schema = await w.run("schema", "seats");
      expect(schema.exitCode, schema.stderr).toBe(0);
      expect(schema.stdout).toMatch(/^seats\.instance +text +100 % +assets\[\]\.instanceId/mu);
      expect(schema.stdout).toMatch(/^seats\.order\.no +text +100 %/mu);

      // A list that is none is named, and so is a record that stands twice.
      show([...orders, { no: "X", customer: "C1", seats: "none" }, second]);
      expect(await w.does("run", "everything")).toMatchObject({ exitCode: 3 });
      expect(w.rows("select distinct code from quarantine where state <> 'resolved' order by code")).toEqual([
        { code: "duplicate-row" },
        { code: "not-a-list" },
      ]);
      expect(w.sandbox.state().assignments).toBe(11);
    },
  );
});
