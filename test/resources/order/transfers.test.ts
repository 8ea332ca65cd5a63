import { describe, expect, it } from "vitest";
import { planOrders } from "../../../src/resources/order/plan.ts";
import { planInputOf } from "../../../src/engine/plan/input.ts";
import { asset, product } from "../../support/world/instances.ts";
import { standardRules } from "../../support/world/rules.ts";
import {
  fixed,
  linked,
  order,
  placed,
  settingsWith,
  situation,
  standingOrders,
  type OrderFields,
  type Situation,
} from "../../engine/situation.ts";

const instances = [asset("i"), product("p", "i"), product("q", "i")];
const first = order("1", { instances });
const numbers = fixed("1", "i", "N1");
const cancelled = order("1", { instances, cancelled: true }, { version: 2 });
const known = linked(undefined, { placedOrders: placed(first), numbers });

/** What the end of order 1 needs. */
function needs(given: Situation) {
  const settings = settingsWith();
  const standings = standingOrders([first], numbers);
  const prepared = planInputOf(situation({ known, standings, ...given }), settings);
  return planOrders(prepared, { settings, ...standardRules }).endings.flatMap((ending) => ending.needs);
}

describe("what another order takes over", () => {
  const continued: OrderFields = {
    instances: [asset("j", { continues: { orderId: "1", instanceId: "i" } }), product("r", "j")],
  };
  const transferred: OrderFields = {
    instances: [asset("j"), product("r", "j", { transferredFrom: { orderId: "1", instanceId: "q" } })],
  };

  it.each([
    ["an asset that goes on under another order", continued],
    ["a product that is transferred to another order", transferred],
  ])("%s: it goes only with that purchase, be the other order looked at now or not", (_what, fields) => {
    const need = { stage: "orders", subject: "order:crm/2" };
    expect(needs({ orders: [cancelled, order("2", fields)] })).toEqual([need]);
    expect(needs({ orders: [cancelled], takers: [order("2", fields)] })).toEqual([need]);
  });

  it("goes by itself where that order was cancelled, is gone, or stands already", () => {
    expect(needs({ orders: [cancelled, order("2", { ...transferred, cancelled: true })] })).toEqual([]);
    expect(needs({ orders: [cancelled, order("2", transferred, { state: "absent" })] })).toEqual([]);
    const other = order("2", transferred);
    const placedOrders = placed(first, other);
    expect(needs({ orders: [cancelled, other], known: linked(undefined, { placedOrders, numbers }) })).toEqual([]);
  });
});
