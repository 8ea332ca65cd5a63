import { streams } from "../../src/crm/model.ts";
import type { Stream } from "../../src/crm/model.ts";
import type { Draws } from "./timeline.ts";

/** One asset of an order: its licence type, products right under it, and packages with products of their own. */
export interface CompanyAsset {
  id: string;
  licenseType: "cloud_account" | "softkey";
  quantity: number;
  products: string[];
  /** Packages by id, each with its products; the second hangs under the first. */
  packages: { id: string; parent: string; products: string[] }[];
}

export interface CompanyOrder {
  id: string;
  customer: string;
  assets: CompanyAsset[];
  cancelled: boolean;
  /** It names a product that the order service does not take, until the CRM corrects it. */
  unsellable: boolean;
}

export interface CompanyCustomer {
  id: string;
  name: string;
  branch: string;
  address: string | undefined;
}

export interface CompanyPerson {
  id: string;
  customer: string;
  login: string;
  name: string;
  /** Asset instances that this person should hold. */
  assets: string[];
  mobile: string;
  /** Left the company; may come back. */
  gone: boolean;
}

/** What a service takes, and what it does not (10004, 13004). */
const goodMobile = "+4917700700700";
const badMobile = "+4917700700700177007";
export const unsellableProduct = "PID-UNKNOWN";

/** What stands for personal data: all of it begins like this, and none of it may be seen outside the private table. */
export const canary = /zqcanary/iu;

export interface CompanyRecord {
  id: string;
  broken: boolean;
  nameless: boolean;
  value: object;
}

/** The CRM of one seed: what it says now, and the edits that people make between the runs. */
export class Company {
  readonly customers: CompanyCustomer[] = [];
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
  readonly #forms = new Map<string, { form: string | undefined; revision: number }>();
  #made = 0;

  constructor(draws: Draws) {
    this.#draws = draws;
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
    const customer: CompanyCustomer = {
      id: `C${number}`,
      name: `Zqcanary Works ${number}`,
      branch: "North",
      address: this.#draws.chance(0.85) ? `Zqcanary Road ${number}` : undefined,
    };
    this.customers.push(customer);
    const orders = this.#draws.whole(0, 2);
    for (let index = 0; index < orders; index += 1) this.#addOrder(customer.id);
    const people = this.#draws.whole(0, 4);
    for (let index = 0; index < people; index += 1) this.#addPerson(customer.id);
  }

  #addOrder(customer: string, unsellable = false): void {
    const order = `O${this.#next()}`;
    const assets = Array.from({ length: this.#draws.whole(1, 3) }, (_, index): CompanyAsset => {
      const id = `${order}-A${index + 1}`;
      const asset: CompanyAsset = {
        id,
        licenseType: this.#draws.chance(0.7) ? "cloud_account" : "softkey",
        quantity: this.#draws.chance(0.15) ? 2 : 1,
        products: Array.from({ length: this.#draws.whole(1, 2) }, (_product, place) => `${id}-P${place + 1}`),
        packages: [],
      };
      if (this.#draws.chance(0.3)) asset.packages.push({ id: `${id}-K1`, parent: id, products: [`${id}-K1-P1`] });
      if (asset.packages.length > 0 && this.#draws.chance(0.5))
        asset.packages.push({ id: `${id}-K2`, parent: `${id}-K1`, products: [`${id}-K2-P1`] });
      return asset;
    });
    this.orders.push({ id: order, customer, assets, cancelled: false, unsellable });
  }

  #addPerson(customer: string, mobile = goodMobile): CompanyPerson {
    const number = this.#next();
    const person: CompanyPerson = {
      id: `S${number}`,
      customer,
      login: `zqcanary${number}`,
      name: `Zqcanary Person ${number}`,
      assets: [],
      mobile,
      gone: false,
    };
    this.staff.push(person);
    this.everStaff.add(`${customer} ${person.login}`);
    for (const free of this.#free(customer)) if (this.#draws.chance(0.4)) person.assets.push(free);
    return person;
  }

  /** Instances of a customer's orders that nobody claims, of one number each. */
  #free(customer: string): string[] {
    const claimed = new Set(this.staff.filter((person) => !person.gone).flatMap((person) => person.assets));
    return this.orders
      .filter((order) => order.customer === customer && !order.cancelled)
      .flatMap((order) => order.assets)
      .filter((asset) => asset.quantity === 1 && !claimed.has(asset.id))
      .map((asset) => asset.id);
  }

  #take(person: CompanyPerson, instance: string): void {
    person.assets = person.assets.filter((item) => item !== instance);
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
        person.assets.push(free);
        return `${free} given to ${person.id}`;
      }
      case 5: {
        const instance = person === undefined ? undefined : draws.pick(person.assets);
        if (person === undefined || instance === undefined) return undefined;
        this.#take(person, instance);
        return `${instance} taken from ${person.id}`;
      }
      case 6: {
        const instance = person === undefined ? undefined : draws.pick(person.assets);
        if (person === undefined || instance === undefined) return undefined;
        const other = draws.pick(present.filter((item) => item.customer === person.customer && item !== person));
        if (other === undefined) return undefined;
        this.#take(person, instance);
        other.assets.push(instance);
        return `${instance} from ${person.id} to ${other.id}`;
      }
      case 7:
        if (person === undefined) return undefined;
        for (const instance of person.assets) this.taken.add(`${person.customer} ${person.login} ${instance}`);
        person.gone = true;
        return `${person.id} gone`;
      case 8: {
        const gone = draws.pick(this.staff.filter((item) => item.gone));
        if (gone === undefined) return undefined;
        const free = new Set(this.#free(gone.customer));
        gone.assets = gone.assets.filter((instance) => free.has(instance));
        gone.gone = false;
        return `${gone.id} back`;
      }
      case 9: {
        const other = draws.pick(this.customers.filter((item) => item.id !== person?.customer));
        if (person === undefined || other === undefined) return undefined;
        for (const instance of person.assets) this.#take(person, instance);
        person.customer = other.id;
        this.everStaff.add(`${other.id} ${person.login}`);
        const free = draws.pick(this.#free(other.id));
        if (free !== undefined) person.assets.push(free);
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
          for (const asset of order.assets) if (holder.assets.includes(asset.id)) this.#take(holder, asset.id);
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
    const gone = this.staff.filter((item) => item.gone).flatMap((item) => [...item.assets, ...lastRead(item.login)]);
    return (
      (isDoubled && person.assets.length > 0) ||
      unsellable.some((asset) => person.assets.includes(asset.id)) ||
      gone.some((asset) => person.assets.includes(asset))
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
        ? this.customers.map((customer) => ({ id: customer.id, value: customerRecord(customer) }))
        : stream === "orders"
          ? this.orders.map((order) => ({ id: order.id, value: orderRecord(order) }))
          : this.staff
              .filter((person) => !person.gone)
              .map((person) => ({ id: person.id, value: staffRecord(person) }));
    return rows.map((row) => {
      const key = `${stream} ${row.id}`;
      return { ...row, broken: this.broken.has(key), nameless: this.nameless.has(key) };
    });
  }
}

function customerRecord(customer: CompanyCustomer): object {
  return {
    id: customer.id,
    name: customer.name,
    customerType: "company",
    branchCode: "N1",
    branchName: customer.branch,
    address: customer.address,
    adminName: `Zqcanary Admin ${customer.id}`,
    adminAccount: "zqcanaryadmin",
    adminEmail: "zqcanary@example.com",
    adminMobile: "+4917700700700",
    purchaserMobile: "+4917700700700",
  };
}

function orderRecord(order: CompanyOrder): object {
  const product = (id: string, parentId: string): object => ({
    kind: "product",
    id,
    parentId,
    name: `Product ${id}`,
    gmsPid: order.unsellable ? unsellableProduct : "PID-1",
    type: "tool",
    nodes: 3,
    timeUnit: "YEAR",
    timeUnitQuantity: 1,
    term: "1-0-0",
    features: [],
  });
  return {
    id: order.id,
    customerId: order.customer,
    cancelled: order.cancelled,
    placedAt: "2026-03-01T08:00:00Z",
    instances: order.assets.flatMap((asset) => [
      { kind: "asset", id: asset.id, licenseType: asset.licenseType, quantity: asset.quantity },
      ...asset.products.map((id) => product(id, asset.id)),
      ...asset.packages.flatMap((item) => [
        { kind: "package", id: item.id, parentId: item.parent, number: item.id, name: item.id, term: "1-0-0" },
        ...item.products.map((id) => product(id, item.id)),
      ]),
    ]),
  };
}

function staffRecord(person: CompanyPerson): object {
  return {
    id: person.id,
    customerId: person.customer,
    userName: person.login,
    name: person.name,
    mobile: person.mobile,
    assets: person.assets.map((instanceId) => ({ instanceId })),
  };
}
