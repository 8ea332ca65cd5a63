import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Operation } from "../operation/operation.ts";
import { unitsOf as unitsOfAsset } from "../operation/asset-numbers.ts";
import { assetNumberReference } from "../operation/references.ts";
import { kindOf } from "../operation/registry.ts";
import type { Known } from "../operation/state.ts";
import { unitsNamed } from "../operation/state/asset-numbers.ts";
import type { BlockedRecord } from "./block.ts";
import type { CustomerInput } from "./input.ts";

/** What seats are allocated by. */
type Given = Pick<CustomerInput, "staff" | "orders" | "standings" | "unbought" | "ended"> & {
  known: Pick<Known, "assignments" | "numbers" | "placedOrders">;
};

/** An asset a staff member should hold: a number, or the number of an instance's unit that becomes known later. */
export interface Claimed {
  /** Stable identity of the claimed number: the number itself where the CRM names it, else the unit of the instance. */
  token: string;
  number: string | undefined;
  payload: string | { $ref: "assetNumber"; of: string };
  /** Subject of the purchase of this plan that brings it; undefined where it stands. */
  purchase?: string;
}

export interface Allocation {
  /** By staff key. */
  claims: ReadonlyMap<string, Claimed[]>;
  blocks: BlockedRecord[];
  /** Staff with a claim on an asset that is in no placed order yet: what they hold stays until it is. */
  waiting: ReadonlySet<string>;
  /** Asset numbers that are to go, held by who still claims them: they are not revoked, but go with their asset. */
  staying: ReadonlySet<string>;
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
 * is nobody else's, and what is to go (`ending`) is given to nobody. In one piece: the passes share what is taken.
 */
export function allocate(
  given: Given,
  orderOperations: readonly Operation[],
  ending: ReadonlySet<string> = new Set(),
): Allocation {
  const units = unitsOf(given, orderOperations, ending);
  const blocks: BlockedRecord[] = [];
  const waiting = new Set<string>();
  const ends = endingOf(given, ending);
  const ended = endedOf(given);
  const entries = entriesOf(given, units, new Set([...ending, ...ended]), (key, name, token) => {
    if (ends.claims.has(token)) {
      const reason = `${name} is to be removed. Its holder keeps it until then, and nobody else gets it`;
      blocks.push([key, { code: "asset.ending", reason, again: true }]);
      return;
    }
    if (ended.has(token)) {
      const reason = `${name} was removed with a part of its order, so nobody can get it`;
      blocks.push([key, { code: "asset.ended", reason, again: true }]);
      return;
    }
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
      if (isRenewedByItself(entry, claims)) continue;
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
          ? `the CRM gives ${entry.name} to this person more often than it has asset numbers`
          : `the CRM gives ${entry.name} to ${other} too, but an asset number can have only one holder`;
      blocks.push([entry.key, { code: "asset.claimed-twice", reason, again: true }]);
    }
  }
  return { claims, blocks, waiting, staying: ends.staying };
}

/**
 * Claims of what was taken away, by number or by instance, but for what stands under the same name or is wanted again:
 * nobody waits for them.
 */
function endedOf({ ended = [], orders, known }: Given): ReadonlySet<string> {
  if (ended.length === 0) return new Set();
  const wanted = orders.filter(({ state, body }) => state !== "absent" && !body.cancelled);
  const others = new Set([
    ...known.numbers.map(({ number }) => number),
    ...wanted.flatMap(({ key, tree }) => tree.assets.map(({ id }) => instanceToken(key.namespace, id))),
  ]);
  const claims = ended.flatMap(({ number, namespace, instanceId }) => [number, instanceToken(namespace, instanceId)]);
  return new Set(claims.filter((claim) => !others.has(claim)));
}

/** Claims of what is to go, by number or by instance, and the numbers of it that are held by who claims them. */
function endingOf(
  { staff, known }: Given,
  ending: ReadonlySet<string>,
): { claims: ReadonlySet<string>; staying: ReadonlySet<string> } {
  const claims = new Set<string>();
  const staying = new Set<string>();
  if (ending.size === 0) return { claims, staying };
  for (const number of ending) claims.add(number);
  const names = new Map<string, string[]>();
  for (const item of known.numbers) {
    if (!ending.has(item.number)) continue;
    for (const { namespace, instanceId } of unitsNamed(item)) {
      const token = instanceToken(namespace, instanceId);
      claims.add(token);
      names.set(item.number, [...(names.get(item.number) ?? []), token]);
    }
  }
  const claimed = new Map(
    staff.map(({ key, state, body }) => [
      formatKey(key),
      new Set(
        state === "current"
          ? body.assets.map((claim) =>
              "assetNumber" in claim ? claim.assetNumber : instanceToken(key.namespace, claim.instanceId),
            )
          : [],
      ),
    ]),
  );
  for (const { assetNumber, staff: holder } of known.assignments) {
    if (!ending.has(assetNumber)) continue;
    const own = claimed.get(formatKey(holder));
    if ([assetNumber, ...(names.get(assetNumber) ?? [])].some((token) => own?.has(token))) staying.add(assetNumber);
  }
  return { claims, staying };
}

function instanceToken(namespace: string, instanceId: string): string {
  return JSON.stringify([namespace, instanceId]);
}

/**
 * A claim of an instance with one number, by a person who claims that very number too, asks for the same thing twice.
 */
function isNamedByItself(entry: Entry, claims: ReadonlyMap<string, Claimed[]>): boolean {
  const [only, ...others] = entry.candidates;
  if (only === undefined || others.length > 0 || entry.byNumber) return false;
  return (claims.get(entry.key) ?? []).some((claim) => claim.token === only.number);
}

/** A claim of an instance by a person who has its number as what continues it, or as what it continues. */
function isRenewedByItself(entry: Entry, claims: ReadonlyMap<string, Claimed[]>): boolean {
  const own = (claims.get(entry.key) ?? []).filter(({ token, number }) => token !== number);
  return (
    !entry.byNumber &&
    entry.candidates.some(({ token, number }) =>
      own.some((claim) => number !== undefined && claim.number === number && claim.token !== token),
    )
  );
}

function entriesOf(
  { staff: people }: Given,
  units: ReadonlyMap<string, Claimed[]>,
  going: ReadonlySet<string>,
  without: (key: string, name: string, token: string) => void,
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
        if (going.has(number)) {
          without(key, `asset number ${number}`, number);
          continue;
        }
        const candidates = [{ token: number, number, payload: number }];
        entries.push({ key, name: `asset number ${number}`, candidates, byNumber: true });
        continue;
      }
      const name = `asset instance ${claim.instanceId}`;
      const token = instanceToken(staff.key.namespace, claim.instanceId);
      const candidates = units.get(token) ?? [];
      if (candidates.length === 0) without(key, name, token);
      else entries.push({ key, name, candidates, byNumber: false });
    }
  }
  return entries;
}

/**
 * The units of each asset instance, by namespace and instance id: those of placed orders and those that this plan
 * places.
 */
function unitsOf(
  given: Given,
  orderOperations: readonly Operation[],
  ending: ReadonlySet<string>,
): ReadonlyMap<string, Claimed[]> {
  const unfixed = orderOperations.flatMap((item) =>
    item.records.slice(0, 1).flatMap((order) =>
      kindOf(item)
        .assets(item)
        .flatMap((asset) =>
          unitsOfAsset(asset).map((unit) => {
            const renewed = asset.renewed?.find((one) => one.unit === unit);
            return { order, instanceId: asset.id, unit, by: item.subject, ...renewed };
          }),
        ),
    ),
  );
  const planned = new Map(
    unfixed.map(({ order, instanceId, unit, by }) => [assetNumberReference(order, instanceId, unit).of, by]),
  );
  const fixed = given.known.numbers.flatMap((item) => {
    const order = { namespace: item.namespace, id: item.orderId };
    if (ending.has(item.number)) return [];
    const isPlanned = planned.has(assetNumberReference(order, item.instanceId, item.unit).of);
    return isPlanned || stands(given, order, item) ? [{ ...item, order }] : [];
  });
  const units = new Map<string, Claimed[]>();
  const renewing = new Map<string, Claimed[]>();
  const seen = new Set<string>();
  for (const item of [...fixed, ...unfixed]) {
    const { order, instanceId, unit } = item;
    const payload = assetNumberReference(order, instanceId, unit);
    const token = payload.of;
    if (seen.has(token)) continue;
    seen.add(token);
    const purchase = planned.get(token);
    const number = "number" in item ? item.number : undefined;
    const claimed = { token, number, payload, ...(purchase === undefined ? {} : { purchase }) };
    push(units, instanceToken(order.namespace, instanceId), claimed);
    for (const earlier of item.continues ?? []) {
      const { of } = assetNumberReference(
        { namespace: earlier.namespace, id: earlier.orderId },
        earlier.instanceId,
        earlier.unit,
      );
      push(renewing, instanceToken(earlier.namespace, earlier.instanceId), { ...claimed, token: of });
    }
  }
  // Who is to have an instance of which a unit stands no more, and goes on under another order, is to have that.
  for (const [instance, renewed] of renewing) {
    const numbers = new Set(units.get(instance)?.map(({ number }) => number));
    for (const claimed of renewed) if (!numbers.has(claimed.number)) push(units, instance, claimed);
  }
  return units;
}

/** Whether a unit was bought: a number may be fixed to one whose purchase was refused. */
function stands(
  { known, standings, unbought }: Given,
  order: RecordKey,
  { number, instanceId, unit }: { number: string; instanceId: string; unit: number },
): boolean {
  const key = formatKey(order);
  if (!known.placedOrders.has(key)) return false;
  const standing = standings?.get(key);
  if (standing === undefined || "lost" in standing) return unbought?.has(number) !== true;
  return standing.units.some((item) => item.instanceId === instanceId && item.unit === unit);
}

function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
