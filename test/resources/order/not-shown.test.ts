import { describe, expect, it } from "vitest";
import type { SettleFacts } from "../../../src/engine/model/operation-type.ts";
import { ifNotShown } from "../../../src/resources/order/not-shown.ts";
import type { OrderContext } from "../../../src/resources/order/shapes.ts";
import { withTree } from "../../../src/engine/model/desired.ts";
import { order } from "../../engine/situation.ts";
import { asset, product } from "../../support/world/instances.ts";

const customer = { namespace: "crm", id: "ALFKI" };
const instances = [product("P1", "A1"), asset("A1")];
const wanted = withTree(order("1", { instances }));
const cancelled = withTree(order("1", { instances, cancelled: true }));
const waits = { code: "order.not-observable", reason: "it cannot be seen", again: true };

function context(...licenseTypes: string[]): OrderContext {
  const records = licenseTypes.map((licenseType, index) => {
    return { sequence: index + 1, licenseType, customerId: "", numbers: ["N1"], products: ["P1"], standing: 1 };
  });
  const { key, bodyHash, version } = wanted;
  return { enterpriseGlobalId: "E", channelOrderId: "1", order: key, bodyHash, version, records, secrets: false };
}

function facts(changes: Partial<SettleFacts> & { visible?: readonly string[] }): SettleFacts {
  const { key: _key, ...now } = { ...wanted, customer, cancelled: false, state: "current" as const };
  return {
    ordersUnseen: "resend",
    isShown: (type) => Promise.resolve((changes.visible ?? ["cloud"]).includes(type)),
    orderNow: () => Promise.resolve(now),
    ...changes,
  } as SettleFacts;
}

const shows =
  (...visible: string[]) =>
  (type: string) =>
    Promise.resolve(visible.includes(type));

describe("an order that the platform does not show", () => {
  it("waits for a person if its purchase had no answer, unless the settings say that the platform shows orders", async () => {
    const settled = async (changes: Parameters<typeof facts>[0], of = context("cloud")) =>
      (await ifNotShown.settle({ context: of, customer }, facts(changes))).kind;
    expect(await settled({ ordersUnseen: "ask" })).toBe("park");
    expect(await settled({})).toBe("send-again");
    expect(await settled({ visible: [] })).toBe("park");
    expect(await settled({ orderNow: () => Promise.resolve(undefined) })).toBe("drop");
    const quarantined = { state: "quarantined", cancelled: false, bodyHash: "", customer } as const;
    expect(await settled({ orderNow: () => Promise.resolve(quarantined) })).toBe("unreadable");
    expect(await settled({ visible: ["cloud"] }, context("cloud", "soft"))).toBe("park");
  });

  it("was not placed by a purchase that was refused, unless a part of it may be there unseen", async () => {
    expect(await ifNotShown.afterRefusal(context("soft"), shows())).toBeUndefined();
    expect(await ifNotShown.afterRefusal(context("soft", "cloud"), shows("soft", "cloud"))).toBeUndefined();
    expect(await ifNotShown.afterRefusal(context("soft", "cloud"), shows("cloud"))).toContain("soft");
  });

  it("is bought, waits or counts as placed, for a run and for a rebuild", () => {
    const of = (changes: object) => ({ order: wanted, waits: undefined, wasPlaced: false, ...changes });
    const told = (verdict: ReturnType<typeof ifNotShown.rebuild>) =>
      typeof verdict === "object" ? verdict.code : (verdict ?? "not there");
    const both = (changes: object, enterprise: "ours" | "others" | "none" = "others") => [
      told(ifNotShown.adopt(of(changes))),
      told(ifNotShown.rebuild({ ...of(changes), enterprise })),
    ];
    expect(both({})).toEqual(["not there", "not there"]);
    expect(both({ waits })).toEqual(["order.not-observable", "order.not-observable"]);
    expect(both({ wasPlaced: true })).toEqual(["order.placed-before-restore", "counts as placed"]);
    expect(both({ wasPlaced: true }, "ours")).toEqual(["order.placed-before-restore", "counts as placed"]);
    expect(both({ wasPlaced: true }, "none")).toEqual(["order.placed-before-restore", "order.placed-before-restore"]);
    expect(both({ order: cancelled })).toEqual(["not there", "counts as placed"]);
    expect(both({ order: cancelled }, "ours")).toEqual(["not there", "not there"]);
    expect(both({ order: cancelled, waits })).toEqual(["not there", "not there"]);
  });

  it("counts as the backup has it only if none of its licence types can be seen", async () => {
    expect(await ifNotShown.restore(new Set(["soft"]), shows())).toBe(true);
    expect(await ifNotShown.restore(new Set(["soft", "cloud"]), shows("cloud"))).toBe(false);
    expect(await ifNotShown.restore(new Set(), shows())).toBe(false);
  });
});
