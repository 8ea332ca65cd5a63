import { asKind } from "../engine/as-kind.ts";
import { handIn } from "../engine/registry.ts";
import { nothingRecorded, stateParts } from "../engine/state.ts";
import { assignment } from "../resources/assignment/index.ts";
import { enterprise } from "../resources/enterprise/index.ts";
import { loan } from "../resources/loan/index.ts";
import { lock } from "../resources/lock/index.ts";
import { order } from "../resources/order/index.ts";
import { staff } from "../resources/staff/index.ts";

/** Hands in all that the program can do: the one list of resources, in the order in which they plan. */
export function handInResources(): void {
  const resources = [enterprise, order, staff, assignment, lock, loan];
  handIn({
    types: {
      "add-staff": asKind(staff.types["add-staff"]),
      "edit-staff": asKind(staff.types["edit-staff"]),
      "delete-staff": asKind(staff.types["delete-staff"]),
      "reset-password": asKind(staff.types["reset-password"]),
      "bind-enterprise": asKind(enterprise.types["bind-enterprise"]),
      "create-enterprise": asKind(enterprise.types["create-enterprise"]),
      "update-enterprise": asKind(enterprise.types["update-enterprise"]),
      "place-order": asKind(order.types["place-order"]),
      "amend-order": asKind(order.types["amend-order"]),
      "delete-products": asKind(order.types["delete-products"]),
      "delete-package-products": asKind(order.types["delete-package-products"]),
      "delete-assets": asKind(order.types["delete-assets"]),
      "delete-everywhere": asKind(order.types["delete-everywhere"]),
      "take-asset-numbers": asKind(order.types["take-asset-numbers"]),
      "grant-assets": asKind(assignment.types["grant-assets"]),
      "revoke-assets": asKind(assignment.types["revoke-assets"]),
      "lock-assets": asKind(lock.types["lock-assets"]),
      "unlock-assets": asKind(lock.types["unlock-assets"]),
      "borrow-assets": asKind(loan.types["borrow-assets"]),
    },
    changes: {
      ...stateParts,
      ...enterprise.state.changes,
      ...order.state.changes,
      ...staff.state.changes,
      ...assignment.state.changes,
    },
    requests: { ...staff.requests, ...lock.requests, ...loan.requests },
    undo: { ...enterprise.undo, ...order.undo, ...staff.undo, ...assignment.undo, ...lock.undo, ...loan.undo },
    nothing: () => ({
      ...nothingRecorded(),
      ...enterprise.state.nothing(),
      ...order.state.nothing(),
      ...staff.state.nothing(),
      ...assignment.state.nothing(),
    }),
    open: (database, ledger) => ({
      enterprise: enterprise.state.open(database),
      order: order.state.open(database, ledger),
      staff: staff.state.open(database, ledger),
      assignment: assignment.state.open(database),
    }),
    resources,
  });
}
