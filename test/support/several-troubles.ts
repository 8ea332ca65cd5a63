import { company } from "./world/crm.ts";
import { world, type World } from "./cli.ts";

/** Two jobs and their settings. */
const settings = `jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
  people: { kind: sync, streams: [staff] }
orders: { unseen: ask }
policies: { assignments: { revoked: ask } }
`;

/**
 * A world in which something of each sort waits at once, after several runs of two jobs: two customers have a hold, an
 * order was sent and never answered, and a row is in quarantine.
 */
export async function severalTroubles(): Promise<World> {
  const w = await world({ records: company(5, 2) });
  w.extra = settings;
  w.write();
  await w.run("run", "everything");
  await w.run("run", "people");
  for (const person of w.staff) if (["S1-1", "S1-2", "S2-1"].includes(person.id)) person.holds = [];
  w.orders.push({ id: "O9", customer: "C3", assets: ["O9-A1"] });
  w.orders.push({ id: "O8", customer: "C4", assets: ["O8-A1"], placedAt: "01.07.2026 <b>" });
  w.write();
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
  await w.run("run", "everything");
  w.sandbox.faults.clear();
  await w.run("run", "people");
  return w;
}
