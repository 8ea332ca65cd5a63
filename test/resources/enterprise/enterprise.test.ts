import { describe, expect, it } from "vitest";
import {
  needs,
  assignment,
  customer,
  customerKey,
  enterpriseGlobalId,
  lines,
  linked,
  order,
  outcomes,
  placed,
  plan,
  settingsWith,
  settingsWithout,
  shown,
  situation,
  staff,
  staffLinks,
  wireOf,
} from "../../engine/situation.ts";
import { asset, product } from "../../support/world/instances.ts";
import { standardPolicies } from "../../support/world/rules.ts";

const found = (...ids: string[]) =>
  ids.map((id) => ({
    enterpriseGlobalId: id,
    customers: [{ customerId: `${id}-c`, isDefault: true, channelCode: "CH2", channelCustomerId: customerKey.id }],
  }));
const simple = order("1", { instances: [asset("a"), product("p", "a")] });

describe("a customer that E3 does not show", () => {
  it("gets an enterprise by E2, and all that follows is planned with it", () => {
    const planned = plan({ orders: [simple], staff: [staff("ann", { assets: [{ instanceId: "a" }] })] });
    expect(lines(planned)).toEqual([
      "create-enterprise customer:crm/ALFKI",
      "place-order order:crm/1",
      "add-staff staff-of:crm/ALFKI",
      'grant-assets staff:crm/ann ["crm","1","a",0]',
    ]);
    expect(outcomes(planned)).toEqual(["customers crm/ALFKI planned", "orders crm/1 planned", "staff crm/ann planned"]);
    const [create] = planned.operations;
    expect(create?.target).toEqual({ channelCustomerId: "ALFKI" });
    expect(create && wireOf(create, situation({}).known)).toEqual({
      crmCustomerId: "ALFKI",
      customerName: "CANARY name ALFKI",
      branchName: "Branch 1",
      address: "CANARY street ALFKI",
    });
  });

  it("needs no address for it", () => {
    const [create] = plan({ customer: customer({ address: undefined }) }).operations;
    expect(create && wireOf(create, situation({}).known)).toEqual({
      crmCustomerId: "ALFKI",
      customerName: "CANARY name ALFKI",
      branchName: "Branch 1",
    });
  });

  it("is bound by E1 where the configuration says so, with the purchaser's mobile as security mobile", () => {
    const settings = settingsWith({ enterpriseCreation: "E1", channelCustomerIdTemplate: "X{id}" });
    const [bind] = plan({}, { settings }).operations;
    expect([bind?.kind, bind?.endpoint]).toEqual(["bind-enterprise", "E1"]);
    expect(bind && wireOf(bind, situation({}).known, settings)).toEqual({
      channelCode: "CH1",
      channelCustomerId: "XALFKI",
      customerName: "CANARY name ALFKI",
      branchName: "Branch 1",
      enterpriseName: "Alfreds Holding",
      passwordMobile: "491770070002",
    });
  });

  it("is bound or made as its own record says, whatever the configuration says of the others", () => {
    const kinds = (creation: "create" | "bind", enterpriseCreation: "E1" | "E2"): string[] =>
      plan({ customer: customer({ creation }) }, { settings: settingsWith({ enterpriseCreation }) }).operations.map(
        (operation) => operation.endpoint,
      );
    expect(kinds("bind", "E2")).toEqual(["E1"]);
    expect(kinds("create", "E1")).toEqual(["E2"]);
  });

  it("gets its address by an E4 after E1, which carries none", () => {
    const settings = settingsWith({ enterpriseCreation: "E1" });
    const [bind] = plan({}, { settings }).operations;
    const after = bind?.after;
    expect(after).toMatchObject({ branchName: "Branch 1", address: null });
    const own = customer();
    const known = linked(own, {
      acknowledged: { name: own.body.name.commitment, branchName: own.body.branchName, address: null },
    });
    expect(lines(plan({ customer: own, known }, { settings }))).toEqual(["update-enterprise customer:crm/ALFKI"]);
  });

  it("waits under E1 without a mobile number, but not once it is linked", () => {
    const settings = settingsWith({ enterpriseCreation: "E1" });
    const own = customer({ purchaserMobile: undefined });
    expect(outcomes(plan({ customer: own }, { settings }))).toEqual([
      "customers crm/ALFKI deferred customer.incomplete",
    ]);
    expect(outcomes(plan({ customer: own, known: linked(own) }, { settings }))).toEqual([
      "customers crm/ALFKI planned",
    ]);
    expect(plan({ customer: own, observed: { enterprises: found("E-9") } }, { settings }).changes).toHaveLength(3);
  });

  it("waits while no channel code is set, and says which setting lacks; E3 was not asked", () => {
    const planned = plan(
      { orders: [simple], observed: { enterprises: undefined } },
      { settings: settingsWithout("channelCode") },
    );
    expect(planned.operations).toEqual([]);
    expect(planned.records[0]).toMatchObject({ stream: "customers", code: "assumption.missing", again: true });
    expect(planned.records[0]?.reason).toContain("assumptions.channelCode (A9)");
    expect(planned.records[1]).toMatchObject({ stream: "orders", code: "customer.blocked", again: true });
    expect(planned.records[1]?.reason).toContain("assumptions.channelCode (A9)");
  });

  it("is not created before somebody looked", () => {
    const planned = plan({ observed: { enterprises: undefined } });
    expect(planned.operations).toEqual([]);
    expect(outcomes(planned)).toEqual(["customers crm/ALFKI deferred customer.not-looked-up"]);
  });
});

describe("a customer that a person unlinked", () => {
  it("is neither made nor adopted, whatever E3 shows", () => {
    const known = { unlinked: { at: "2026-11-22T00:00:00.000Z", by: "anna", reason: "the wrong one" } };
    for (const enterprises of [[], found("E-9"), found("E-9", "E-8"), undefined]) {
      const planned = plan({
        known,
        orders: [simple],
        observed: { enterprises },
      });
      expect(planned.operations).toEqual([]);
      expect(planned.changes).toEqual([]);
      expect(outcomes(planned)).toEqual([
        "customers crm/ALFKI deferred enterprise.unlinked",
        "orders crm/1 deferred customer.blocked",
      ]);
    }
    expect(needs(situation({ known }), true).enterprises).toBe(false);
  });
});

describe("a customer that E3 shows", () => {
  it("once, is adopted with an E4, because nothing reads branch and address back", () => {
    const planned = plan({ observed: { enterprises: found("E-9") } });
    expect(lines(planned)).toEqual(["update-enterprise customer:crm/ALFKI"]);
    expect(planned.changes).toEqual([
      {
        type: "linked",
        customer: customerKey,
        link: {
          enterpriseGlobalId: "E-9",
          channelCode: "CH2",
          channelCustomerId: "ALFKI",
          origin: "adopted",
          examined: false,
        },
      },
      { type: "platform-customers", enterpriseGlobalId: "E-9", customers: found("E-9")[0]?.customers },
    ]);
  });

  it("once, keeps on getting that E4 until the platform acknowledged it", () => {
    const known = linked(customer(), { acknowledged: undefined });
    expect(lines(plan({ known }))).toEqual(["update-enterprise customer:crm/ALFKI"]);
  });

  it("twice, waits for a person, and nothing of it is sent", () => {
    const planned = plan({ orders: [simple], staff: [staff("ann")], observed: { enterprises: found("E-8", "E-9") } });
    expect(planned.operations).toEqual([]);
    expect(planned.changes).toEqual([]);
    expect(outcomes(planned)).toEqual([
      "customers crm/ALFKI deferred enterprise.ambiguous",
      "orders crm/1 deferred customer.blocked",
      "staff crm/ann deferred customer.blocked",
    ]);
  });
});

describe("a linked customer", () => {
  const before = customer();

  it("that is as it was needs nothing", () => {
    const planned = plan({ customer: before, known: linked(before) });
    expect(planned.operations).toEqual([]);
    expect(outcomes(planned)).toEqual(["customers crm/ALFKI planned"]);
  });

  it.each([
    [{ name: "Alfreds GmbH" }, "changed in the CRM: name"],
    [{ branchName: "Branch Two" }, "changed in the CRM: branch"],
    [{ address: "Neue Str. 1" }, "changed in the CRM: address"],
    [{ name: "B", branchName: "B", address: "B" }, "changed in the CRM: name, branch, address"],
  ])("gets an E4 when %o changed", (fields, reason) => {
    const now = customer(fields, { version: 2 });
    const [update, ...others] = plan({ customer: now, known: linked(before) }).operations;
    expect(others).toEqual([]);
    expect(update?.kind).toBe("update-enterprise");
    expect(update?.reason).toBe(reason);
    expect(update && wireOf(update, situation({}).known)).toEqual({
      crmCustomerId: "ALFKI",
      customerName: "CANARY name ALFKI",
      branchName: "Branch 1",
      address: "CANARY street ALFKI",
      ...("name" in fields ? { customerName: fields.name } : {}),
      ...("branchName" in fields ? { branchName: fields.branchName } : {}),
      ...("address" in fields ? { address: fields.address } : {}),
    });
  });

  it("gets none for fields that E4 does not carry", () => {
    const now = customer({ adminEmail: "new@example.org", branchCode: "B2", enterpriseName: "New" }, { version: 2 });
    expect(plan({ customer: now, known: linked(before) }).operations).toEqual([]);
  });

  it("gets none where the policy says so, and its record tells of it or does not", () => {
    const now = customer({ name: "New" }, { version: 2 });
    const saying = (update: "report" | "ignore" | "ask"): string[] => {
      const enterprises = { ...standardPolicies.enterprises, update };
      const planned = plan(
        { customer: now, known: linked(before) },
        { policies: { ...standardPolicies, enterprises } },
      );
      return [...lines(planned), ...outcomes(planned)];
    };
    expect(saying("report")).toEqual(["customers crm/ALFKI deferred policy.reported"]);
    expect(saying("ignore")).toEqual(["customers crm/ALFKI planned"]);
    expect(saying("ask"), "the gate holds it").toEqual([
      "update-enterprise customer:crm/ALFKI",
      "customers crm/ALFKI planned",
    ]);
  });

  it("whose address is gone keeps it on the platform, or gets an empty one, by choice", () => {
    const now = customer({ address: undefined }, { version: 2 });
    expect(plan({ customer: now, known: linked(before) }).operations).toEqual([]);
    const settings = settingsWith({ emptyAddress: "empty" });
    const [update] = plan({ customer: now, known: linked(before) }, { settings }).operations;
    expect(update && wireOf(update, situation({}).known)).toMatchObject({ address: "" });
    const renamed = customer({ address: undefined, name: "New" }, { version: 2 });
    const [rename] = plan({ customer: renamed, known: linked(before) }).operations;
    expect(Object.keys((rename && wireOf(rename, situation({}).known)) ?? {})).not.toContain("address");
  });

  it("goes on with orders and staff where no channel code is needed any more", () => {
    const planned = plan(
      { customer: before, known: linked(before), staff: [staff("ann")], observed: { members: [], assets: [] } },
      { settings: settingsWithout("channelCode") },
    );
    expect(lines(planned)).toEqual(["add-staff staff-of:crm/ALFKI"]);
  });

  it("with another channel number than it is linked under says so, and its orders wait", () => {
    const now = customer({ channelCustomerId: "OTHER" }, { version: 2 });
    const planned = plan({ customer: now, known: linked(before), orders: [simple] });
    expect(planned.operations).toEqual([]);
    expect(outcomes(planned)).toEqual([
      "customers crm/ALFKI deferred policy.reported",
      "orders crm/1 deferred enterprise.renumbered",
    ]);
    expect(planned.records.map((record) => record.again)).toEqual([false, true]);
    for (const { reason } of planned.records) {
      expect(reason).toContain("is now OTHER, but the enterprise is linked under ALFKI");
      expect(reason).toContain(`crm-sync link crm/ALFKI ${enterpriseGlobalId}`);
    }
  });
});

describe("a customer whose record is not to be worked on", () => {
  it("blocks what depends on it while it waits in quarantine, and is itself counted there", () => {
    const own = customer({}, { state: "quarantined" });
    const planned = plan({ customer: own, orders: [simple], staff: [staff("ann")], known: linked(own) });
    expect(planned.operations).toEqual([]);
    expect(outcomes(planned)).toEqual([
      "orders crm/1 deferred customer.blocked",
      "staff crm/ann deferred customer.blocked",
    ]);
  });

  it("keeps nothing waiting that is as the CRM wants it, and everything that has something left to do", () => {
    const own = customer({}, { state: "quarantined" });
    const [ann, bob, cleo] = [staff("ann"), staff("bob"), staff("cleo", { assets: [{ assetNumber: "7001" }] })];
    const later = order("2", { instances: [asset("b"), product("q", "b")] });
    const known = linked(own, { placedOrders: placed(simple), staffLinks: staffLinks(ann, cleo) });
    const observed = shown(["ann", "cleo"]);
    const planned = plan({ customer: own, orders: [simple, later], staff: [ann, bob, cleo], known, observed });
    expect(planned.operations).toEqual([]);
    expect(outcomes(planned)).toEqual([
      "orders crm/1 planned",
      "orders crm/2 deferred customer.blocked",
      "staff crm/ann planned",
      "staff crm/bob deferred customer.blocked",
      "staff crm/cleo deferred customer.blocked",
    ]);
  });

  it("keeps a person waiting whose asset is gone from the platform already, since the ledger is still to note it", () => {
    const own = customer({}, { state: "quarantined" });
    const ann = staff("ann");
    const known = linked(own, { staffLinks: staffLinks(ann), assignments: [assignment(ann, "N1")] });
    const observed = shown(["ann"]);
    expect(outcomes(plan({ customer: own, staff: [ann], known, observed }))).toEqual([
      "staff crm/ann deferred customer.blocked",
    ]);
  });

  it("has noted what M5 shows of a person as M2 left it, and keeps that person waiting no more", () => {
    const own = customer({}, { state: "quarantined" });
    const ann = staff("ann");
    const [link] = staffLinks(ann).values();
    if (link === undefined) throw new Error("nobody is linked");
    const { profile } = link;
    const accepted = new Map([["crm/ann", { ...link, profile: { ...profile, unread: ["name"] as const } }]]);
    const of = { customer: own, staff: [ann], observed: shown(["ann"]) };
    const planned = plan({ ...of, known: linked(own, { staffLinks: accepted }) });
    expect(planned.operations).toEqual([]);
    expect(planned.changes).toEqual([{ type: "staff-edited", staff: ann.key, customer: customerKey, profile }]);
    // Nobody is adopted meanwhile.
    const bob = { staff: [ann, staff("bob")], observed: shown(["ann", "bob"]) };
    const both = plan({ ...of, ...bob, known: linked(own, { staffLinks: accepted }) });
    expect(both.changes.map(({ type }) => type)).toEqual(["staff-edited"]);
    const noted = plan({ ...of, known: linked(own, { staffLinks: staffLinks(ann) }) });
    expect(noted.changes).toEqual([]);
    expect(outcomes(noted)).toEqual(["staff crm/ann planned"]);
  });

  it("stays as it is on the platform when it is gone from the CRM, and says so, as the policy has it", () => {
    const own = customer({ name: "Renamed", mergedInto: { id: "BONAP" } }, { state: "absent" });
    const told = plan({ customer: own, known: linked(customer()) });
    expect([told.operations, told.waits]).toEqual([[], undefined]);
    expect(outcomes(told)).toEqual(["customers crm/ALFKI deferred policy.reported"]);
    expect(told.records[0]?.reason).toMatch(/merged into crm\/BONAP; its enterprise ENT-1 stays/u);
    const enterprises = { ...standardPolicies.enterprises, deleted: "ignore" as const };
    const ignored = plan({ customer: own, known: linked(own) }, { policies: { ...standardPolicies, enterprises } });
    expect(outcomes(ignored)).toEqual(["customers crm/ALFKI planned"]);
    expect(outcomes(plan({ customer: own }))).toEqual(["customers crm/ALFKI deferred customer.gone"]);
    expect(needs(situation({ customer: own }), false).enterprises).toBe(false);
  });

  it("that is gone gets no new order and no new account; what is taken from its people who are gone too is taken", () => {
    const own = customer({}, { state: "absent" });
    const [ann, bob, cleo] = [staff("ann"), staff("bob", {}, { state: "absent" }), staff("cleo")];
    const later = order("2", { instances: [asset("b"), product("q", "b")] });
    const known = linked(own, {
      placedOrders: placed(simple),
      staffLinks: staffLinks(ann, bob),
      assignments: [assignment(bob, "N1")],
    });
    const planned = plan({
      customer: own,
      orders: [simple, later],
      staff: [ann, bob, cleo],
      known,
      observed: shown(["ann", "bob"], { N1: "bob" }),
    });
    expect(planned.operations.map(({ kind }) => kind)).toEqual(["revoke-assets"]);
    expect(outcomes(planned)).toContain("orders crm/1 planned");
    expect(outcomes(planned)).toContain("orders crm/2 deferred customer.gone");
    expect(outcomes(planned)).toContain("staff crm/cleo deferred customer.gone");
  });

  it("holds up orders and staff that came before it, and lets them go on later", () => {
    const planned = plan({ customer: undefined, orders: [simple], staff: [staff("ann")] });
    expect(planned.operations).toEqual([]);
    expect(planned.records.map((record) => [record.stream, record.again])).toEqual([
      ["orders", true],
      ["staff", true],
    ]);
    expect(planned.records[0]?.reason).toContain("no source has given the customer yet");
  });
});

it("the enterprise of the reference is the linked one", () => {
  const own = customer();
  const [add] = plan({
    customer: own,
    known: linked(own),
    staff: [staff("ann")],
    observed: { members: [], assets: [] },
  }).operations;
  expect(add?.target).toEqual({ enterpriseGlobalId: { $ref: "enterpriseGlobalId" } });
  expect(add && wireOf(add.target, situation({ known: linked(own) }).known)).toEqual({
    enterpriseGlobalId,
  });
});
