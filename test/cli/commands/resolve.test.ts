import { expect, it } from "vitest";
import { ran, waitsFor } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

it("counts what a person did on the platform once the platform shows it, and not before", async () => {
  const w = await world({ records: company(1, 1) });
  w.extra = "policies: { staff: { edited: report } }\n";
  w.write();
  await ran(w);
  w.staff = w.staff.map((person) => ({ ...person, name: "Another name" }));
  w.write();
  expect((await ran(w)).calls).toEqual({});
  expect(await waitsFor(w, "S1-1", "staff")).toBe("policy.reported");
  const resolve = async () => await w.does("resolve", "staff:S1-1", "--done", "--reason", "the service desk did");
  const early = await resolve();
  expect([early.exitCode, early.calls]).toEqual([3, {}]);
  const { staffLinks } = await w.ask("explain", "staff", "S1-1");
  const { memberGlobalId } = staffLinks[0];
  w.sandbox.hand({ action: "rename-person", memberGlobalId, name: "Another name" });
  const resolved = await resolve();
  expect([resolved.exitCode, resolved.calls]).toEqual([0, {}]);
  expect((await ran(w)).calls).toEqual({});
  expect(await waitsFor(w, "S1-1", "staff")).toBeUndefined();
});
