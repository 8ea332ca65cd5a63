import type { Dice } from "./dice.ts";
import type { MadeCustomer } from "./customers.ts";
import { limitsOf, makeProduct, pickTerm, unlimited } from "./products.ts";
import type { MadeProduct, Term } from "./products.ts";

/** A row of order-lines.csv, by column; what is left out is empty. */
export type Line = Partial<Record<(typeof lineColumns)[number], string>>;

export const lineColumns = [
  "orderNo",
  "kind",
  "instance",
  "parent",
  "number",
  "parentNumber",
  "name",
  "licenceType",
  "quantity",
  "assetNumbers",
  "borrowed",
  "gmsPid",
  "appKey",
  "productType",
  "nodes",
  "validFrom",
  "validTo",
  "unit",
  "units",
  "term",
  "usageHours",
  "trialUntil",
  "licencePassword",
  "value",
  "valueType",
  "amount",
] as const;

/**
 * An asset number that one employee of the customer may hold: by the number that the CRM knows, or by the instance that
 * gets one.
 */
export interface Seat {
  system: "crm" | "portal";
  customer: MadeCustomer;
  claim: { number: string } | { instance: string };
}

/** An order of the CRM with its lines. */
export interface CrmOrder {
  orderNo: string;
  customerNo: string;
  /** Local time in Berlin, `dd.MM.yyyy HH:mm`. */
  placedAt: string;
  status: "open" | "delivered" | "cancelled";
  cents: number;
  lines: Line[];
  seats: Seat[];
}

/** An amount as a German CRM prints it: `1.234,50`. */
export function germanAmount(cents: number): string {
  const whole = String(Math.floor(cents / 100)).replaceAll(/\B(?=(\d{3})+$)/g, ".");
  return `${whole},${String(cents % 100).padStart(2, "0")}`;
}

/** What companies order, by how often. */
const kinds = ["team", "team", "team", "suite", "suite", "locks", "mixed", "network", "certificate", "large"] as const;

export type OrderKind = (typeof kinds)[number] | "personal";

/** Hands out ids and builds the lines of one order after the other. */
export class CrmOrderBook {
  readonly #dice: Dice;
  #instances = 0;
  #locks = 0;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  /** An order of a kind, or of one that fits the customer. */
  make(number: number, customer: MadeCustomer, wanted?: OrderKind): CrmOrder {
    const dice = this.#dice;
    const start = Temporal.PlainDate.from("2026-01-05").add({ months: dice.below(10), days: dice.below(20) });
    const order: CrmOrder = {
      orderNo: `SO-${number}`,
      customerNo: customer.id,
      placedAt:
        `${this.#two(start.day)}.${this.#two(start.month)}.${start.year} ` +
        `${this.#two(8 + dice.below(10))}:${this.#two(dice.below(60))}`,
      status: dice.chance(0.8) ? "delivered" : "open",
      cents: 0,
      lines: [],
      seats: [],
    };
    const kind = wanted ?? (customer.person ? "personal" : dice.pick(kinds));
    switch (kind) {
      case "personal":
        this.#cloud(order, customer, start, "cloud_personal", 1);
        break;
      case "team":
        this.#cloud(order, customer, start, "cloud_account", 1 + dice.below(4));
        break;
      case "suite":
        this.#suite(order, customer, start);
        break;
      case "locks":
        this.#locksWithNumbers(order, customer, start, "normal_recover_usbkey", 1 + dice.below(2));
        break;
      case "mixed":
        this.#cloud(order, customer, start, "cloud_account", 2);
        this.#locksWithNumbers(order, customer, start, "normal_recover_usbkey", 1);
        break;
      case "network":
        this.#network(order, start);
        break;
      case "certificate":
        this.#plainAsset(order, start, dice.pick(["softkey", "lan_softkey", "identity_usbkey"]));
        break;
      case "large":
        this.#large(order, start);
        break;
    }
    return order;
  }

  nextInstance(letter: "A" | "K" | "P"): string {
    this.#instances += 1;
    return `${letter}-${100_000 + this.#instances}`;
  }

  #two(value: number): string {
    return String(value).padStart(2, "0");
  }

  #asset(order: CrmOrder, licenceType: string, quantity: number, more: Line = {}): string {
    const instance = this.nextInstance("A");
    order.lines.push({
      orderNo: order.orderNo,
      kind: "asset",
      instance,
      licenceType,
      quantity: String(quantity),
      ...more,
    });
    return instance;
  }

  #package(order: CrmOrder, parent: string, number: string, name: string, parentNumber: string, term: Term): string {
    const instance = this.nextInstance("K");
    order.lines.push({
      orderNo: order.orderNo,
      kind: "package",
      instance,
      parent,
      number,
      parentNumber,
      name,
      term: term.term,
    });
    return instance;
  }

  /** A product line and a line for each of its features. */
  #product(order: CrmOrder, parent: string, product: MadeProduct): void {
    const { orderNo } = order;
    order.cents += product.cents;
    order.lines.push({
      orderNo,
      kind: "product",
      instance: product.id,
      parent,
      name: product.name,
      ...(product.gmsPid === undefined ? {} : { gmsPid: product.gmsPid }),
      ...(product.appKey === undefined ? {} : { appKey: product.appKey }),
      productType: product.type,
      nodes: String(product.nodes),
      ...(product.from === undefined ? {} : { validFrom: product.from }),
      ...(product.to === undefined ? {} : { validTo: product.to }),
      unit: product.unit,
      units: String(product.units),
      term: product.term,
      ...(product.usageHours === undefined ? {} : { usageHours: String(product.usageHours) }),
      ...(product.trialUntil === undefined ? {} : { trialUntil: product.trialUntil }),
      ...(product.passwords?.[0] === undefined ? {} : { licencePassword: product.passwords[0] }),
      amount: germanAmount(product.cents),
    });
    for (const feature of product.features) {
      order.lines.push({
        orderNo,
        kind: "feature",
        parent: product.id,
        number: feature.code,
        name: feature.name,
        value: feature.value,
        valueType: feature.valueType,
        ...(feature.trialUntil === undefined ? {} : { trialUntil: feature.trialUntil }),
      });
    }
  }

  #extension(order: CrmOrder, parent: string, number: string, value: string): void {
    order.lines.push({ orderNo: order.orderNo, kind: "extension", parent, number, value });
  }

  #cloud(
    order: CrmOrder,
    customer: MadeCustomer,
    start: Temporal.PlainDate,
    licenceType: string,
    quantity: number,
  ): string {
    const dice = this.#dice;
    const term = pickTerm(dice);
    const asset = this.#asset(order, licenceType, quantity);
    if (dice.chance(0.4)) this.#extension(order, asset, "region", customer.region.space === "" ? "APAC" : "EMEA");
    for (let count = 1 + dice.below(3); count > 0; count -= 1) {
      const webApp = dice.chance(0.25);
      const product = makeProduct(dice, this.nextInstance("P"), { start, term, nodes: 1, webApp });
      if (dice.chance(0.15)) product.trialUntil = start.add({ days: 30 }).toString();
      if (dice.chance(0.1)) product.usageHours = 500;
      const [feature] = product.features;
      if (feature !== undefined && dice.chance(0.2)) feature.trialUntil = start.add({ days: 14 }).toString();
      this.#product(order, asset, product);
    }
    for (let seat = 0; seat < quantity; seat += 1)
      order.seats.push({ system: "crm", customer, claim: { instance: asset } });
    return asset;
  }

  /** Packages three levels deep beside one product of the asset itself. */
  #suite(order: CrmOrder, customer: MadeCustomer, start: Temporal.PlainDate): void {
    const dice = this.#dice;
    const term = pickTerm(dice);
    const asset = this.#cloud(
      order,
      customer,
      start,
      dice.pick(["cloud_account", "cloud_customer"]),
      1 + dice.below(2),
    );
    const product = (): MadeProduct =>
      makeProduct(dice, this.nextInstance("P"), { start, term, nodes: 1 + dice.below(5) });
    const suite = this.#package(order, asset, "PK-100", "Office Suite", "", term);
    this.#product(order, suite, product());
    const design = this.#package(order, suite, "PK-110", "Design Bundle", "PK-100", term);
    for (let count = 1 + dice.below(2); count > 0; count -= 1) this.#product(order, design, product());
    const details = this.#package(order, design, "PK-111", "Details Module", "PK-110", term);
    this.#product(order, details, product());
    if (!dice.chance(0.5)) return;
    const costs = this.#package(order, suite, "PK-120", "Cost Bundle", "PK-100", term);
    this.#product(order, costs, product());
  }

  /** Locks whose numbers the CRM knows. They hold a licence password and have no end. */
  #locksWithNumbers(
    order: CrmOrder,
    customer: MadeCustomer,
    start: Temporal.PlainDate,
    licenceType: string,
    quantity: number,
  ): void {
    const dice = this.#dice;
    const numbers = Array.from({ length: quantity }, () => {
      this.#locks += 1;
      return `89${String(this.#locks).padStart(8, "0")}`;
    });
    const asset = this.#asset(order, licenceType, quantity, { assetNumbers: numbers.join(";") });
    const product = makeProduct(dice, this.nextInstance("P"), { start, term: unlimited, nodes: 1 });
    product.passwords = [`sample-${numbers.join("-")}`];
    this.#product(order, asset, product);
    for (const number of numbers) order.seats.push({ system: "crm", customer, claim: { number } });
  }

  #network(order: CrmOrder, start: Temporal.PlainDate): void {
    const dice = this.#dice;
    const asset = this.#asset(order, dice.pick(["normal_recover_lan_usbkey", "normal_unrecover_lan_usbkey"]), 1);
    for (let count = 1 + dice.below(2); count > 0; count -= 1) {
      this.#product(
        order,
        asset,
        makeProduct(dice, this.nextInstance("P"), { start, term: unlimited, nodes: 10 + dice.below(40) }),
      );
    }
  }

  #plainAsset(order: CrmOrder, start: Temporal.PlainDate, licenceType: string): void {
    const asset = this.#asset(order, licenceType, 1);
    this.#product(
      order,
      asset,
      makeProduct(this.#dice, this.nextInstance("P"), { start, term: pickTerm(this.#dice), nodes: 1 }),
    );
  }

  /** A large customer: a login lock and two product locks with limits of their own, one of them for lending. */
  #large(order: CrmOrder, start: Temporal.PlainDate): void {
    const dice = this.#dice;
    const term = pickTerm(dice);
    const { from, to } = limitsOf(start, term);
    const login = this.#asset(order, "lk_auth_usbkey", 1, { validFrom: from, validTo: to });
    this.#product(order, login, makeProduct(dice, this.nextInstance("P"), { start, term, nodes: 1 }));
    for (const borrowed of ["no", "yes"]) {
      const asset = this.#asset(order, "lk_product_usbkey", 1, { validFrom: from, validTo: to, borrowed });
      this.#extension(order, asset, "gxxp", "1");
      this.#product(
        order,
        asset,
        makeProduct(dice, this.nextInstance("P"), { start, term, nodes: 5 + dice.below(20) }),
      );
    }
  }
}
