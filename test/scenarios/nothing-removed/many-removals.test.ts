import { expect, it } from "vitest";
import { counted } from "../../counts/counting.ts";
import { world, type World } from "../../support/cli.ts";
import { atOnce, peaksAt } from "../../support/peaks.ts";
import { company } from "../../support/world/crm.ts";

const lanes = 6;
const wide = "{ floor: 1000, share: 1 }";

/** Customers with so many people each who have a seat, of which a run may remove all. */
async function seated(customers: number, gate?: ReturnType<typeof peaksAt>["gate"], people = 1): Promise<World> {
  const w = await world({ records: company(customers, people), ...(gate !== undefined && { sandbox: { gate } }) });
  w.extra = `${atOnce(lanes)}limits:
  massChange: ${wide}
  removals: { enterprise: ${wide}, run: ${wide}, day: ${wide}, week: ${wide} }
`;
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

/** The CRM takes the seat from everybody. */
function takeAll(w: World): void {
  w.staff = w.staff.map((person) => ({ ...person, holds: [] }));
  w.write();
}

it("removes from as many customers at once as it buys for", async () => {
  const { gate, peaks } = peaksAt(lanes, "E5", "M9");
  const w = await seated(12, gate);
  expect(peaks).toMatchObject({ E5: lanes, M9: lanes });
  peaks["M9"] = 0;
  takeAll(w);
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { M9: 12 } });
  expect(peaks["M9"]).toBe(lanes);
});

/** Everybody loses a seat, and the old terms of each licence wait for a person: what that costs in statements. */
async function replacing(customers: number): Promise<number> {
  const w = await seated(customers);
  w.orders = w.orders.map((order) => {
    const asset = `${order.id}-A1`;
    return { ...order, products: [{ id: `${asset}-P`, parent: asset, nodes: 9 }] };
  });
  takeAll(w);
  const { statements } = await counted(async () => {
    const calls = { E5: customers, M9: customers };
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 4, calls });
  });
  return statements;
}

it("costs as much for each customer where removals come up once others were judged", async () => {
  const [few, more, many] = [await replacing(2), await replacing(12), await replacing(22)];
  expect((many - more) / (more - few)).toBeLessThan(1.1);
});

/** In one enterprise everybody is given a seat, and then every second one loses it: statements and calls of each run. */
async function inOneEnterprise(people: number): Promise<number[]> {
  const w = await seated(1, undefined, people);
  const seats = w.staff;
  takeAll(w);
  await w.run("run", "everything");
  const cost = async (): Promise<number[]> => {
    const before = Object.values(w.sandbox.counts().calls).reduce((sum, calls) => sum + calls, 0);
    const { statements } = await counted(async () => expect((await w.run("run", "everything")).exitCode).toBe(0));
    return [statements, Object.values(w.sandbox.counts().calls).reduce((sum, calls) => sum + calls, 0) - before];
  };
  w.staff = seats;
  w.write();
  const granted = await cost();
  w.staff = seats.map((person, at) => (at % 2 === 0 ? { ...person, holds: [] } : person));
  w.write();
  return [...granted, ...(await cost())];
}

it("costs as much for each person of an enterprise that has many", async () => {
  const [few, more, many] = [await inOneEnterprise(8), await inOneEnterprise(24), await inOneEnterprise(40)];
  for (const [at, cost] of many.entries()) {
    const [before = 0, first = 0] = [more[at], few[at]];
    expect((cost - before) / (before - first), `${few[at]}, ${more[at]}, ${cost}`).toBeLessThan(1.1);
  }
});

it("reads as many assets of one enterprise at once as the member-center takes calls", async () => {
  const { gate, peaks } = peaksAt(lanes, "M7");
  const w = await seated(1, gate, 12);
  w.orders = w.orders.map((order) => ({ ...order, cancelled: true }));
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  expect(peaks["M7"]).toBe(lanes);
  peaks["M7"] = 0;
  await w.run("run", "verify");
  expect(peaks["M7"]).toBe(lanes);
});
