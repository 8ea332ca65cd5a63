import Database from "better-sqlite3";
import type { Draws } from "../simulation/timeline.ts";
import type { Wished } from "../support/full-check.ts";
import { canary, type CustomerRow, type GivenCustomer, type GivenStaff, type StaffRow } from "../support/world/crm.ts";
import { orderOf, type SmallWorld } from "../support/world/small.ts";

interface Asset {
  id: string;
  type: "cloud_account" | "softkey";
}

interface Order {
  id: string;
  customer: string;
  assets: Asset[];
}

type Person = GivenStaff & Pick<StaffRow, "holds">;

const branches = ["North", "South", "East", "West"];

/**
 * A CRM that keeps changing: seeded edits bring new customers, orders and people, other branches, grants and revokes.
 * Nothing ever leaves it, so that what the platform has to hold can be counted at any time. Its records have the form
 * of the small world.
 */
export class GrowingCrm {
  readonly #draws: Draws;
  readonly #customers: (GivenCustomer & Pick<CustomerRow, "branch">)[] = [];
  readonly #orders: Order[] = [];
  readonly #staff: Person[] = [];
  #made = 0;

  constructor(draws: Draws, customers: number) {
    this.#draws = draws;
    for (let index = 0; index < customers; index += 1) this.#addCustomer();
  }

  #next(letter: string): string {
    this.#made += 1;
    return `${letter}${this.#made}`;
  }

  #addCustomer(): void {
    const id = this.#next("C");
    this.#customers.push({ id, branch: this.#draws.pick(branches) ?? "North" });
    for (let orders = this.#draws.whole(1, 2); orders > 0; orders -= 1) this.#addOrder(id);
    for (let people = this.#draws.whole(2, 3); people > 0; people -= 1) this.#addPerson(id);
  }

  /** Two licence types make two order records in one E5 call. */
  #addOrder(customer: string): void {
    const id = this.#next("O");
    const assets = Array.from({ length: this.#draws.whole(1, 2) }, (): Asset => {
      const type = this.#draws.chance(0.7) ? "cloud_account" : "softkey";
      return { id: this.#next("A"), type };
    });
    this.#orders.push({ id, customer, assets });
  }

  #addPerson(customer: string): void {
    const person: Person = { id: this.#next("S"), customer, holds: [] };
    this.#staff.push(person);
    this.#grant(person);
  }

  /** Somebody gets an asset that nobody holds, where there is one. */
  #grant(person: Person): void {
    const held = new Set(this.#staff.flatMap((item) => item.holds));
    const free = this.#orders
      .filter((order) => order.customer === person.customer)
      .flatMap((order) => order.assets)
      .filter((asset) => !held.has(asset.id));
    const asset = this.#draws.pick(free);
    if (asset !== undefined) person.holds.push(asset.id);
  }

  edit(): void {
    const draws = this.#draws;
    const customer = draws.pick(this.#customers);
    const person = draws.pick(this.#staff);
    if (customer === undefined || person === undefined) return this.#addCustomer();
    switch (draws.whole(0, 9)) {
      case 0:
      case 1:
        return this.#addCustomer();
      case 2:
      case 3:
        return this.#addOrder(customer.id);
      case 4:
        return this.#addPerson(customer.id);
      case 5:
        customer.branch = draws.pick(branches.filter((branch) => branch !== customer.branch)) ?? customer.branch;
        return;
      case 6:
      case 7:
        return this.#grant(person);
      case 8:
        person.holds.splice(0, 1);
        return;
      default: {
        const [moved] = person.holds.splice(0, 1);
        const other = draws.pick(this.#staff.filter((item) => item.customer === person.customer));
        if (moved !== undefined) (other ?? person).holds.push(moved);
      }
    }
  }

  /** The export as it is now. */
  world(): SmallWorld {
    return {
      customers: this.#customers,
      orders: this.#orders.map(({ id, customer, assets }) =>
        orderOf(id, Object.fromEntries(assets.map((asset) => [asset.id, asset.type])), customer),
      ),
      staff: this.#staff,
    };
  }

  wished(): Wished {
    return {
      enterprises: this.#customers.length,
      orders: this.#orders.length,
      products: this.#orders.reduce((sum, order) => sum + order.assets.length, 0),
      addedStaff: this.#staff.length,
      assignments: this.#staff.reduce((sum, person) => sum + person.holds.length, 0),
    };
  }

  /**
   * What the store of a sandbox holds otherwise than this CRM: the branch of each customer, and who holds which
   * product.
   */
  differences(store: string): string[] {
    const database = new Database(store, { readonly: true, timeout: 10_000 });
    try {
      const shown = [
        ...database
          .prepare<[], { line: string }>(
            "SELECT channel_customer_id || ' in ' || branch_name AS line FROM customers WHERE is_default = 1",
          )
          .all(),
        ...database
          .prepare<[], { line: string }>(
            `SELECT crm_product_id || ' with ' || lower(staff.user_name) AS line FROM products
             JOIN assets ON assets.id = asset_id JOIN staff ON staff.id = assets.holder_id WHERE products.removed_by IS NULL`,
          )
          .all(),
      ].map((row) => row.line);
      const wished = [
        ...this.#customers.map(({ id, branch }) => `${id} in ${branch}`),
        ...this.#staff.flatMap(({ id, holds }) =>
          holds.map((asset) => `${asset}-P with ${canary.login}${id.toLowerCase()}`),
        ),
      ];
      return [
        ...shown.filter((line) => !wished.includes(line)).map((line) => `the platform has ${line}, the CRM has not`),
        ...wished.filter((line) => !shown.includes(line)).map((line) => `the CRM has ${line}, the platform has not`),
      ];
    } finally {
      database.close();
    }
  }
}
