import { addStaff } from "./add-staff.ts";
import { amendOrder } from "./amend-order.ts";
import { bindEnterprise } from "./bind-enterprise.ts";
import { borrowAssets } from "./borrow-assets.ts";
import { createEnterprise } from "./create-enterprise.ts";
import { deleteStaff } from "./delete-staff.ts";
import { editStaff } from "./edit-staff.ts";
import { deleteAssets } from "./delete-assets.ts";
import { deleteEverywhere } from "./delete-everywhere.ts";
import { deletePackageProducts } from "./delete-package-products.ts";
import { deleteProducts } from "./delete-products.ts";
import { grantAssets } from "./grant-assets.ts";
import type { Kind, KindFacts } from "./kind.ts";
import { lockAssets } from "./lock-assets.ts";
import { placeOrder } from "./place-order.ts";
import { resetPassword } from "./reset-password.ts";
import { revokeAssets } from "./revoke-assets.ts";
import { takeAssetNumbers } from "./take-asset-numbers.ts";
import { unlockAssets } from "./unlock-assets.ts";
import { updateEnterprise } from "./update-enterprise.ts";

/** Every kind of operation that the program knows, by the name that stands in the journal. */
export const kinds = {
  "create-enterprise": createEnterprise,
  "bind-enterprise": bindEnterprise,
  "update-enterprise": updateEnterprise,
  "place-order": placeOrder,
  "amend-order": amendOrder,
  "delete-products": deleteProducts,
  "delete-package-products": deletePackageProducts,
  "delete-assets": deleteAssets,
  "delete-everywhere": deleteEverywhere,
  "add-staff": addStaff,
  "edit-staff": editStaff,
  "delete-staff": deleteStaff,
  "revoke-assets": revokeAssets,
  "grant-assets": grantAssets,
  "lock-assets": lockAssets,
  "unlock-assets": unlockAssets,
  "borrow-assets": borrowAssets,
  "reset-password": resetPassword,
  "take-asset-numbers": takeAssetNumbers,
};

export type OperationKind = keyof typeof kinds;

type ShapesIn<One> = One extends Kind<infer S> ? S : never;
/** What each kind's payload and its brothers look like. */
export type ShapeMap = { [K in OperationKind]: ShapesIn<(typeof kinds)[K]> };

const registered: { readonly [K in OperationKind]: Kind<ShapeMap[K]> } = kinds;

/** All about the kind of an operation. What it says is meant for this very operation. */
export function kindOf<K extends OperationKind>({ kind }: { kind: K }): Kind<ShapeMap[K]> {
  return registered[kind];
}

export function isKind(name: string): name is OperationKind {
  return Object.hasOwn(kinds, name);
}

/** The names of the kinds of which something holds. */
export function kindsWhere(holds: (kind: KindFacts) => boolean): OperationKind[] {
  return Object.entries(kinds).flatMap(([name, kind]) => (isKind(name) && holds(kind) ? [name] : []));
}

/** The same as a condition of SQL; of one kind as `=`, since only that uses an index over this kind. */
export function kindIn(column: string, holds: (kind: KindFacts) => boolean): string {
  const names = kindsWhere(holds).map((name) => `'${name}'`);
  return names.length === 1 ? `${column} = ${names[0]}` : `${column} in (${names.join(", ")})`;
}
