import { formatKey } from "../crm/keys.ts";
import type { Operation } from "../operation/operation.ts";
import { assetNumberReference } from "../operation/references.ts";
import { kindOf } from "../operation/registry.ts";
import type { Known } from "../operation/state.ts";
import type { BlockedRecord } from "./block.ts";
import type { CustomerInput } from "./input.ts";

/** What seats are allocated by. */
type Given = Pick<CustomerInput, "staff"> & { known: Pick<Known, "assignments" | "numbers" | "placedOrders"> };

/** An asset a staff member should hold: a number, or the number of an instance's unit that becomes known later. */
export interface Claimed {
  /** Stable identity of the claimed number: the number itself where the CRM names it, else the unit of the instance. */
  token: string;
  number: string | undefined;
  payload: string | { $ref: "assetNumber"; of: string };
}

export interface Allocation {
  /** By staff key. */
  claims: ReadonlyMap<string, Claimed[]>;
  blocks: BlockedRecord[];
  /** Staff with a claim on an asset that is in no placed order yet: what they hold stays until it is. */
  waiting: ReadonlySet<string>;
}

interface Entry {
  /** Staff key. */
  key: string;
  name: string;
  candidates: readonly Claimed[];
  byNumber: boolean;
}

/**
 * Which number each claim means. Claims of a number go first, since nothing else satisfies them; claims of an instance
 * take what is left: the number that the person holds already, else the first free one. What a quarantined record holds
 * is nobody else's. In one piece: the passes share what is taken already.
 */
export function allocate(given: Given, orderOperations: readonly Operation[]): Allocation {
  const units = unitsOf(given, orderOperations);
  const blocks: BlockedRecord[] = [];
  const waiting = new Set<string>();
  const entries = entriesOf(given, units, (key, name) => {
    waiting.add(key);
    const reason = `${name} is in no placed order of this customer yet`;
    blocks.push([key, { code: "asset.not-ordered", reason, again: true }]);
  });

  const taken = new Map<string, string>();
  const quarantined = new Set(
    given.staff.filter((staff) => staff.state === "quarantined").map((staff) => formatKey(staff.key)),
  );
  for (const item of given.known.assignments) {
    if (quarantined.has(formatKey(item.staff))) taken.set(item.assetNumber, formatKey(item.staff));
  }
  const holderOf = (claim: Claimed): string | undefined =>
    taken.get(claim.token) ?? (claim.number === undefined ? undefined : taken.get(claim.number));
  const held = new Map(given.known.assignments.map((item) => [item.assetNumber, formatKey(item.staff)]));
  const claims = new Map<string, Claimed[]>();
  const take = (entry: Entry, claim: Claimed): void => {
    taken.set(claim.token, entry.key);
    if (claim.number !== undefined) taken.set(claim.number, entry.key);
    push(claims, entry.key, claim);
  };

  for (const byNumber of [true, false]) {
    const open: Entry[] = [];
    for (const entry of entries) {
      if (entry.byNumber !== byNumber) continue;
      const kept = entry.candidates.find(
        (claim) => claim.number !== undefined && held.get(claim.number) === entry.key && holderOf(claim) === undefined,
      );
      if (kept === undefined) open.push(entry);
      else take(entry, kept);
    }
    for (const entry of open) {
      const free = entry.candidates.find((claim) => holderOf(claim) === undefined);
      if (free !== undefined) {
        take(entry, free);
        continue;
      }
      const holders = entry.candidates.map(holderOf);
      if (isNamedByItself(entry, claims)) continue;
      const other = holders.find((holder) => holder !== entry.key);
      const reason =
        other === undefined
          ? `${entry.name} is claimed more often by this person than it has numbers`
          : `${entry.name} is claimed by ${other} too, and an asset number has one holder`;
      blocks.push([entry.key, { code: "asset.claimed-twice", reason, again: true }]);
    }
  }
  return { claims, blocks, waiting };
}

/**
 * A claim of an instance with one number, by a person who claims that very number too, asks for the same thing twice.
 */
function isNamedByItself(entry: Entry, claims: ReadonlyMap<string, Claimed[]>): boolean {
  const [only, ...others] = entry.candidates;
  if (only === undefined || others.length > 0 || entry.byNumber) return false;
  return (claims.get(entry.key) ?? []).some((claim) => claim.token === only.number);
}

function entriesOf(
  { staff: people }: Given,
  units: ReadonlyMap<string, Claimed[]>,
  notOrdered: (key: string, name: string) => void,
): Entry[] {
  const entries: Entry[] = [];
  for (const staff of people) {
    if (staff.state !== "current") continue;
    const key = formatKey(staff.key);
    const named = new Set<string>();
    for (const claim of staff.body.assets) {
      if ("assetNumber" in claim) {
        const number = claim.assetNumber;
        if (named.has(number)) continue;
        named.add(number);
        const candidates = [{ token: number, number, payload: number }];
        entries.push({ key, name: `asset number ${number}`, candidates, byNumber: true });
        continue;
      }
      const name = `asset instance ${claim.instanceId}`;
      const candidates = units.get(JSON.stringify([staff.key.namespace, claim.instanceId])) ?? [];
      if (candidates.length === 0) notOrdered(key, name);
      else entries.push({ key, name, candidates, byNumber: false });
    }
  }
  return entries;
}

/**
 * The units of each asset instance, by namespace and instance id: those of placed orders and those that this plan
 * places.
 */
function unitsOf(given: Given, orderOperations: readonly Operation[]): ReadonlyMap<string, Claimed[]> {
  const planned = new Set(orderOperations.map((item) => item.subject));
  const fixed = given.known.numbers.flatMap((item) => {
    const order = { namespace: item.namespace, id: item.orderId };
    const key = formatKey(order);
    const isOrdered = given.known.placedOrders.has(key) || planned.has(`order:${key}`);
    return isOrdered ? [{ ...item, order }] : [];
  });
  const unfixed = orderOperations.flatMap((item) =>
    item.records.slice(0, 1).flatMap((order) =>
      kindOf(item)
        .assets(item)
        .flatMap(({ id: instanceId, quantity }) =>
          Array.from({ length: quantity }, (_, unit) => ({ order, instanceId, unit, number: undefined })),
        ),
    ),
  );
  const units = new Map<string, Claimed[]>();
  const seen = new Set<string>();
  for (const { order, instanceId, unit, number } of [...fixed, ...unfixed]) {
    const payload = assetNumberReference(order, instanceId, unit);
    const token = payload.of;
    if (seen.has(token)) continue;
    seen.add(token);
    push(units, JSON.stringify([order.namespace, instanceId]), { token, number, payload });
  }
  return units;
}

function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
