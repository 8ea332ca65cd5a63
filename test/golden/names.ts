import type { Call } from "./recorder.ts";
import { elements, member, text, type Json } from "./operations.ts";

/**
 * Names for what the services number: `enterprise(C1)`, `person(C1/anna)`, `number(A1)`. They come from what a number
 * stands for, so they are the same in each recording, in whatever order customers were served.
 */
export interface Names {
  /** Name by number. */
  readonly of: ReadonlyMap<string, string>;
  /** The customer that a call is about, by its number in the CRM; `nobody` where it is about none. */
  customerOf: (call: Call) => string;
}

export function learnNames(calls: readonly Call[]): Names {
  const names = new Map<string, string>();
  const customers = new Map<string, string>();
  const learned = { names, customers, suffixes: new Map<string, string>(), ours: new Set<string>(), bought: new Map() };
  for (const call of calls) learnEnterprise(learned, call);
  for (const call of calls) if (call.operation === "E9") for (const one of data(call)) learned.ours.add(text(one));
  for (const call of calls) learnPeople(learned, call);
  for (const call of calls) learnOrder(learned, call);
  nameNumbers(learned);
  for (const call of calls) learnAssets(learned, call);
  return { of: names, customerOf: (call) => customerOf(customers, call) };
}

interface Learned {
  names: Map<string, string>;
  /** Customer by the number of an enterprise, person, asset. */
  customers: Map<string, string>;
  /** What the member-center adds to a user name, by enterprise. */
  suffixes: Map<string, string>;
  /** Numbers that E9 gave. */
  ours: Set<string>;
  /** What was first bought under each of them, and by which channel order number. */
  bought: Map<string, { what: string; order: string }>;
}

function put(map: Map<string, string>, key: Json, value: string): void {
  if (typeof key === "string" && key !== "" && !map.has(key)) map.set(key, value);
}

const data = (call: Call): Json[] => elements(member(call.answer, "data"));

function learnEnterprise({ names, customers }: Learned, call: Call): void {
  const { operation, body, answer, query } = call;
  if (operation === "E2") {
    const customer = text(member(body, "crmCustomerId"));
    const id = member(answer, "data", "enterpriseGlobalId");
    put(names, id, `enterprise(${customer})`);
    put(customers, id, customer);
    for (const one of elements(member(answer, "data", "members"))) {
      const person = member(one, "memberGlobalId");
      put(names, person, `member(${customer}/${text(member(one, "memberIdentity"))})`);
      put(customers, person, customer);
    }
  }
  const rows = operation === "E3" ? data(call) : operation === "E1" ? [member(answer, "data")] : [];
  for (const [index, row] of rows.entries()) {
    const customer = query.get("channelCustomerId") ?? text(member(body, "channelCustomerId"));
    put(names, member(row, "customerId"), `customer(${customer}${index === 0 ? "" : `#${index + 1}`})`);
    put(names, member(row, "enterpriseGlobalId"), `enterprise(${customer})`);
    put(customers, member(row, "enterpriseGlobalId"), customer);
  }
}

function learnPeople({ names, customers, suffixes }: Learned, call: Call): void {
  const enterprise = call.names["enterprise"] ?? "";
  const customer = customers.get(enterprise) ?? "?";
  const added = call.operation === "M1" ? elements(member(call.answer, "data", "succeeded")) : [];
  const sent = call.operation === "M1" ? elements(member(call.body, "userList")) : [];
  for (const row of added) {
    const whole = text(member(row, "userName"));
    const bare = sent.map((one) => text(member(one, "userName"))).find((name) => whole.startsWith(name));
    if (bare !== undefined && !suffixes.has(enterprise)) suffixes.set(enterprise, whole.slice(bare.length));
  }
  const listed = call.operation === "M5" ? elements(member(call.answer, "data", "list")) : [];
  for (const row of [...added, ...listed]) {
    const whole = text(member(row, "userName"));
    const suffix = suffixes.get(enterprise) ?? "";
    const bare = suffix !== "" && whole.endsWith(suffix) ? whole.slice(0, -suffix.length) : whole;
    put(names, member(row, "globalId"), `person(${customer}/${bare})`);
    put(customers, member(row, "globalId"), customer);
    if (bare !== whole) put(names, whole, `${bare}@${customer}`);
  }
}

function learnOrder({ names, customers, ours, bought }: Learned, call: Call): void {
  if (call.operation !== "E5") return;
  const orderId = text(member(call.body, "channelOrderId"));
  for (const order of elements(member(call.body, "orderList"))) {
    const customer = text(member(order, "channelCustomerId"));
    for (const [place, asset] of elements(member(order, "assets")).entries()) {
      const [product] = [...elements(member(asset, "products")), ...elements(member(asset, "merchandises"))];
      const parent = text(member(product ?? null, "parentCrmProductId")) || `${orderId}-${place + 1}`;
      for (const [index, number] of elements(member(asset, "assetNos")).entries()) {
        if (ours.has(text(number)) && !bought.has(text(number)))
          bought.set(text(number), { what: `${parent}${index === 0 ? "" : `#${index + 1}`}`, order: orderId });
        put(customers, number, customer);
      }
    }
  }
  for (const one of data(call)) {
    const sequence = JSON.stringify(member(one, "sequence"));
    put(names, member(one, "licenseOrderId"), `licence(${orderId}${sequence === "1" ? "" : `#${sequence}`})`);
  }
}

/** `number(A1)`; where one instance got several numbers, each with the order that brought it: `number(A1/O1-2)`. */
function nameNumbers({ names, bought }: Learned): void {
  for (const [what, all] of Map.groupBy(bought, ([, { what }]) => what))
    for (const [number, { order }] of all)
      put(names, number, `number(${all.length === 1 ? what : `${what}/${order}`})`);
}

function learnAssets({ names, customers }: Learned, call: Call): void {
  const { operation } = call;
  if (operation !== "M6" && operation !== "E8" && operation !== "M8") return;
  for (const row of data(call)) {
    const number = text(member(row, "assetNum"));
    const id = member(row, operation === "E8" ? "id" : "assetId");
    put(names, id, `asset(${(names.get(number) ?? number).replace(/^number\((.*)\)$/u, "$1")})`);
    put(customers, id, customers.get(call.names["enterprise"] ?? "") ?? "?");
  }
}

function customerOf(customers: ReadonlyMap<string, string>, { operation, body, names, query }: Call): string {
  const byPath = names["enterprise"] ?? names["member"] ?? names["asset"];
  if (byPath !== undefined) return customers.get(byPath) ?? "?";
  if (operation === "E3") return query.get("channelCustomerId") ?? "?";
  if (operation === "E1") return text(member(body, "channelCustomerId"));
  if (operation === "E2" || operation === "E4") return text(member(body, "crmCustomerId"));
  if (operation === "E5") return text(member(elements(member(body, "orderList"))[0] ?? null, "channelCustomerId"));
  const [number] = elements(member(body, "assetNums"));
  return number === undefined ? "nobody" : (customers.get(text(number)) ?? "?");
}
