import { formatKey } from "../crm/keys.ts";
import type { MeantOperation } from "../operation/operation.ts";
import { noWeight } from "../operation/taking.ts";
import type { Weight } from "../operation/taking.ts";
import type { ObservedAsset, ObservedMember } from "../platform/snapshot.ts";
import type { Observed } from "./input.ts";
import type { Allocation } from "./seat-allocation.ts";

/** Of E8 a flag says that a lock may be lent, and not that it is. */
export const saysLent: ReadonlySet<ObservedAsset["from"]> = new Set(["M6"]);

type Revoke = MeantOperation<"revoke-assets">;

/** Revokes with what each of them takes away, as the platform shows the people and the locks now. */
export function weighRevokes(
  meant: readonly Revoke[],
  { members = [], assets = [] }: Pick<Observed, "members" | "assets">,
  claims: Allocation["claims"],
): Revoke[] {
  const byId = new Map<unknown, ObservedMember>(members.map((member) => [member.globalId, member]));
  const lent = new Set(
    assets.filter((asset) => asset.borrowed && saysLent.has(asset.from)).map(({ assetNum }) => assetNum),
  );
  return meant.map((revoke) => ({
    ...revoke,
    weight: weightOf(revoke, { member: byId.get(revoke.target.memberGlobalId), lent }, claims),
  }));
}

function weightOf(
  { payload, records }: Revoke,
  { member, lent }: { member: ObservedMember | undefined; lent: ReadonlySet<string> },
  claims: Allocation["claims"],
): Weight {
  const taken = new Set(payload.deleteAssets.filter((number) => typeof number === "string"));
  const keeps = (member?.assetNums ?? []).some((number) => !taken.has(number));
  const isToHold = records.some((record) => (claims.get(formatKey(record)) ?? []).length > 0);
  return {
    ...noWeight,
    seats: payload.deleteAssets.length,
    lastAsset: keeps || isToHold ? 0 : 1,
    online: member?.online === true ? 1 : 0,
    lent: [...taken].filter((number) => lent.has(number)).length,
  };
}
