import { handIn } from "../engine/model/registry.ts";
import { nothingRecorded, stateParts } from "../engine/model/state.ts";
import { assignment } from "../resources/assignment/index.ts";
import { enterprise } from "../resources/enterprise/index.ts";
import { loan } from "../resources/loan/index.ts";
import { lock } from "../resources/lock/index.ts";
import { order } from "../resources/order/index.ts";
import { staff } from "../resources/staff/index.ts";

/** The only list of resources, in planning order. */
export function handInResources(): void {
  const resources = [enterprise, order, staff, assignment, lock, loan];
  handIn({
    types: { ...enterprise.types, ...order.types, ...staff.types, ...assignment.types, ...lock.types, ...loan.types },
    changes: {
      ...stateParts,
      ...enterprise.state.changes,
      ...order.state.changes,
      ...staff.state.changes,
      ...assignment.state.changes,
    },
    requests: { ...staff.requests, ...lock.requests, ...loan.requests },
    undo: { ...enterprise.undo, ...order.undo, ...staff.undo, ...assignment.undo, ...lock.undo, ...loan.undo },
    nothing: {
      ...nothingRecorded,
      ...enterprise.state.nothing,
      ...order.state.nothing,
      ...staff.state.nothing,
      ...assignment.state.nothing,
    },
    open: (database, ledger) => ({
      enterprise: enterprise.state.open(database),
      order: order.state.open(database, ledger),
      staff: staff.state.open(database, ledger),
      assignment: assignment.state.open(database),
    }),
    undoFacts: async (...of) => ({
      ...(await enterprise.undoFacts(...of)),
      ...(await order.undoFacts(...of)),
      ...(await staff.undoFacts(...of)),
      ...(await assignment.undoFacts(...of)),
    }),
    numbers: order.numbers,
    resources,
  });
}
