import { formatKey } from "../../crm/keys.ts";
import type { Reads, ShownPerson } from "../../engine/resource.ts";
import { numbersOfInstance } from "../../operation/state/asset-numbers.ts";
import type { LoadedCustomer } from "../../plan/input.ts";
import { nothingRead } from "../../plan/read-back.ts";
import type { ReadBack } from "../../plan/read-back.ts";

/** M5 and M6 are read if somebody holds an asset by our doing and is no person of the customer any more, or the asset was removed. */
export function reads({ known, staff, ended = [] }: LoadedCustomer): Reads {
  const people = new Set(staff.map(({ key }) => formatKey(key)));
  const removed = new Set(ended.map(({ number }) => number));
  return {
    people: known.assignments.some((item) => !people.has(formatKey(item.staff)) || removed.has(item.assetNumber)),
  };
}

/**
 * What M6 and M5 show of the assets of a person: each that the CRM gives them should be held, and none that we assigned
 * and the CRM no longer gives them.
 */
export function adopt(
  { customer, known }: Pick<LoadedCustomer, "customer" | "known">,
  { person: { key: staff, body }, member, assets }: ShownPerson,
): ReadBack {
  const read = nothingRead();
  const { globalId: memberGlobalId } = member;
  const holders = new Map(assets.map((item) => [item.assetNum, item.holder]));
  const held = new Set(assets.filter((item) => item.holder === memberGlobalId).map((item) => item.assetNum));
  const kept = new Set<string>();
  const ours = new Set(
    known.assignments.filter((item) => formatKey(item.staff) === formatKey(staff)).map((item) => item.assetNumber),
  );
  const hold = (number: string): void => {
    kept.add(number);
    read.seen.push(`the asset ${number}`);
    const begins = { assetNumber: number, staff, customer, memberGlobalId } as const;
    if (!ours.has(number))
      read.changes.push({ type: "asset-granted", ...begins, origin: "adopted", operationId: null });
  };
  for (const claim of body.assets) {
    const numbers =
      "assetNumber" in claim
        ? [claim.assetNumber]
        : numbersOfInstance(known.numbers, { namespace: staff.namespace, id: claim.instanceId });
    const name = "assetNumber" in claim ? `the asset ${claim.assetNumber}` : `an asset of ${claim.instanceId}`;
    const number = numbers.find((item) => held.has(item) && !kept.has(item));
    if (number !== undefined) hold(number);
    else if (numbers.every((item) => !holders.has(item))) read.unseen.push(name);
    else read.otherwise.push(`M6 does not show that the person holds ${name}`);
  }
  for (const number of ours) {
    if (kept.has(number)) continue;
    if (held.has(number)) read.otherwise.push(`M6 shows that the person still holds the asset ${number}`);
    else if (member.assetNums.includes(number))
      read.otherwise.push(`M5 shows that the person still holds the asset ${number}`);
    // M6 has no total: what it leaves out is in nobody's hands as far as anybody can tell, and stays as it is known.
    else if (!holders.has(number)) read.unseen.push(`that the asset ${number} is given back`);
    else {
      read.seen.push(`the asset ${number} is given back`);
      read.changes.push({ type: "asset-revoked", assetNumber: number, operationId: null });
    }
  }
  return read;
}
