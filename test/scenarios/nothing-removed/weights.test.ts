import { expect, it } from "vitest";
import { numberOf, openHolds } from "../../support/asking.ts";
import { documents, world, type Parsed } from "../../support/cli.ts";
import { membersOf, personOf } from "../../support/world/members.ts";
import { amend, line, rule, standing } from "../../support/world/placed-orders.ts";

it("removes nothing that a limit holds, and says what it would cost in seats, nodes, people and loans", async () => {
  const w = await world({
    records: {
      customers: [{ id: "C1" }, { id: "C2" }],
      orders: [
        { id: "1", customer: "C1", assets: ["A1"], products: [line("P1", "A1", { nodes: 4 }), line("Q1", "A1")] },
        {
          id: "2",
          customer: "C2",
          assets: ["A2", "B2", { id: "L2", type: "normal_recover_usbkey", forLending: true }],
        },
      ],
      staff: [
        { id: "S1", customer: "C1", login: "one", holds: ["A1"] },
        { id: "S2", customer: "C2", login: "two", holds: ["A2", "B2"] },
      ],
    },
  });
  w.extra = "limits: { removals: { run: { floor: 0, share: 0 }, enterprise: { floor: 50, share: 1 } } }\n";
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const account = async (customer: string, login: string): Promise<string> =>
    (await membersOf(w, customer)).get(login)?.globalId ?? "";
  w.sandbox.hand({ action: "set-online", memberGlobalId: await account("C1", "one"), online: true });
  const lent = { lock: numberOf(w, "L2"), assetNums: [numberOf(w, "A2")] };
  w.sandbox.hand({ action: "lend", memberGlobalId: await account("C2", "two"), ...lent });
  rule(w, "orders.cancelled", "apply");
  const before = standing(w);
  amend(w, "1", { cancelled: true });
  personOf(w, "S2").holds = ["B2"];
  w.customers = [{ id: "C1" }, { id: "C2", name: "Another name" }];
  w.write();

  const { run: asking, exit } = await w.ask("run", "everything");
  expect([exit, (await w.does("run", "everything")).calls]).toEqual([4, {}]);
  expect(await openHolds(w)).toMatchObject([
    { scope: "run", count: 1 },
    { scope: "run", count: 1 },
  ]);
  const planned = documents(await w.run("plan", "--json")).flatMap(({ operations = [] }: Parsed) => operations);
  const nothing = { seats: 0, products: 0, accounts: 0, locks: 0, nodes: 0, lastAsset: 0, online: 0, lent: 0 };
  expect(planned.flatMap(({ weight = [] }: Parsed) => weight)).toEqual([
    { ...nothing, seats: 1, products: 2, nodes: 7, lastAsset: 1, online: 1 },
    { ...nothing, seats: 1, lent: 1 },
  ]);
  expect(standing(w)).toEqual(before);

  expect((await w.run("approve", "--run", asking, "--reason", "seen")).exitCode).toBe(0);
  expect((await w.does("run", "everything")).calls).toEqual({ E5: 1, M9: 1 });
  expect(standing(w)).toEqual({ products: 3, assets: 3, assignments: 1 });
});
