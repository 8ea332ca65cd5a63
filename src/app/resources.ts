import { handIn } from "../engine/registry.ts";
import { asKind } from "../operation/as-kind.ts";
import { kinds } from "../operation/kinds.ts";
import { passwordRequest } from "../operation/password-request.ts";
import { nothingRecorded, stateParts } from "../operation/state.ts";
import { undoRules } from "../plan/undo-rules.ts";
import { assignment } from "../resources/assignment/index.ts";
import { enterprise } from "../resources/enterprise/index.ts";
import { loan } from "../resources/loan/index.ts";
import { lock } from "../resources/lock/index.ts";

/** Hands in all that the program can do. What has no resource folder yet comes from operation, plan and ledger. */
export function handInResources(): void {
  handIn({
    types: {
      ...kinds,
      "bind-enterprise": asKind(enterprise.types["bind-enterprise"]),
      "create-enterprise": asKind(enterprise.types["create-enterprise"]),
      "update-enterprise": asKind(enterprise.types["update-enterprise"]),
      "grant-assets": asKind(assignment.types["grant-assets"]),
      "revoke-assets": asKind(assignment.types["revoke-assets"]),
      "lock-assets": asKind(lock.types["lock-assets"]),
      "unlock-assets": asKind(lock.types["unlock-assets"]),
      "borrow-assets": asKind(loan.types["borrow-assets"]),
    },
    changes: { ...stateParts, ...assignment.state.changes },
    requests: { ...loan.requests, ...lock.requests, password: passwordRequest },
    undo: { ...undoRules, ...enterprise.undo, ...assignment.undo, ...lock.undo, ...loan.undo },
    nothing: () => ({ ...nothingRecorded(), ...assignment.state.nothing() }),
    resources: [enterprise, assignment, lock, loan],
  });
}
