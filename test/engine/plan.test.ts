import { describe, expect, it } from "vitest";
import { canonicalJson, type Json } from "../../src/base/canonical-json.ts";
import type { CustomerInput } from "../../src/engine/plan/input.ts";
import { withTree } from "../../src/engine/model/desired.ts";
import { compareOperations } from "../../src/engine/model/operation.ts";
import { stages } from "../../src/engine/model/resource.ts";
import { factsOf, movedFacts } from "../../src/engine/plan/facts.ts";
import { asset, bundle, product } from "../support/world/instances.ts";
import { shownAsset } from "../support/world/records.ts";
import {
  assignment,
  customer,
  customerKey,
  fixed,
  lines,
  linked,
  member,
  order,
  placed,
  plan,
  settingsWith,
  shown,
  situation,
  staff,
  staffLinks,
} from "./situation.ts";

const canaries = {
  name: "Canary Company",
  enterpriseName: "Canary Holding",
  address: "Canary Street 1",
  adminName: "Canary Admin",
  adminAccount: "canaryadmin",
  adminEmail: "canary@example.org",
  adminMobile: "+00 111 canary",
  purchaserMobile: "+00 222 canary",
};

/** A customer with something to do in every stage. */
function busy(): CustomerInput {
  const before = customer();
  const now = customer(canaries, { version: 2 });
  const [ann, bob] = [
    staff("canaryann", {
      name: "Canary Ann",
      remark: "canary remark",
      mobile: "+00 333 canary",
      assets: [{ instanceId: "i" }, { assetNumber: "N2" }],
    }),
    staff("canarybob", { name: "Canary Bob", assets: [] }),
  ];
  const eve = staff("canaryeve", { name: "Canary Eve", password: "Canary-Password", assets: [{ instanceId: "j" }] });
  const first = order("1", { instances: [asset("i"), product("p", "i", { passwords: ["canary-licence"] })] });
  const second = order("2", {
    instances: [
      asset("j", { licenseType: "cloud_account" }),
      product("q", "j", { passwords: ["canary-licence-2"] }),
      bundle("k", "j"),
      product("r", "k"),
    ],
  });
  return situation({
    customer: now,
    orders: [first, second, order("3", { instances: [asset("x"), product("y", "missing")] })],
    staff: [ann, bob, eve],
    known: linked(before, {
      placedOrders: placed(first),
      numbers: fixed("1", "i", "N1"),
      staffLinks: staffLinks(ann, bob),
      assignments: [assignment(bob, "N1"), assignment(bob, "N2")],
    }),
    observed: shown(["canaryann", "canarybob"], { N1: "canarybob", N2: "canarybob" }),
  });
}

function frozen<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    if (!(value instanceof Map) && !(value instanceof Set)) Object.freeze(value);
    for (const member of value instanceof Map ? value.values() : Object.values(value)) frozen(member);
  }
  return value;
}

const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

describe("a customer's plan", () => {
  it("goes through the stages in order: enterprise, orders, staff, revokes, grants", () => {
    const planned = plan(busy());
    expect(lines(planned)).toEqual([
      "update-enterprise customer:crm/ALFKI",
      "place-order order:crm/2",
      "add-staff staff-of:crm/ALFKI",
      "revoke-assets staff:crm/canarybob N1 N2",
      "grant-assets staff:crm/canaryann N2 N1",
      'grant-assets staff:crm/canaryeve ["crm","2","j",0]',
    ]);
    expect(planned.operations.map((item) => stages.indexOf(item.stage))).toEqual([0, 1, 2, 3, 4, 4]);
    expect(planned.operations.toSorted(compareOperations)).toEqual(planned.operations);
  });

  it("is the same for the same input, and leaves its input alone", () => {
    const [one, two] = [busy(), frozen(busy())];
    expect(canonicalJson(asJson(plan(two)))).toBe(canonicalJson(asJson(plan(one))));
    expect(canonicalJson(asJson(plan(two)))).toBe(canonicalJson(asJson(plan(two))));
    expect(
      canonicalJson(
        asJson({
          ...two,
          privateValues: [],
          known: { ...two.known, placedOrders: [...two.known.placedOrders], staffLinks: [...two.known.staffLinks] },
        }),
      ),
    ).toBe(
      canonicalJson(
        asJson({
          ...one,
          privateValues: [],
          known: { ...one.known, placedOrders: [...one.known.placedOrders], staffLinks: [...one.known.staffLinks] },
        }),
      ),
    );
  });

  it("holds no private value and no secret, only references to them", () => {
    for (const settings of [
      settingsWith(),
      settingsWith({ passwordSource: "crm" }),
      settingsWith({ enterpriseCreation: "E1" }),
    ]) {
      const linkedPlan = plan(busy(), { settings });
      const unlinked = busy();
      const fresh = plan({ ...unlinked, known: situation({}).known }, { settings });
      expect(fresh.operations.length).toBeGreaterThan(3);
      const text = JSON.stringify([linkedPlan, fresh]);
      expect(text).toContain('"$private"');
      // Staff ids are keys, not private; everything else that says canary is.
      expect(text.replaceAll(/crm\/canary(ann|bob|eve)|"canary(ann|bob|eve)"|M-canary(ann|bob|eve)/g, "")).not.toMatch(
        /canary/i,
      );
    }
  });

  it("gives every pending record one outcome, and each operation serves records of the plan", () => {
    const input = busy();
    const planned = plan(input);
    const keys = planned.records.map((record) => `${record.stream} ${record.key.id}`);
    expect(keys.toSorted()).toEqual([
      "customers ALFKI",
      "orders 1",
      "orders 2",
      "orders 3",
      "staff canaryann",
      "staff canarybob",
      "staff canaryeve",
    ]);
    expect(
      planned.records.filter((record) => record.outcome === "deferred").map((record) => [record.key.id, record.code]),
    ).toEqual([["3", "order.orphan-instance"]]);
    for (const operation of planned.operations) {
      for (const record of operation.records) expect(keys).toContain(`${record.stream} ${record.id}`);
    }
  });

  it("counts what it takes away in revokes alone", () => {
    expect(plan(busy()).operations.map((item) => item.takesAway)).toEqual([0, 0, 0, 2, 0, 0]);
  });

  it("has a hash for each operation that says what is done to whom, not the words of the reason", () => {
    const [one] = plan(busy()).operations;
    const other = busy();
    const renamed = { ...other, desiredCustomer: customer({ ...canaries, name: "Another" }, { version: 3 }) };
    expect(plan(renamed).operations[0]?.hash).not.toBe(one?.hash);
    expect(new Set(plan(busy()).operations.map((item) => item.hash)).size).toBe(6);
  });

  it("has another hash where it starts from something else: what was approved once is not approved for another state", () => {
    const input = busy();
    const { acknowledged } = input.known;
    if (acknowledged === undefined) throw new Error("nothing was acknowledged");
    const elsewhere = { ...input, known: { ...input.known, acknowledged: { ...acknowledged, branchName: "Before" } } };
    const [one, other] = [plan(input).operations[0], plan(elsewhere).operations[0]];
    expect(other?.payload).toEqual(one?.payload);
    expect(other?.hash).not.toBe(one?.hash);
  });

  it("is sorted by stage and subject, in whatever order the records come", () => {
    const input = busy();
    const other = { ...input, orders: input.orders.toReversed(), staff: input.staff.toReversed() };
    expect(lines(plan(other))).toEqual(lines(plan(input)));
    const two = ["2", "1"].map((id) => order(id, { instances: [asset(`a${id}`), product(`p${id}`, `a${id}`)] }));
    expect(lines(plan({ orders: two }))).toEqual([
      "create-enterprise customer:crm/ALFKI",
      "place-order order:crm/1",
      "place-order order:crm/2",
    ]);
  });
});

describe("the facts of a customer", () => {
  const base = busy();

  it("is the same for the same state", () => {
    expect(factsOf(busy())).toEqual(factsOf(base));
    expect(plan(base).facts).toEqual(factsOf(base));
  });

  it.each<[string, CustomerInput]>([
    ["the customer's record", { ...base, desiredCustomer: customer({ name: "Z" }, { version: 3 }) }],
    ["the customer's state", { ...base, desiredCustomer: customer(canaries, { version: 2, state: "absent" }) }],
    ["an order", { ...base, orders: [...base.orders.slice(1), withTree(order("1", { instances: [asset("z")] }))] }],
    ["the number of orders", { ...base, orders: base.orders.slice(1) }],
    [
      "a staff record",
      { ...base, staff: [staff("canaryann", { assets: [] }, { version: 2 }), ...base.staff.slice(1)] },
    ],
    [
      "a staff record's state",
      { ...base, staff: [staff("canaryann", { name: "Canary Ann" }, { state: "absent" }), ...base.staff.slice(1)] },
    ],
    ["the link", { ...base, known: { ...base.known, link: undefined } }],
    ["what was acknowledged", { ...base, known: { ...base.known, acknowledged: undefined } }],
    ["a placed order", { ...base, known: { ...base.known, placedOrders: new Map() } }],
    ["an assignment", { ...base, known: { ...base.known, assignments: [] } }],
    ["a staff link", { ...base, known: { ...base.known, staffLinks: new Map() } }],
  ])("changes with %s", (_, changed) => {
    expect(movedFacts(factsOf(base), factsOf(changed))).not.toEqual([]);
  });
});

describe("operations across stages", () => {
  it("read alike whether the enterprise, its numbers and its members are known or not, so that one plan can be carried out in steps", () => {
    const it1 = order("1", { instances: [asset("i"), product("p", "i")] });
    const ann = staff("ann", { assets: [{ instanceId: "i" }] });
    const own = customer();
    const fresh = plan({ customer: own, orders: [it1], staff: [ann] });
    const afterEnterprise = plan({
      customer: own,
      orders: [it1],
      staff: [ann],
      known: linked(own),
      observed: { members: [], assets: [] },
    });
    const afterOrder = plan({
      customer: own,
      orders: [it1],
      staff: [ann],
      known: linked(own, { placedOrders: placed(it1), numbers: fixed("1", "i", "N1") }),
      observed: shown([], { N1: null }),
    });
    const afterStaff = plan({
      customer: own,
      orders: [it1],
      staff: [ann],
      known: linked(own, { placedOrders: placed(it1), numbers: fixed("1", "i", "N1"), staffLinks: staffLinks(ann) }),
      observed: { members: [member("ann")], assets: [shownAsset("N1")] },
    });
    const hashes = (planned: typeof fresh) => planned.operations.map((item) => item.hash);
    expect(hashes(fresh)).toHaveLength(4);
    expect(hashes(afterEnterprise)).toEqual(hashes(fresh).slice(1));
    expect(hashes(afterOrder)).toEqual(hashes(fresh).slice(2));
    expect(hashes(afterStaff)).toEqual(hashes(fresh).slice(3));
  });

  it("of a customer with thousands of orders and people are planned in reasonable steps", { tags: "long" }, () => {
    const own = customer();
    const orders = Array.from({ length: 2_000 }, (_, index) =>
      order(`o${index}`, { instances: [asset(`i${index}`), product(`p${index}`, `i${index}`)] }),
    );
    const folk = Array.from({ length: 2_000 }, (_, index) =>
      staff(`u${index}`, { assets: [{ instanceId: `i${index}` }] }),
    );
    const planned = plan({
      customer: own,
      orders,
      staff: folk,
      known: linked(own),
      observed: { members: [], assets: [] },
    });
    expect(planned.operations).toHaveLength(2_000 + 20 + 2_000);
    expect(planned.records).toHaveLength(4_001);
  });

  it("name the customer they are for", () => {
    expect(
      plan(busy()).operations.every(
        (item) => item.customer.namespace === customerKey.namespace && item.customer.id === customerKey.id,
      ),
    ).toBe(true);
  });
});
