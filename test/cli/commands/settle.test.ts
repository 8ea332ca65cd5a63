import { expect, it } from "vitest";
import { auditEntries, unsettled } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

/** One customer whose order was sent and never answered, and which the platform does not show: it needs a person. */
async function inDoubt(): Promise<{ w: World; id: string }> {
  const w = await world({ records: { ...company(1, 1), staff: [] } });
  w.extra = "orders: { unseen: ask }\n";
  w.write();
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore", times: 1 });
  expect((await w.run("run", "everything")).exitCode).toBe(5);
  const [operation, ...others] = await unsettled(w);
  expect(others).toEqual([]);
  expect(operation).toMatchObject({ subject: "order:crm/O1", state: "parked" });
  return { w, id: operation.id };
}

it("sends an order whose outcome needs a person only after that person said that it is not there, and once", async () => {
  const { w, id } = await inDoubt();
  const waiting = await w.does("run", "everything");
  expect([waiting.exitCode, waiting.calls]).toEqual([5, {}]);
  const reason = "the service desk found no such order";
  expect((await w.run("settle", id, "--not-applied", "--reason", reason)).exitCode).toBe(0);
  const { exitCode, calls } = await w.does("run", "everything");
  expect([exitCode, calls]).toEqual([0, { E5: 1 }]);
  expect(w.sandbox.batches("O1")).toHaveLength(1);
  expect(await unsettled(w)).toEqual([]);
  expect((await auditEntries(w)).filter(({ body }) => body.includes(reason))).toHaveLength(1);
});

it("needs one verdict, a reason, and an operation that is open", { tags: "long" }, async () => {
  const { w, id } = await inDoubt();
  const refusals = [
    [id, "--reason", "x"],
    [id, "--applied", "--not-applied", "--reason", "x"],
    [id, "--not-applied"],
    [id, "--not-applied", "--reason", "  "],
    ["op_nowhere", "--not-applied", "--reason", "x"],
  ];
  for (const words of refusals) expect((await w.run("settle", ...words)).exitCode, words.join(" ")).toBe(64);
  expect(await unsettled(w)).toHaveLength(1);
  await w.run("settle", id, "--not-applied", "--reason", "none there");
  expect((await w.run("settle", id, "--applied", "--reason", "there after all")).exitCode).toBe(64);
  expect(await unsettled(w)).toEqual([]);
});
