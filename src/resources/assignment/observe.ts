import { formatKey } from "../../crm/keys.ts";
import type { ShownPerson } from "../../engine/model/resource.ts";
import type { Reads, LoadedCustomer } from "../../engine/plan/input.ts";
import { numbersOfInstance, unitsNamed } from "../order/index.ts";
import { nothingRead, type ReadBack } from "../../engine/plan/blocks.ts";

/** Reads M5 and M6 if somebody holds an asset that was removed, or no longer belongs to the customer. */
export function reads({ known, staff, ended = [] }: LoadedCustomer): Reads {
  const people = new Set(staff.map(({ key }) => formatKey(key)));
  const removed = new Set(ended.map(({ number }) => number));
  return {
    people: known.assignments.some((item) => !people.has(formatKey(item.staff)) || removed.has(item.assetNumber)),
  };
}

export function seats({ staff, known }: LoadedCustomer): Set<string> {
  const numbers = new Set(known.assignments.map((assignment) => assignment.assetNumber));
  const instances = new Set<string>();
  for (const { key, state, body } of staff) {
    if (state !== "current") continue;
    for (const claim of body.assets) {
      if ("assetNumber" in claim) numbers.add(claim.assetNumber);
      else instances.add(formatKey({ namespace: key.namespace, id: claim.instanceId }));
    }
  }
  for (const item of known.numbers) {
    const isOrdered = known.placedOrders.has(formatKey({ namespace: item.namespace, id: item.orderId }));
    const isClaimed = unitsNamed(item).some(({ namespace, instanceId }) =>
      instances.has(formatKey({ namespace, id: instanceId })),
    );
    if (isOrdered && isClaimed) numbers.add(item.number);
  }
  return numbers;
}

export function adopt(
  { customer, known }: Pick<LoadedCustomer, "customer" | "known">,
  { person: { key: staff, body }, member, assets }: ShownPerson,
): ReadBack {
  const read = nothingRead();
  const { globalId: memberGlobalId } = member;
  const holders = new Map(assets.map((item) => [item.assetNum, item.holder]));
  const own = known.assignments.filter((item) => formatKey(item.staff) === formatKey(staff));
  const recorded = new Map(own.map((item) => [item.assetNumber, item.memberGlobalId]));
  const kept = new Set<string>();
  const named = new Set(body.assets.flatMap((claim) => ("assetNumber" in claim ? [claim.assetNumber] : [])));
  const instances = body.assets.flatMap((claim) => ("instanceId" in claim ? [claim.instanceId] : []));
  // Numbers come first, because nothing else satisfies them.
  const claims = [
    ...[...named].map((number) => ({ name: `the asset ${number}`, numbers: [number] })),
    ...instances.map((id) => ({
      name: `an asset of ${id}`,
      numbers: numbersOfInstance(known.numbers, { namespace: staff.namespace, id }),
    })),
  ];
  for (const { name, numbers } of claims) {
    const number = numbers.find((item) => holders.get(item) === memberGlobalId && !kept.has(item));
    const [only, ...others] = numbers;
    if (number !== undefined) {
      kept.add(number);
      read.seen.push(`the asset ${number}`);
      const begins = { assetNumber: number, staff, customer, memberGlobalId } as const;
      if (recorded.get(number) !== memberGlobalId)
        read.changes.push({ type: "asset-granted", ...begins, origin: "adopted", operationId: null });
    } else if (only !== undefined && others.length === 0 && kept.has(only) && named.has(only)) continue;
    else if (numbers.every((item) => !holders.has(item))) read.unseen.push(name);
    else read.otherwise.push(`M6 does not show that the person holds ${name}`);
  }
  for (const [number, account] of recorded) {
    const holder = holders.get(number);
    const still = `that the person still holds the asset ${number}`;
    if (kept.has(number)) continue;
    if (holder === memberGlobalId) read.otherwise.push(`M6 shows ${still}`);
    else if (holder === account) read.otherwise.push(`M6 shows ${still}, with the account ${account}`);
    else if (member.assetNums.includes(number)) read.otherwise.push(`M5 shows ${still}`);
    // M6 has no total, so a missing number may still be held and stays recorded.
    else if (holder === undefined) read.unseen.push(`that the asset ${number} is given back`);
    else {
      read.seen.push(`the asset ${number} is given back`);
      read.changes.push({ type: "asset-revoked", assetNumber: number, operationId: null });
    }
  }
  return read;
}
