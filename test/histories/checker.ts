import type { Hold } from "../simulation/questions.ts";
import type { SimulatedServices } from "../simulation/services.ts";
import { seatsOtherwise } from "./holdings.ts";
import { accountsLeft, loginOf, type CrmNow } from "./model.ts";

/** How many of something there are, by key. */
type Counts = ReadonlyMap<string, number>;

/** What customers may have meanwhile: one of the forms that the CRM gave, or old and new of them together. */
export class Forms {
  /** What was wanted since the platform held last exactly what was wanted, the first form with what it held then. */
  #since: Counts[] = [new Map()];

  /** The CRM was changed. */
  add(wanted: Counts): void {
    this.#since.push(wanted);
  }

  /** The platform holds what is wanted now. */
  agreed(wanted: Counts): void {
    this.#since = [wanted];
  }

  /** What no form explains: less than every form has, or more than all of them together. */
  unexplained(shown: Counts): string[] {
    const keys = new Set([...shown.keys(), ...this.#since.flatMap((form) => [...form.keys()])]);
    const wrong: string[] = [];
    for (const key of keys) {
      const counts = this.#since.map((form) => form.get(key) ?? 0);
      const count = shown.get(key) ?? 0;
      if (count > Math.max(...counts) || count < Math.min(...counts))
        wrong.push(`${key} is there ${count} times; the CRM said ${counts.join(", then ")}`);
    }
    // On whatever terms and in whatever line: no customer is without what stays wanted there.
    const all = this.#since.map(byProduct);
    const there = byProduct(shown);
    for (const product of all[0]?.keys() ?? []) {
      const least = Math.min(...all.map((form) => form.get(product) ?? 0));
      if ((there.get(product) ?? 0) < least) wrong.push(`${product} is there less than ${least} times`);
    }
    return wrong;
  }
}

/** So many of each product for each customer. */
function byProduct(counts: Counts): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [key, count] of counts) {
    const product = key.split(" ", 2).join(" ");
    sums.set(product, (sums.get(product) ?? 0) + count);
  }
  return sums;
}

/** What each customer has of each product, by `CUSTOMER PRODUCT NODES END LINE`. */
export function shownProducts({ store }: SimulatedServices): Counts {
  const rows = store
    .prepare<[], { key: string; count: number }>(
      `SELECT customers.channel_customer_id || ' ' || crm_product_id || ' ' || json_extract(record, '$.limitConcurrent')
       || ' ' || COALESCE(json_extract(record, '$.limitEndDate'), 0)
       || ' ' || json_extract(record, '$.parentCrmProductId') AS key, COUNT(*) AS count FROM products JOIN assets ON assets.id = products.asset_id
       JOIN customers ON customers.id = assets.customer_id
       WHERE products.removed_by IS NULL AND assets.removed_by IS NULL GROUP BY 1`,
    )
    .all();
  return new Map(rows.map(({ key, count }) => [key, count]));
}

/** What is not as the CRM says, once nothing is under way any more. */
export function differences(crm: CrmNow, services: SimulatedServices): string[] {
  const wrong: string[] = [];
  for (const [what, found] of Object.entries(services.observation.duplicates()))
    if (Array.isArray(found) && found.length > 0) wrong.push(`twice: ${what}: ${JSON.stringify(found)}`);
  const same = (what: string, wished: readonly string[], shown: readonly string[]): void => {
    const missing = wished.filter((item) => !shown.includes(item));
    const extra = shown.filter((item) => !wished.includes(item));
    if (missing.length > 0) wrong.push(`${what}: missing ${missing.join(", ")}`);
    if (extra.length > 0) wrong.push(`${what}: nobody wants ${extra.join(", ")}`);
  };
  const counted = (counts: Counts): string[] => [...counts].map(([key, count]) => `${key} × ${count}`);
  same("products", counted(crm.wanted()), counted(shownProducts(services)));
  const { store } = services;
  const people = crm.people.filter((person) => !person.gone);
  const gone = JSON.stringify(crm.customers.filter((customer) => customer.gone).map(({ id }) => id));
  same(
    "customers",
    crm.customers.flatMap((customer) => (customer.gone ? [] : [customer.name])),
    store
      .prepare<[string], string>(
        `SELECT name FROM customers WHERE is_default = 1
         AND channel_customer_id NOT IN (SELECT value FROM json_each(?))`,
      )
      .pluck()
      // The enterprise of a customer that is gone stays.
      .all(gone),
  );
  same(
    "accounts",
    people.map((person) => `${person.customer} ${loginOf(person)} ${person.name}`),
    store
      .prepare<[string], string>(
        `SELECT customers.channel_customer_id || ' ' || user_name || ' ' || staff.name FROM staff
         JOIN customers ON customers.enterprise_id = staff.enterprise_id AND customers.is_default = 1
         WHERE deleted = 0 AND role = 'added'
         AND customers.channel_customer_id || ' ' || user_name NOT IN (SELECT value FROM json_each(?))`,
      )
      .pluck()
      // The account of somebody who left or moved stays: the policy of it is to be told.
      .all(JSON.stringify(accountsLeft(crm.people))),
  );
  wrong.push(...seatsOtherwise(crm, services));
  const open = services.observation.state().deferred;
  if (open > 0) wrong.push(`${open} calls are still to be applied`);
  return wrong;
}

/** Whether the platform has what is to be removed, and the CRM does not want it. `orders`: the order of each line. */
export function isRemovalWanted(
  { records, kind }: Hold,
  crm: CrmNow,
  services: SimulatedServices,
  orders: ReadonlyMap<string, string>,
): boolean {
  const about: { stream: string; id: string }[] = JSON.parse(records);
  if (kind === "revoke-assets") {
    const otherwise = seatsOtherwise(crm, services).filter((text) => !text.includes("is to hold"));
    return about.some(
      ({ stream, id }) => stream === "staff" && otherwise.some((text) => text.includes(loginOf({ id }))),
    );
  }
  const wanted = crm.wanted();
  const meant = new Set(about.flatMap(({ stream, id }) => (stream === "orders" ? [id] : [])));
  return [...shownProducts(services)].some(
    ([key, count]) => count > (wanted.get(key) ?? 0) && meant.has(orders.get(key.split(" ").at(-1) ?? "") ?? ""),
  );
}
