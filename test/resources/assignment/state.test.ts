import { expect, it } from "vitest";
import { applyChanges, type StateChange } from "../../../src/engine/model/state.ts";
import { LedgerWorld } from "../../support/world/ledger-world.ts";
import { rowsOf } from "../../support/world/start.ts";

const key = (id: string) => ({ namespace: "crm", id });

function begins(staff: string, customer: string): StateChange {
  const of = { staff: key(staff), customer: key(customer), memberGlobalId: `M-${staff}` };
  return { type: "asset-granted", assetNumber: "N1", ...of, origin: "granted", operationId: null };
}

it("two holders of a number at one instant leave the ledger as memory has it: the last one holds it", async () => {
  const world = await LedgerWorld.open();
  const { state } = world.ledger;
  const ended: StateChange = { type: "asset-revoked", assetNumber: "N1", operationId: null };
  const changes = [begins("S1", "C1"), ended, begins("S2", "C2")];
  const known = new Map(await Promise.all(["C1", "C2"].map(async (id) => [id, await state.known(key(id))] as const)));
  const at = await state.record(key("C1"), changes);
  for (const [id, before] of known) {
    const { assignments } = applyChanges(before, changes, { customer: key(id), at });
    expect((await state.known(key(id))).assignments, id).toEqual(assignments);
    expect(assignments).toHaveLength(id === "C2" ? 1 : 0);
  }
  expect(rowsOf(world.path, "select ended_by, to_at from assignment")).toEqual([{ ended_by: null, to_at: null }]);
});

it("after a restore nobody holds anything, until the platform shows the same member with the number", async () => {
  const world = await LedgerWorld.open();
  const [customer, staff] = [key("C1"), key("S1")];
  const profile = { userName: "u", name: "n", remark: null, mobile: null, departmentId: null };
  const account = { staff, customer, enterpriseGlobalId: "E1", memberGlobalId: "M-S1", profile };
  await world.ledger.state.record(customer, [{ type: "staff-linked", ...account, origin: "created" }]);
  for (const number of ["N1", "N2", "N3"]) await world.grant(customer, staff, "M-S1", number);
  const { state, gap } = world.ledger;
  const held = async () => (await state.known(customer)).assignments.map(({ assetNumber }) => assetNumber);
  expect(await held()).toEqual(["N1", "N2", "N3"]);
  await gap.begin("anna");
  expect(await held()).toEqual([]);
  const holders = [
    { assetNumber: "N1", memberGlobalId: "M-S1" },
    { assetNumber: "N2", memberGlobalId: "M-other" },
  ];
  const place = { enterpriseGlobalId: "E1", members: ["M-S1"], holders };
  await gap.bringPeopleBack(customer, { ...place, members: [] });
  expect(await held()).toEqual([]);
  await gap.bringPeopleBack(customer, place);
  expect(await held()).toEqual(["N1"]);
});
