import { hashOf, toJson } from "../base/canonical-json.ts";
import type { Json } from "../base/canonical-json.ts";
import { handedIn } from "../engine/registry.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordState } from "../operation/desired.ts";
import type { PlacedOrder } from "../operation/state/placed-orders.ts";
import type { AssetReading } from "../platform/snapshot.ts";
import type { CustomerInput, LoadedCustomer } from "./input.ts";

/** What a plan of one customer was made from: each fact by its name, as a hash. */
export type Facts = Readonly<Record<string, string>>;

/** The facts of a customer: what the CRM says, what is known, and what M7 showed of the assets it was read for. */
export function factsOf(input: LoadedCustomer & Partial<Pick<CustomerInput, "observed">>): Facts {
  const { desiredCustomer, known, observed } = input;
  const facts: [name: string, fact: Json][] = [];
  if (desiredCustomer !== undefined) facts.push(["customer", recordFact(desiredCustomer)]);
  for (const order of input.orders) facts.push([`order ${formatKey(order.key)}`, recordFact(order)]);
  for (const person of input.staff) facts.push([`staff ${formatKey(person.key)}`, recordFact(person)]);
  if (known.link !== undefined) facts.push(["enterprise", known.link.enterpriseGlobalId]);
  if (known.acknowledged !== undefined) facts.push(["acknowledged", toJson(known.acknowledged)]);
  for (const [key, placed] of known.placedOrders) facts.push([`standing ${key}`, standingFact(placed)]);
  for (const { name, state } of handedIn().resources)
    for (const [id, fact] of state?.facts.of(known) ?? []) facts.push([`${name} ${id}`, fact]);
  for (const [key, link] of known.staffLinks) facts.push([`link ${key}`, link.memberGlobalId]);
  for (const { of, about, wanted, askedAt } of known.requests)
    facts.push([`request ${of} ${about}`, [wanted, askedAt]]);
  for (const [number, reading] of observed?.contents ?? []) facts.push([`contents ${number}`, contentsFact(reading)]);
  for (const number of observed?.goneAssets ?? []) facts.push([`contents ${number}`, "gone"]);
  return Object.fromEntries(facts.map(([name, fact]) => [name, hashOf(fact)]));
}

function recordFact({ bodyHash, state }: { bodyHash: string; state: RecordState }): Json {
  return [bodyHash, state];
}

/** An order as it stands; the form that it was placed with is named by its version. */
function standingFact(placed: PlacedOrder): Json {
  return toJson({ ...placed, body: undefined });
}

function contentsFact({ asset, products, packages, bare }: AssetReading): Json {
  return toJson([asset.assetId, asset.borrowed, products, packages, bare]);
}

/** What each kind of fact is called where it moved: where it is another, and where it is there no more or new. */
const moved: Readonly<Record<string, (of: string) => [other: string, gone: string, come: string]>> = {
  customer: () => ["the customer changed in the CRM", "the customer is gone", "the customer came"],
  order: (of) => [
    `order ${of} changed in the CRM`,
    `order ${of} waits for nothing any more`,
    `order ${of} came or changed in the CRM`,
  ],
  staff: (of) => [`staff ${of} changed in the CRM`, `staff ${of} left the customer`, `staff ${of} came`],
  enterprise: () => ["it is linked with another enterprise", "it is linked no more", "it was linked"],
  acknowledged: () => {
    const other = "the enterprise was changed";
    return [other, other, "the enterprise was made or changed"];
  },
  standing: (of) => [`the placed order ${of} changed`, `order ${of} was removed`, `order ${of} was placed`],
  link: (of) => [
    `the account of staff ${of} is another`,
    `staff ${of} has no account any more`,
    `staff ${of} got an account`,
  ],
  request: (of) => {
    const other = `a person's request for ${of} changed`;
    return [other, other, other];
  },
  contents: (of) => {
    const other = `the contents of the asset ${of} changed`;
    return [other, other, other];
  },
};

/** What moved between the facts of a saved plan and those of now, as sentences for people. */
export function movedFacts(saved: Facts, now: Facts): string[] {
  const names = [...new Set([...Object.keys(saved), ...Object.keys(now)])].sort();
  return names.flatMap((name) => {
    if (saved[name] === now[name]) return [];
    const space = name.indexOf(" ");
    const word = space < 0 ? name : name.slice(0, space);
    const resource = handedIn().resources.find((one) => one.name === word);
    const say = resource?.state?.facts.moved ?? moved[word];
    if (say === undefined) return [`${name} changed`];
    const [other, gone, come] = say(name.slice(word.length + 1));
    return [now[name] === undefined ? gone : saved[name] === undefined ? come : other];
  });
}

/** The facts that nothing but the CRM changes. */
export function crmFacts(facts: Facts): Facts {
  return Object.fromEntries(Object.entries(facts).filter(([name]) => /^(?:customer|order|staff)(?: |$)/u.test(name)));
}
