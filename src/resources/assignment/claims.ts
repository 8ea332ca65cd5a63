import { formatKey } from "../../crm/keys.ts";
import type { Operation } from "../../engine/model/operation.ts";
import { unitsNamed } from "../order/index.ts";
import type { Known } from "../../engine/model/state.ts";
import type { Block, BlockedRecord } from "../../engine/plan/blocks.ts";
import type { CustomerInput } from "../../engine/plan/input.ts";
import type { RecordKey } from "../../crm/model.ts";
import { numbersOf } from "../../engine/model/registry.ts";
import { unitsOf as unitNumbersOf, assetNumberReference, type EarlierUnit } from "../../engine/model/references.ts";

type Given = Pick<CustomerInput, "staff" | "orders" | "ended"> &
  UnitsGiven & { known: Pick<Known, "assignments" | "numbers" | "placedOrders"> };

export interface Allocation {
  assets: ReadonlyMap<string, ClaimedAsset[]>;
  blocks: BlockedRecord[];
  /** People who claim an asset of no placed order yet: they keep their assets until then. */
  waiting: ReadonlySet<string>;
  /** Numbers that end soon and that their holders still claim: they go with the asset, not by M9. */
  staying: ReadonlySet<string>;
}

interface Claim {
  person: string;
  name: string;
  candidates: readonly ClaimedAsset[];
  byNumber: boolean;
}

interface NamedClaim extends Claim {
  named: string;
}

/**
 * A claimed number comes first. A claimed instance gets the number that the person holds, or the first free one.
 * A person in quarantine keeps everything; `ending` numbers go to nobody.
 */
export function allocate(
  given: Given,
  purchases: readonly Operation[],
  ending: ReadonlySet<string> = new Set(),
): Allocation {
  const blocks: BlockedRecord[] = [];
  const waiting = new Set<string>();
  const soon = removedSoon(given, ending);
  const removed = removedBefore(given);
  const units = unitsOf(given, purchases, ending);
  const all: Claim[] = [];
  for (const claim of given.staff.flatMap((person) => claimsOf(person, units))) {
    const isGone = ending.has(claim.named) || removed.has(claim.named);
    if (claim.candidates.length > 0 && !(claim.byNumber && isGone)) all.push(claim);
    else {
      const block = whyNone(claim, soon.tokens.has(claim.named), removed.has(claim.named));
      if (block.code === "asset.not-ordered") waiting.add(claim.person);
      blocks.push([claim.person, block]);
    }
  }
  const taken = new Taken(given);
  for (const byNumber of [true, false]) {
    const open: Claim[] = [];
    for (const claim of all) if (claim.byNumber === byNumber && !taken.keep(claim)) open.push(claim);
    for (const claim of open) {
      const block = taken.satisfy(claim);
      if (block !== undefined) blocks.push([claim.person, block]);
    }
  }
  return { assets: taken.assets, blocks, waiting, staying: soon.staying };
}

class Taken {
  readonly assets = new Map<string, ClaimedAsset[]>();
  readonly #takers = new Map<string, string>();
  readonly #holders: ReadonlyMap<string, string>;

  constructor({ staff, known }: Given) {
    const people = staff.filter(({ state }) => state === "quarantined");
    const inQuarantine = new Set(people.map(({ key }) => formatKey(key)));
    this.#holders = new Map(known.assignments.map((item) => [item.assetNumber, formatKey(item.staff)]));
    for (const [number, holder] of this.#holders) if (inQuarantine.has(holder)) this.#takers.set(number, holder);
  }

  keep({ person, candidates }: Claim): boolean {
    const held = candidates.find(
      (asset) =>
        asset.number !== undefined && this.#holders.get(asset.number) === person && this.#takerOf(asset) === undefined,
    );
    if (held !== undefined) this.#take(person, held);
    return held !== undefined;
  }

  satisfy(claim: Claim): Block | undefined {
    const { person, name, candidates } = claim;
    if (this.#isContinued(claim)) return undefined;
    const free = candidates.find((asset) => this.#takerOf(asset) === undefined);
    if (free !== undefined) this.#take(person, free);
    if (free !== undefined || this.#isNamedTwice(claim)) return undefined;
    const other = candidates.map((asset) => this.#takerOf(asset)).find((taker) => taker !== person);
    const reason =
      other === undefined
        ? `the CRM gives ${name} to this person more often than it has asset numbers`
        : `the CRM gives ${name} to ${other} too, but an asset number can have only one holder`;
    return { code: "asset.claimed-twice", reason, again: true };
  }

  #takerOf({ token, number }: ClaimedAsset): string | undefined {
    return this.#takers.get(token) ?? (number === undefined ? undefined : this.#takers.get(number));
  }

  #take(person: string, asset: ClaimedAsset): void {
    this.#takers.set(asset.token, person);
    if (asset.number !== undefined) this.#takers.set(asset.number, person);
    push(this.assets, person, asset);
  }

  /** After a renewal, the person already has the number through the other unit. */
  #isContinued({ person, candidates, byNumber }: Claim): boolean {
    if (byNumber) return false;
    const own = (this.assets.get(person) ?? []).filter(({ token, number }) => token !== number);
    return candidates.some(
      ({ token, number }) =>
        number !== undefined && own.some((asset) => asset.number === number && asset.token !== token),
    );
  }

  /** The CRM also names the instance's only number: both claims mean one asset. */
  #isNamedTwice({ person, candidates, byNumber }: Claim): boolean {
    const [only, ...others] = candidates;
    if (only === undefined || others.length > 0 || byNumber) return false;
    return (this.assets.get(person) ?? []).some(({ token }) => token === only.number);
  }
}

/** `named`: the number or the instance in the CRM. Repeated numbers count once. */
function claimsOf(
  { key, state, body }: Given["staff"][number],
  units: ReadonlyMap<string, ClaimedAsset[]>,
): NamedClaim[] {
  if (state !== "current") return [];
  const person = formatKey(key);
  const numbers = new Set<string>();
  return body.assets.flatMap((claim): NamedClaim[] => {
    if ("assetNumber" in claim) {
      const { assetNumber: number } = claim;
      if (numbers.has(number)) return [];
      numbers.add(number);
      const candidates = [{ token: number, number, payload: number }];
      return [{ person, name: `asset number ${number}`, named: number, candidates, byNumber: true }];
    }
    const named = instanceToken(key.namespace, claim.instanceId);
    const name = `asset instance ${claim.instanceId}`;
    return [{ person, name, named, candidates: units.get(named) ?? [], byNumber: false }];
  });
}

function whyNone({ name }: Claim, isRemovedSoon: boolean, isRemoved: boolean): Block {
  if (isRemovedSoon) {
    const reason = `${name} is to be removed. Its holder keeps it until then, and nobody else gets it`;
    return { code: "asset.ending", reason, again: true };
  }
  if (isRemoved) {
    const reason = `${name} was removed with a part of its order, so nobody can get it`;
    return { code: "asset.ended", reason, again: true };
  }
  return { code: "asset.not-ordered", reason: `${name} is in no placed order of this customer yet`, again: true };
}

/** Removed numbers and instances, except those that exist again or are wanted again. */
function removedBefore({ ended = [], orders, known }: Given): ReadonlySet<string> {
  if (ended.length === 0) return new Set();
  const wanted = orders.filter(({ state, body }) => state !== "absent" && !body.cancelled);
  const others = new Set([
    ...known.numbers.map(({ number }) => number),
    ...wanted.flatMap(({ key, tree }) => tree.assets.map(({ id }) => instanceToken(key.namespace, id))),
  ]);
  const tokens = ended.flatMap(({ number, namespace, instanceId }) => [number, instanceToken(namespace, instanceId)]);
  return new Set(tokens.filter((token) => !others.has(token)));
}

function removedSoon(
  { staff, known }: Given,
  ending: ReadonlySet<string>,
): { tokens: ReadonlySet<string>; staying: ReadonlySet<string> } {
  if (ending.size === 0) return { tokens: new Set(), staying: new Set() };
  const tokensOf = new Map<string, string[]>();
  for (const item of known.numbers.filter(({ number }) => ending.has(number)))
    for (const { namespace, instanceId } of unitsNamed(item))
      push(tokensOf, item.number, instanceToken(namespace, instanceId));
  const claimed = new Map(staff.map((person) => [formatKey(person.key), tokensClaimed(person)]));
  const staying = known.assignments.filter(({ assetNumber, staff: holder }) => {
    const own = claimed.get(formatKey(holder));
    const tokens = [assetNumber, ...(tokensOf.get(assetNumber) ?? [])];
    return ending.has(assetNumber) && tokens.some((token) => own?.has(token) === true);
  });
  return {
    tokens: new Set([...ending, ...[...tokensOf.values()].flat()]),
    staying: new Set(staying.map(({ assetNumber }) => assetNumber)),
  };
}

function tokensClaimed({ key, state, body }: Given["staff"][number]): ReadonlySet<string> {
  if (state !== "current") return new Set();
  return new Set(
    body.assets.map((claim) =>
      "assetNumber" in claim ? claim.assetNumber : instanceToken(key.namespace, claim.instanceId),
    ),
  );
}

export interface ClaimedAsset {
  /** A number that the CRM names, or else a unit: two claims with one token mean one asset. */
  token: string;
  /** Undefined until the purchase has a number. */
  number: string | undefined;
  payload: string | { $ref: "assetNumber"; of: string };
  /** Subject of the purchase in this plan; undefined if already bought. */
  purchase?: string;
}

export type UnitsGiven = Pick<CustomerInput, "standings" | "unbought"> & {
  known: Pick<Known, "numbers" | "placedOrders">;
};

interface Unit {
  order: RecordKey;
  instanceId: string;
  unit: number;
  number?: string | undefined;
  /** Units of earlier orders with the same number. */
  continues?: readonly EarlierUnit[] | undefined;
}

export function instanceToken(namespace: string, instanceId: string): string {
  return JSON.stringify([namespace, instanceId]);
}

/** The units of each asset instance, existing or bought by this plan, without `removed`. */
export function unitsOf(
  given: UnitsGiven,
  purchases: readonly Operation[],
  removed: ReadonlySet<string>,
): ReadonlyMap<string, ClaimedAsset[]> {
  const purchaseOf = new Map<string, string>();
  const planned = purchases.flatMap((operation) => {
    const units = plannedUnits(operation);
    for (const unit of units) purchaseOf.set(referenceTo(unit).of, operation.subject);
    return units;
  });
  const fixed = given.known.numbers
    .map((item): Unit & { number: string } => ({ ...item, order: { namespace: item.namespace, id: item.orderId } }))
    .filter((unit) => !removed.has(unit.number) && (purchaseOf.has(referenceTo(unit).of) || wasBought(given, unit)));
  const byInstance = new Map<string, ClaimedAsset[]>();
  const continued = new Map<string, ClaimedAsset[]>();
  const seen = new Set<string>();
  for (const unit of [...fixed, ...planned]) {
    const payload = referenceTo(unit);
    if (seen.has(payload.of)) continue;
    seen.add(payload.of);
    const purchase = purchaseOf.get(payload.of);
    const asset = { token: payload.of, number: unit.number, payload, ...(purchase !== undefined && { purchase }) };
    push(byInstance, instanceToken(unit.order.namespace, unit.instanceId), asset);
    for (const { namespace, orderId, instanceId, unit: earlier } of unit.continues ?? []) {
      const { of: token } = assetNumberReference({ namespace, id: orderId }, instanceId, earlier);
      push(continued, instanceToken(namespace, instanceId), { ...asset, token });
    }
  }
  // A claim of the earlier instance means the unit that continues it.
  for (const [instance, assets] of continued) {
    const numbers = new Set(byInstance.get(instance)?.map(({ number }) => number));
    for (const asset of assets) if (!numbers.has(asset.number)) push(byInstance, instance, asset);
  }
  return byInstance;
}

function plannedUnits(operation: Operation): Unit[] {
  const [order] = operation.records;
  if (order === undefined) return [];
  return numbersOf(operation).flatMap((asset) =>
    unitNumbersOf(asset).map((unit): Unit => {
      const renewed = asset.renewed?.find((one) => one.unit === unit);
      return { order, instanceId: asset.id, unit, number: renewed?.number, continues: renewed?.continues };
    }),
  );
}

function referenceTo({ order, instanceId, unit }: Unit): { $ref: "assetNumber"; of: string } {
  return assetNumberReference(order, instanceId, unit);
}

/** A rejected purchase leaves its number fixed. */
function wasBought({ known, standings, unbought }: UnitsGiven, unit: Unit & { number: string }): boolean {
  const key = formatKey(unit.order);
  if (!known.placedOrders.has(key)) return false;
  const standing = standings?.get(key);
  if (standing === undefined || "lost" in standing) return unbought?.has(unit.number) !== true;
  return standing.units.some((item) => item.instanceId === unit.instanceId && item.unit === unit.unit);
}

export function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
