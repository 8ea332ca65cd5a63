import { addStaff } from "./add-staff.ts";
import { bindEnterprise } from "./bind-enterprise.ts";
import { createEnterprise } from "./create-enterprise.ts";
import { grantAssets } from "./grant-assets.ts";
import type { Kind } from "./kind.ts";
import { placeOrder } from "./place-order.ts";
import { revokeAssets } from "./revoke-assets.ts";
import { takeAssetNumbers } from "./take-asset-numbers.ts";
import { updateEnterprise } from "./update-enterprise.ts";

/** Every kind of operation that the program knows, by the name that stands in the journal. */
export const kinds = {
  "create-enterprise": createEnterprise,
  "bind-enterprise": bindEnterprise,
  "update-enterprise": updateEnterprise,
  "place-order": placeOrder,
  "add-staff": addStaff,
  "revoke-assets": revokeAssets,
  "grant-assets": grantAssets,
  "take-asset-numbers": takeAssetNumbers,
} as const satisfies Readonly<Record<string, Kind>>;

export type OperationKind = keyof typeof kinds;

export function kindOf({ kind }: { kind: OperationKind }): Kind {
  return kinds[kind];
}

/** A kind by the name in a journal that another version may have written. */
export function namedKind(name: string): Kind | undefined {
  return isKind(name) ? kinds[name] : undefined;
}

export function isKind(name: string): name is OperationKind {
  return Object.hasOwn(kinds, name);
}

/** The names of the kinds of which something holds. */
export function kindsWhere(holds: (kind: Kind) => boolean): OperationKind[] {
  return Object.entries(kinds).flatMap(([name, kind]) => (isKind(name) && holds(kind) ? [name] : []));
}

/** The same as a condition of SQL; of one kind as `=`, since only that uses an index over this kind. */
export function kindIn(column: string, holds: (kind: Kind) => boolean): string {
  const names = kindsWhere(holds).map((name) => `'${name}'`);
  return names.length === 1 ? `${column} = ${names[0]}` : `${column} in (${names.join(", ")})`;
}
