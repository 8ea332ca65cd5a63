import { handIn } from "../engine/registry.ts";
import { asKind } from "../operation/as-kind.ts";
import { kinds } from "../operation/kinds.ts";
import { nothingRecorded, stateParts } from "../operation/state.ts";
import { undoRules } from "../plan/undo-rules.ts";
import { assignment } from "../resources/assignment/index.ts";

/** Hands in all that the program can do. What has no resource folder yet comes from operation, plan and ledger. */
export function handInResources(): void {
  handIn({
    types: {
      ...kinds,
      "grant-assets": asKind(assignment.types["grant-assets"]),
      "revoke-assets": asKind(assignment.types["revoke-assets"]),
    },
    changes: { ...stateParts, ...assignment.state.changes },
    undo: { ...undoRules, ...assignment.undo },
    nothing: () => ({ ...nothingRecorded(), ...assignment.state.nothing() }),
    resources: [assignment],
  });
}
