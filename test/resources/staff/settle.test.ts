import { expect, it } from "vitest";
import { ApplyWorld } from "../../support/world/apply-world.ts";
import { staffRecord } from "../../support/world/records.ts";
import { lost } from "../../engine/services.ts";

it("an edit whose answer was lost is believed where M5 shows it, and never of a person who was erased meanwhile", async () => {
  const settled = async (erased: boolean): Promise<string> => {
    const world = await ApplyWorld.start();
    await world.makeEnterprise();
    await world.take("staff", staffRecord("S1", "C1"), staffRecord("S2", "C1"));
    await world.carryOut("add-staff");
    await world.take("staff", staffRecord("S1", "C1", { name: "CANARY married" }));
    world.sandbox.faults.add({ operation: "M2", ...lost });
    const id = await world.carryOutUnknown("edit-staff");
    if (erased) world.sqlite().exec("update private_value set body = null where ref = 'staff/crm/S1'");
    const { kind } = await world.settle(id);
    return kind;
  };
  expect([await settled(false), await settled(true)]).toEqual(["done", "parked"]);
});
