import type { Living } from "./life.ts";
import { elements, member, text, type Json } from "./operations.ts";

/**
 * What a person knows from the pages of the platform and of the program: the numbers that the services gave, and the
 * ids of what waits.
 */

/** The asset number of an instance, as E5 bought it last. */
export function numberOf(life: Living, instance: string): string {
  for (const { operation, body } of life.calls.toReversed()) {
    if (operation !== "E5") continue;
    for (const order of elements(member(body, "orderList")))
      for (const asset of elements(member(order, "assets"))) {
        const isIt = elements(member(asset, "products")).some(
          (product) => text(member(product, "parentCrmProductId")) === instance,
        );
        if (isIt) return text(elements(member(asset, "assetNos"))[0] ?? null);
      }
  }
  throw new Error(`nothing was bought for ${instance}`);
}

/** The number of the enterprise that was made for a customer. */
export function enterpriseOf(life: Living, customer: string): string {
  const made = life.calls.find(
    ({ operation, body }) => operation === "E2" && text(member(body, "crmCustomerId")) === customer,
  );
  return text(member(made?.answer ?? null, "data", "enterpriseGlobalId"));
}

/** The number of a person whose user name begins so, as M1 or M5 showed it last. */
export function personOf(life: Living, login: string): string {
  for (const { operation, answer } of life.calls.toReversed()) {
    const rows =
      operation === "M1"
        ? member(answer, "data", "succeeded")
        : operation === "M5"
          ? member(answer, "data", "list")
          : null;
    const row = elements(rows).find((one) => text(member(one, "userName")).startsWith(login));
    if (row !== undefined) return text(member(row, "globalId"));
  }
  throw new Error(`nobody saw ${login}`);
}

/** The ids of the holds that wait for a person, by customer. */
export async function openHolds(life: Living): Promise<string[]> {
  const holds = elements(member(await life.ask("status"), "holds")).filter((hold) => member(hold, "state") === "open");
  return holds.toSorted(byCustomer).map((hold) => text(member(hold, "id")));
}

/** The only hold that waits. */
export async function openHold(life: Living): Promise<string> {
  const [hold, ...more] = await openHolds(life);
  if (hold === undefined || more.length > 0) throw new Error(`${more.length + 1} holds wait`);
  return hold;
}

/** The ids of the operations whose outcome a person has to settle. */
export async function openOperations(life: Living): Promise<string[]> {
  return elements(await life.ask("settle", "list")).map((operation) => text(member(operation, "id")));
}

function byCustomer(one: Json, other: Json): number {
  return text(member(one, "customer", "id")) < text(member(other, "customer", "id")) ? -1 : 1;
}
