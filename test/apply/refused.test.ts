import { expect, it } from "vitest";
import { ApplyWorld, staffRecord } from "./world.ts";

it("what M1 says of somebody it refuses is kept without anything that was sent of that person", async () => {
  const world = await ApplyWorld.start();
  await world.makeEnterprise();
  await world.take("staff", staffRecord("S1"), staffRecord("S2"));
  world.sandbox.faults.add({ operation: "M1", fault: "partialM1", drop: 1, times: 1 });
  const real = world.deps.platform.memberCenter;
  const passwords: string[] = [];
  const talkative = world.with({
    memberCenter: {
      ...real,
      addStaff: async (enterprise, request, call) => {
        const outcome = await real.addStaff(enterprise, request, call);
        if (outcome.kind !== "partial") return outcome;
        passwords.push(...request.userList.map((person) => person.password));
        const said = JSON.stringify(request.userList);
        const failed = outcome.data.failed.map((row) => ({ ...row, message: `no: ${said}` }));
        return { ...outcome, data: { ...outcome.data, failed } };
      },
    },
  });
  const delivery = await talkative.carryOut("add-staff");
  if (delivery.kind !== "done") throw new Error(`M1 is ${delivery.kind}`);
  expect(delivery.refused).toHaveLength(1);
  const words = delivery.refused[0]?.message ?? "";
  expect(words).toMatch(/^no: .*\[redacted\]/u);
  expect(passwords).toHaveLength(2);
  for (const text of ["userS1", "userS2", "Person S", "555123456", ...passwords]) expect(words).not.toContain(text);
});
