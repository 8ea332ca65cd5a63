/** @module-tag long */
import { expect, it } from "vitest";
import { world, type Parsed } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { outcome } from "../../support/world/members.ts";

/** Every removal would be automatic, at once and without a limit. */
const nothingStops = `policies:
  orders: { ended: apply, cancelled: apply, deleted: apply, replaced: apply, assetChanged: apply }
  staff: { left: apply, moved: apply }
  locks: { locked: apply }
limits:
  absenceReads: 1
  absenceTime: 0s
  removals:
    enterprise: { floor: 1000 }
    run: { floor: 1000 }
    day: { floor: 1000 }
    week: { floor: 1000 }
`;

it("removes nothing when a source suddenly has 3 % of its rows, and raises an alert", async () => {
  const w = await world({ records: company(34, 2) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const before = w.sandbox.state();
  w.extra = nothingStops;
  const { customers, orders, staff } = w;
  Object.assign(w, { customers: customers.slice(0, 1), orders: orders.slice(0, 1), staff: staff.slice(0, 2) });
  w.write();
  for (const _ of [1, 2, 3]) expect(outcome(await w.does("run", "everything"))).toEqual([7, {}]);
  expect(w.sandbox.state()).toEqual(before);
  const { alerts } = await w.ask("alerts");
  expect(alerts.map(({ kind }: Parsed) => kind)).toContain("source-down");

  Object.assign(w, { customers, orders, staff });
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  expect(w.sandbox.state()).toEqual(before);
});
