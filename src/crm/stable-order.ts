/**
 * The order in which the lists of a canonical record stand. Sources deliver rows in any order; sorted, equal records
 * have equal hashes, and a record whose rows came in another order is no changed record. Asset numbers keep their
 * order: it says which unit each one fills.
 */

interface InstanceLike {
  kind: string;
  id?: string;
  parentId?: string;
  code?: string;
}

const kinds = ["asset", "package", "product", "feature", "extension"];

/** By code units, which is the same on every machine. */
function compareTexts(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Assets, packages, products, features, extensions; each kind by id, or by parent and code where it has no id. */
export function sortedInstances<Instance extends InstanceLike>(instances: readonly Instance[]): Instance[] {
  return instances.toSorted(
    (left, right) =>
      kinds.indexOf(left.kind) - kinds.indexOf(right.kind) ||
      compareTexts(left.id ?? "", right.id ?? "") ||
      compareTexts(left.parentId ?? "", right.parentId ?? "") ||
      compareTexts(left.code ?? "", right.code ?? ""),
  );
}

/** Features or extensions by their code. */
export function sortedByCode<Coded extends { code: string }>(items: readonly Coded[]): Coded[] {
  return items.toSorted((left, right) => compareTexts(left.code, right.code));
}

/** Claims by asset number, then those by instance. */
export function sortedClaims<Claim extends { assetNumber: string } | { instanceId: string }>(
  claims: readonly Claim[],
): Claim[] {
  const keyOf = (claim: Claim): string =>
    "assetNumber" in claim ? `number ${claim.assetNumber}` : "instanceId" in claim ? `unit ${claim.instanceId}` : "";
  return claims.toSorted((left, right) => compareTexts(keyOf(left), keyOf(right)));
}
