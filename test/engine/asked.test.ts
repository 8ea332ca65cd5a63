import fc from "fast-check";
import { it } from "vitest";
import { asset, product } from "../support/world/instances.ts";
import { shownAsset } from "../support/world/records.ts";
import {
  assignment,
  customer,
  fixed,
  linked,
  member,
  needs,
  order,
  placed,
  plan,
  settingsWith,
  situation,
  staff,
  staffLinks,
  standingOrders,
} from "./situation.ts";

const standing = fc.record({
  state: fc.constantFrom("current" as const, "absent" as const, "quarantined" as const),
  pending: fc.boolean(),
});
const waits = { code: "unread", reason: "unread", again: true };

/** Any mixture of what a customer can have, so that for each resource there are customers who have nothing of it. */
const customers = fc.record({
  isLinked: fc.boolean(),
  order: fc.option(standing),
  locked: fc.option(fc.boolean(), { nil: undefined }),
  isPlaced: fc.boolean(),
  stands: fc.boolean(),
  ann: fc.option(standing),
  account: fc.boolean(),
  seat: fc.boolean(),
  borrows: fc.boolean(),
  ended: fc.boolean(),
  read: fc.constantFrom("nothing", "people", "no people", "no contents"),
  thorough: fc.boolean(),
});

// `plan` and `needs` compare what they give with what all resources come to.
it("a resource that is not asked would plan and read nothing", () => {
  fc.assert(
    fc.property(customers, (has) => {
      const own = customer();
      const lock = asset("i", {
        licenseType: "normal_recover_usbkey",
        ...(has.locked === undefined ? {} : { locked: has.locked }),
      });
      const first = order("1", { instances: [lock, product("p", "i")] }, { ...has.order });
      const borrows = has.borrows ? [{ lock: "L", assets: [{ assetNumber: "N1" }] }] : undefined;
      const ann = staff("ann", { assets: [{ assetNumber: "N1" }], ...(borrows && { borrows }) }, { ...has.ann });
      const numbers = fixed("1", "i", "N1");
      const isRead = has.read === "people";
      const input = situation({
        customer: own,
        orders: has.order === null ? [] : [first],
        staff: has.ann === null ? [] : [ann],
        standings: has.stands ? standingOrders([first], numbers) : undefined,
        ended: has.ended ? [{ number: "N1", namespace: "crm", instanceId: "i" }] : undefined,
        known: {
          ...(has.isLinked && linked(own)),
          ...(has.isPlaced && { placedOrders: placed(first), numbers }),
          ...(has.account && { staffLinks: staffLinks(ann) }),
          ...(has.seat && { assignments: [assignment(ann, "N1")] }),
        },
        observed: {
          members: isRead ? [member("ann", { assetNums: ["N1"] })] : undefined,
          assets: isRead ? [shownAsset("N1", { holder: "M-ann" })] : undefined,
          ...(has.read === "no people" && { unread: { people: waits } }),
          ...(has.read === "no contents" && { unread: { contents: waits } }),
        },
      });
      needs(input, has.thorough);
      plan(input, { settings: settingsWith() });
    }),
    { numRuns: 300 },
  );
});
