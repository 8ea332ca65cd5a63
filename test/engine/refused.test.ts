import { expect, it } from "vitest";
import { ApplyWorld, permitted } from "../support/world/apply-world.ts";
import { customerRecord, staffRecord } from "../support/world/records.ts";

it("what M1 says of somebody it refuses is told without anything that was sent of that person", async () => {
  const world = await ApplyWorld.start();
  await world.makeEnterprise();
  await world.take("staff", staffRecord("S1", "C1"), staffRecord("S2", "C1"));
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
  expect(words).toMatch(/^no: .*"userName":…/u);
  expect(passwords).toHaveLength(2);
  for (const text of ["CANARY", "491770070003", ...passwords]) expect(words).not.toContain(text);
});

it("what a service says in a sentence is told without anybody who is named in it", async () => {
  const world = await ApplyWorld.start();
  await world.take(
    "customers",
    customerRecord("C1", { adminName: "Müller-Lüdenscheid", adminMobile: "+49 151 1234 5678" }),
  );
  await world.carryOut("create-enterprise");
  await world.lookUp();
  await world.take(
    "staff",
    staffRecord("S1", "C1", { name: "Zoë Example", mobile: "+4917612345678" }),
    staffRecord("S2", "C1"),
  );
  const said = [
    "Mobile 0176-1234 5678 of ZOË EXAMPLE is taken, see (0151) 12345678 or +44 20 7946 0958.",
    'The enterprise "Müller-L\\u00fcdenscheid" <Canary@Example.com> of CANARY\tname  C1 has asset 8000000012, CANARYuserS2 too.',
  ].join(" ");
  const asked = world.with({
    memberCenter: {
      ...world.deps.platform.memberCenter,
      addStaff: async (_enterprise, _request, call) => {
        await permitted(call);
        const raw = {
          code: "60023",
          message: said,
          data: { hints: [said], mobile: 4917612345678, number: 17612345678 },
        };
        return { kind: "rejected", code: "60023", status: 299, raw };
      },
    },
  });
  const delivery = await asked.carryOut("add-staff");
  expect(delivery).toMatchObject({ kind: "rejected" });
  const kept = JSON.stringify([
    delivery,
    world.log,
    ...["operation", "attempt", "audit", "rejection"].map((table) =>
      world.sqlite().prepare(`select * from ${table}`).all(),
    ),
  ]);
  expect(kept).toContain("Mobile … of … is taken, see …");
  // Any four digits stand in a digest now and then.
  const readable = kept.replaceAll(/\b(?:[0-9a-f]{32}|[0-9a-f]{64})\b/gu, "digest");
  for (const text of [/zo(ë|\\u00eb)/iu, /1234.?5678/u, /7946/u, /denscheid/iu, /canary@/iu, /name\s+C1/u, /userS2/iu])
    expect(readable).not.toMatch(text);
});
