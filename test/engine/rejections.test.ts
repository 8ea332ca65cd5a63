import { expect, test } from "vitest";
import type { Operation } from "../../src/engine/model/operation.ts";
import type { Rejection } from "../../src/engine/plan/input.ts";
import { refusedParts, settingsFingerprint } from "../../src/engine/plan/rejections.ts";
import { asset, product } from "../support/world/instances.ts";
import {
  assignment,
  customer,
  lines,
  linked,
  order,
  outcomes,
  people,
  plan,
  settingsWith,
  shown,
  staff,
  staffLinks,
  type Situation,
} from "./situation.ts";

/** What a service refused of these operations, as the ledger keeps it. */
function refused(operations: readonly Operation[]): Rejection[] {
  return operations.flatMap((operation) =>
    refusedParts(operation).map(({ record, hash }) => ({
      record,
      hash,
      kind: operation.kind,
      settings: settingsFingerprint(settingsWith()),
      operationId: "op",
      code: "rejected.60023",
      reason: "it was refused",
      shared: false,
    })),
  );
}

/** The same situation after a service refused what was planned of one subject. */
function after(given: Situation, subject: string) {
  const wanted = plan(given).operations.filter((operation) => operation.subject === subject);
  expect(wanted).not.toEqual([]);
  return plan({ ...given, rejections: refused(wanted) });
}

test("a number whose revoke was refused stays where it is: nobody else is given it, and the others go on", () => {
  const [ann, bob, eve] = [
    staff("ann"),
    staff("bob", { assets: [{ assetNumber: "N1" }] }),
    staff("eve", { assets: [{ assetNumber: "N2" }] }),
  ];
  const given = people({
    staff: [ann, bob, eve],
    known: { staffLinks: staffLinks(ann, bob, eve), assignments: [assignment(ann, "N1")] },
    observed: shown(["ann", "bob", "eve"], { N1: "ann", N2: null }),
  });
  expect(lines(plan(given))).toEqual([
    "revoke-assets staff:crm/ann N1",
    "grant-assets staff:crm/bob N1",
    "grant-assets staff:crm/eve N2",
  ]);
  const planned = after(given, "staff:crm/ann");
  expect(lines(planned)).toEqual(["grant-assets staff:crm/eve N2"]);
  expect(outcomes(planned).slice(1)).toEqual([
    "staff crm/ann rejected rejected.60023",
    "staff crm/bob deferred asset.held-by-another",
    "staff crm/eve planned",
  ]);
});

test("an order that was refused gives nobody an asset: its people wait, the next order and its people go on", () => {
  const of = (id: string) => order(id, { instances: [asset(`i${id}`), product(`p${id}`, `i${id}`)] });
  const [ann, bob] = ["1", "2"].map((id) => staff(`user${id}`, { assets: [{ instanceId: `i${id}` }] }));
  if (ann === undefined || bob === undefined) throw new Error("two people are needed");
  const given = people({ orders: [of("1"), of("2")], staff: [ann, bob], observed: shown([]) });
  const planned = after(given, "order:crm/1");
  expect(lines(planned)).toEqual([
    "place-order order:crm/2",
    "add-staff staff-of:crm/ALFKI",
    'grant-assets staff:crm/user2 ["crm","2","i2",0]',
  ]);
  expect(outcomes(planned).slice(1)).toEqual([
    "orders crm/1 rejected rejected.60023",
    "orders crm/2 planned",
    "staff crm/user1 deferred asset.not-ordered",
    "staff crm/user2 planned",
  ]);
});

test("a change of an enterprise that was refused stops nothing else; one that was not made stops all", () => {
  const instances = [asset("i"), product("p", "i")];
  const changed = { customer: customer({ branchName: "Elsewhere" }), known: linked(customer()) };
  const going = after({ ...changed, orders: [order("1", { instances })] }, "customer:crm/ALFKI");
  expect([lines(going), outcomes(going), going.waits]).toEqual([
    ["place-order order:crm/1"],
    ["customers crm/ALFKI rejected rejected.60023", "orders crm/1 planned"],
    undefined,
  ]);
  const stopped = after({ orders: [order("1", { instances })] }, "customer:crm/ALFKI");
  expect([lines(stopped), outcomes(stopped), stopped.waits]).toEqual([
    [],
    ["customers crm/ALFKI rejected rejected.60023", "orders crm/1 deferred customer.blocked"],
    true,
  ]);
});

test("a person whose M1 was refused is not sent again as they are, and their record says why", () => {
  const [ann, bob] = [staff("ann"), staff("bob")];
  const given = people({ staff: [ann, bob], observed: shown([], {}) });
  const [alone] = plan({ ...given, staff: [ann] }).operations;
  const rejections = refused(alone === undefined ? [] : [alone]);
  expect(rejections).toHaveLength(1);
  const later = plan({ ...given, rejections });
  expect(later.operations.flatMap(({ records }) => records.map(({ id }) => id))).toEqual(["bob"]);
  expect(outcomes(later)).toContainEqual(expect.stringContaining("rejected"));
});
