import { streams, type Stream } from "../../src/crm/model.ts";
import {
  canary,
  customerRow,
  orderRow,
  staffRow,
  type AssetRow,
  type CustomerRow,
  type OrderRow,
  type StaffRow,
} from "../support/world/crm.ts";
import type { Draws } from "./timeline.ts";

export interface CompanyOrder extends Pick<OrderRow, "id" | "customer" | "cancelled" | "products" | "packages"> {
  assets: Required<Pick<AssetRow, "id" | "type" | "quantity">>[];
  /** It names a product that the order service does not take, until the CRM corrects it. */
  unsellable: boolean;
}

export interface CompanyPerson extends StaffRow {
  /** Left the company; may come back. */
  gone: boolean;
}

/** What a service takes, and what it does not (10004, 13004). */
const goodMobile: string = canary.mobile;
const badMobile = "+4917700700700177007";
export const unsellableProduct = "PID-UNKNOWN";

export interface CompanyRecord {
  id: string;
  broken: boolean;
  nameless: boolean;
  value: CustomerRow | OrderRow | StaffRow;
}

/** The CRM of one seed: what it says now, and the edits that people make between the runs. */
export class Company {
  readonly customers: CustomerRow[] = [];
  readonly orders: CompanyOrder[] = [];
  readonly staff: CompanyPerson[] = [];
  /** Records that cannot be read as they are now. */
  readonly broken = new Set<string>();
  /** Who ever lost an asset in the CRM, as `customer login instance`: only these may lose it on the platform. */
  readonly taken = new Set<string>();
  /** Who ever belonged to a customer, as `customer login`. */
  readonly everStaff = new Set<string>();
  /** Logins that the member-center finds several staff members for (60023), until somebody tidies up there. */
  readonly doubled = new Set<string>();
  /** Rows that cannot be read and do not say either which customer they belong to. */
  readonly nameless = new Set<string>();
  readonly #draws: Draws;
  readonly #hasLocks: boolean;
  readonly #forms = new Map<string, { form: string | undefined; revision: number }>();
  #made = 0;

  /** `hasLocks`: what is not bound to an account is a physical lock. */
  constructor(draws: Draws, hasLocks = false) {
    this.#draws = draws;
    this.#hasLocks = hasLocks;
    const customers = draws.whole(1, 3);
    for (let index = 0; index < customers; index += 1) this.#addCustomer();
    this.#noteChanges();
  }

  #next(): number {
    this.#made += 1;
    return this.#made;
  }

  #addCustomer(): void {
    const number = this.#next();
    const address = this.#draws.chance(0.85) ? `Zqcanary Road ${number}` : null;
    const customer = customerRow({ id: `C${number}`, name: `Zqcanary Works ${number}`, branch: "North", address });
    this.customers.push(customer);
    const orders = this.#draws.whole(0, 2);
    for (let index = 0; index < orders; index += 1) this.#addOrder(customer.id);
    const people = this.#draws.whole(0, 4);
    for (let index = 0; index < people; index += 1) this.#addPerson(customer.id);
  }

  #addOrder(customer: string, unsellable = false): void {
    const order = `O${this.#next()}`;
    const made: CompanyOrder = {
      id: order,
      customer,
      assets: [],
      products: [],
      packages: [],
      cancelled: false,
      unsellable,
    };
    for (let left = this.#draws.whole(1, 3); left > 0; left -= 1) this.#addAsset(made);
    this.orders.push(made);
  }

  /** An asset with products right under it, and packages with a product each; the second hangs under the first. */
  #addAsset({ id: order, assets, packages, products }: CompanyOrder): void {
    const id = `${order}-A${assets.length + 1}`;
    const other = this.#hasLocks ? "normal_recover_usbkey" : "softkey";
    const type = this.#draws.chance(this.#hasLocks ? 0.4 : 0.7) ? "cloud_account" : other;
    assets.push({ id, type, quantity: this.#draws.chance(0.15) ? 2 : 1 });
    for (let left = this.#draws.whole(1, 2), place = 1; place <= left; place += 1)
      products.push({ id: `${id}-P${place}`, parent: id });
    let inside = id;
    for (const [place, chance] of [0.3, 0.5].entries()) {
      if (!this.#draws.chance(chance)) return;
      const parent = inside;
      inside = `${id}-K${place + 1}`;
      packages.push({ id: inside, parent });
      products.push({ id: `${inside}-P1`, parent: inside });
    }
  }

  #addPerson(customer: string, mobile = goodMobile): CompanyPerson {
    const number = this.#next();
    const login = `zqcanary${number}`;
    const row = staffRow({ id: `S${number}`, customer, login, name: `${canary.person} ${number}`, mobile });
    const person: CompanyPerson = { ...row, gone: false };
    this.staff.push(person);
    this.everStaff.add(`${customer} ${person.login}`);
    for (const free of this.#free(customer)) if (this.#draws.chance(0.4)) person.holds.push(free);
    return person;
  }

  /** Instances of a customer's orders that nobody claims, of one number each. */
  #free(customer: string): string[] {
    const claimed = new Set(this.staff.filter((person) => !person.gone).flatMap((person) => person.holds));
    return this.orders
      .filter((order) => order.customer === customer && !order.cancelled)
      .flatMap((order) => order.assets)
      .filter((asset) => asset.quantity === 1 && !claimed.has(asset.id))
      .map((asset) => asset.id);
  }

  #take(person: CompanyPerson, instance: string): void {
    person.holds = person.holds.filter((item) => item !== instance);
    this.taken.add(`${person.customer} ${person.login} ${instance}`);
  }

  /** One thing that somebody changes in the CRM. Gives its name, or undefined where the drawn one does not apply. */
  edit(): string | undefined {
    const what = this.#edit();
    this.#noteChanges();
    return what;
  }

  /** How often a record was changed, left or came back. */
  revision(key: string): number {
    return this.#forms.get(key)?.revision ?? 0;
  }

  #noteChanges(): void {
    const forms = new Map<string, string>();
    for (const stream of streams)
      for (const row of this.records(stream))
        forms.set(`${stream} ${row.id}`, JSON.stringify([row.value, row.broken, row.nameless]));
    for (const key of new Set([...forms.keys(), ...this.#forms.keys()])) {
      const before = this.#forms.get(key);
      const form = forms.get(key);
      if (before === undefined || before.form !== form)
        this.#forms.set(key, { form, revision: (before?.revision ?? 0) + 1 });
    }
  }

  #edit(): string | undefined {
    const draws = this.#draws;
    const customer = draws.pick(this.customers);
    const present = this.staff.filter((person) => !person.gone);
    const person = draws.pick(present);
    if (customer === undefined) return undefined;
    switch (draws.whole(0, 17)) {
      case 0:
        this.#addOrder(customer.id);
        return `new order for ${customer.id}`;
      case 1:
        customer.name = `Zqcanary Works ${this.#next()}`;
        return `name of ${customer.id}`;
      case 2:
        customer.address = `Zqcanary Road ${this.#next()}`;
        return `address of ${customer.id}`;
      case 3:
      case 4: {
        if (person === undefined) return undefined;
        const free = draws.pick(this.#free(person.customer));
        if (free === undefined) return undefined;
        person.holds.push(free);
        return `${free} given to ${person.id}`;
      }
      case 5: {
        const instance = person === undefined ? undefined : draws.pick(person.holds);
        if (person === undefined || instance === undefined) return undefined;
        this.#take(person, instance);
        return `${instance} taken from ${person.id}`;
      }
      case 6: {
        const instance = person === undefined ? undefined : draws.pick(person.holds);
        if (person === undefined || instance === undefined) return undefined;
        const other = draws.pick(present.filter((item) => item.customer === person.customer && item !== person));
        if (other === undefined) return undefined;
        this.#take(person, instance);
        other.holds.push(instance);
        return `${instance} from ${person.id} to ${other.id}`;
      }
      case 7:
        if (person === undefined) return undefined;
        for (const instance of person.holds) this.taken.add(`${person.customer} ${person.login} ${instance}`);
        person.gone = true;
        return `${person.id} gone`;
      case 8: {
        const gone = draws.pick(this.staff.filter((item) => item.gone));
        if (gone === undefined) return undefined;
        const free = new Set(this.#free(gone.customer));
        gone.holds = gone.holds.filter((instance) => free.has(instance));
        gone.gone = false;
        return `${gone.id} back`;
      }
      case 9: {
        const other = draws.pick(this.customers.filter((item) => item.id !== person?.customer));
        if (person === undefined || other === undefined) return undefined;
        for (const instance of person.holds) this.#take(person, instance);
        person.customer = other.id;
        this.everStaff.add(`${other.id} ${person.login}`);
        const free = draws.pick(this.#free(other.id));
        if (free !== undefined) person.holds.push(free);
        return `${person.id} moved to ${other.id}`;
      }
      case 10: {
        const keys = [...this.#keys()].filter((key) => !this.broken.has(key));
        const key = draws.pick(keys);
        if (key === undefined) return undefined;
        this.broken.add(key);
        if (draws.chance(0.3)) this.nameless.add(key);
        return `${key} broken`;
      }
      case 11: {
        const key = draws.pick([...this.broken]);
        if (key === undefined) return undefined;
        this.broken.delete(key);
        this.nameless.delete(key);
        return `${key} mended`;
      }
      case 12: {
        const order = draws.pick(this.orders.filter((item) => !item.cancelled));
        if (order === undefined) return undefined;
        order.cancelled = true;
        for (const holder of this.staff)
          for (const asset of order.assets) if (holder.holds.includes(asset.id)) this.#take(holder, asset.id);
        return `${order.id} cancelled`;
      }
      case 13:
        this.#addPerson(customer.id, badMobile);
        return `somebody new at ${customer.id} with a bad mobile`;
      case 14:
        this.#addOrder(customer.id, true);
        return `new order for ${customer.id} that is refused`;
      case 15: {
        const fresh = this.#addPerson(customer.id);
        this.doubled.add(fresh.login);
        return `${fresh.id}, new at ${customer.id}, is doubled`;
      }
      case 16: {
        const wrong = draws.pick(present.filter((item) => item.mobile !== goodMobile));
        const order = draws.pick(this.orders.filter((item) => item.unsellable));
        if (wrong !== undefined) wrong.mobile = goodMobile;
        else if (order !== undefined) order.unsellable = false;
        else return undefined;
        return `${wrong?.id ?? order?.id ?? ""} corrected`;
      }
      default:
        if (draws.chance(0.3)) this.#addCustomer();
        else this.#addPerson(customer.id);
        return "somebody new";
    }
  }

  *#keys(): Generator<string> {
    for (const customer of this.customers) yield `customers ${customer.id}`;
    for (const order of this.orders) yield `orders ${order.id}`;
    for (const person of this.staff) yield `staff ${person.id}`;
  }

  /** Whether a service refuses something as it stands in the CRM now. */
  get hasRefused(): boolean {
    const people = this.staff.filter((person) => !person.gone);
    return (
      people.some((person) => person.mobile !== goodMobile || this.doubled.has(person.login)) ||
      this.orders.some((order) => order.unsellable && !order.cancelled)
    );
  }

  /** Whether a service refuses what this record asks for, for the record's own sake. */
  isRefused(stream: Stream, id: string): boolean {
    if (stream === "orders") return this.orders.some((order) => order.id === id && order.unsellable);
    const person = stream === "staff" ? this.staff.find((item) => item.id === id) : undefined;
    return person !== undefined && (person.mobile !== goodMobile || this.doubled.has(person.login));
  }

  /**
   * Whether a record cannot be done because of what a service refuses: its own, or what it needs or what its holder
   * keeps. `lastRead` says what somebody held when that could be read last.
   */
  needsRefused(stream: Stream, id: string, lastRead: (login: string) => readonly string[]): boolean {
    if (this.isRefused(stream, id)) return true;
    if (stream === "orders") return this.orders.some((order) => order.id === id && order.cancelled);
    const person = stream === "staff" ? this.staff.find((item) => item.id === id) : undefined;
    if (person === undefined) return false;
    const isDoubled = this.staff.some(
      (item) => this.doubled.has(item.login) && this.everStaff.has(`${person.customer} ${item.login}`),
    );
    const unsellable = this.orders.filter((order) => order.unsellable).flatMap((order) => order.assets);
    // Somebody who is gone keeps what was held until that is believed.
    const gone = this.staff.filter((item) => item.gone).flatMap((item) => [...item.holds, ...lastRead(item.login)]);
    return (
      (isDoubled && person.holds.length > 0) ||
      unsellable.some((asset) => person.holds.includes(asset.id)) ||
      gone.some((asset) => person.holds.includes(asset))
    );
  }

  /** Every record can be read, and every customer can be ordered for. */
  mendReading(): void {
    this.broken.clear();
    this.nameless.clear();
    for (const customer of this.customers) customer.address ??= `Zqcanary Road ${this.#next()}`;
    this.#noteChanges();
  }

  /** Everything is in order at last: nothing is broken or refused any more. */
  mend(): void {
    this.doubled.clear();
    for (const person of this.staff) person.mobile = goodMobile;
    for (const order of this.orders) order.unsellable = false;
    this.mendReading();
  }

  /** The records of a stream as its source gives them. */
  records(stream: Stream): CompanyRecord[] {
    const rows =
      stream === "customers"
        ? this.customers.map((customer) => ({ id: customer.id, value: customer }))
        : stream === "orders"
          ? this.orders.map((order) => ({ id: order.id, value: asExported(order) }))
          : this.staff.filter((person) => !person.gone).map((person) => ({ id: person.id, value: staffRow(person) }));
    return rows.map((row) => {
      const key = `${stream} ${row.id}`;
      return { ...row, broken: this.broken.has(key), nameless: this.nameless.has(key) };
    });
  }
}

function asExported({ unsellable, products, ...order }: CompanyOrder): OrderRow {
  const sold = unsellable ? products.map((product) => ({ ...product, pid: unsellableProduct })) : products;
  return orderRow({ ...order, products: sold });
}
