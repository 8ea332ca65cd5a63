import { hashOf, toJson, type Json } from "../../base/canonical-json.ts";
import { handedIn } from "../model/registry.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordState } from "../model/desired.ts";
import type { AssetReading } from "../../platform/snapshot.ts";
import type { CustomerInput, LoadedCustomer } from "./input.ts";

export type Facts = Readonly<Record<string, string>>;

export function factsOf(input: LoadedCustomer & Partial<Pick<CustomerInput, "observed">>): Facts {
  const { desiredCustomer, known, observed } = input;
  const facts: [name: string, fact: Json][] = [];
  if (desiredCustomer !== undefined) facts.push(["customer", recordFact(desiredCustomer)]);
  for (const order of input.orders) facts.push([`order ${formatKey(order.key)}`, recordFact(order)]);
  for (const person of input.staff) facts.push([`staff ${formatKey(person.key)}`, recordFact(person)]);
  for (const [word, { of }] of recordedFacts())
    for (const [id, fact] of of(known)) facts.push([id === "" ? word : `${word} ${id}`, fact]);
  for (const { of, about, wanted, askedAt } of known.requests)
    facts.push([`request ${of} ${about}`, [wanted, askedAt]]);
  for (const [number, reading] of observed?.contents ?? []) facts.push([`contents ${number}`, contentsFact(reading)]);
  return Object.fromEntries(facts.map(([name, fact]) => [name, hashOf(fact)]));
}

function recordedFacts() {
  return handedIn().resources.flatMap(({ state }) => Object.entries(state?.facts ?? {}));
}

function recordFact({ bodyHash, state }: { bodyHash: string; state: RecordState }): Json {
  return [bodyHash, state];
}

function contentsFact({ asset, products, packages, bare }: AssetReading): Json {
  return toJson([asset.assetId, asset.borrowed, products, packages, bare]);
}

const moved: Readonly<Record<string, (of: string) => [other: string, gone: string, come: string]>> = {
  customer: () => ["the customer changed in the CRM", "the customer is gone", "the customer came"],
  order: (of) => [
    `order ${of} changed in the CRM`,
    `order ${of} waits for nothing any more`,
    `order ${of} came or changed in the CRM`,
  ],
  staff: (of) => [`staff ${of} changed in the CRM`, `staff ${of} left the customer`, `staff ${of} came`],
  request: (of) => {
    const other = `a person's request for ${of} changed`;
    return [other, other, other];
  },
  contents: (of) => {
    const other = `the contents of the asset ${of} changed`;
    return [other, other, other];
  },
};

export function movedFacts(saved: Facts, now: Facts): string[] {
  const names = [...new Set([...Object.keys(saved), ...Object.keys(now)])].sort();
  return names.flatMap((name) => {
    if (saved[name] === now[name]) return [];
    const space = name.indexOf(" ");
    const word = space < 0 ? name : name.slice(0, space);
    const say = moved[word] ?? recordedFacts().find(([own]) => own === word)?.[1].moved;
    if (say === undefined) return [`${name} changed`];
    const [other, gone, come] = say(name.slice(word.length + 1));
    return [now[name] === undefined ? gone : saved[name] === undefined ? come : other];
  });
}

export function crmFacts(facts: Facts): Facts {
  return Object.fromEntries(Object.entries(facts).filter(([name]) => /^(?:customer|order|staff)(?: |$)/u.test(name)));
}
