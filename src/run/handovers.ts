import { learned } from "../apply/customer-planning.ts";
import type { CustomerState } from "../apply/customer-state.ts";
import type { Operation } from "../operation/operation.ts";
import type { Handover } from "../operation/shape.ts";
import type { StateChange } from "../operation/state.ts";
import type { Taking } from "../plan/limits.ts";
import { goingWithout } from "../plan/needs-of-operations.ts";
import { awaitsLeaving, backTo, takenBack } from "../plan/moved-orders.ts";
import type { Why } from "./record-outcomes.ts";

type Waiting = Operation & { handover: Handover };

/** The purchases among these that wait until what stands of their orders elsewhere is gone. */
export function waitingIn(operations: readonly Operation[]): Waiting[] {
  return operations.filter((operation): operation is Waiting => operation.handover !== undefined);
}

/** What goes on without them. */
export function withoutWaiting(operations: readonly Operation[]): Operation[] {
  const waiting = waitingIn(operations);
  if (waiting.length === 0) return [...operations];
  const others = operations.filter((operation) => operation.handover === undefined);
  return goingWithout(others, waiting);
}

/** Why a purchase that was released waits still. */
export function whyWaiting({ handover }: Waiting): Why {
  return awaitsLeaving(handover);
}

/** Gives the orders of purchases that nothing holds over, so that what stands of them elsewhere goes. */
export async function giveOver(knows: CustomerState, released: readonly Waiting[]): Promise<void> {
  await keep(
    knows,
    released.flatMap(({ handover: { order, elsewhere, isGiven }, customer }): StateChange[] =>
      isGiven ? [] : [{ type: "order-moved", order, from: elsewhere, customer }],
    ),
  );
}

/** Takes orders back that were given over and whose purchases are held, or are to be judged anew. */
export async function takeBack(knows: CustomerState, held: readonly Waiting[]): Promise<void> {
  await keep(
    knows,
    held.flatMap(({ handover, customer }) => (handover.isGiven ? [backTo(customer, handover)] : [])),
  );
}

/** Those of which it is to be judged whether they are held, and which no person approved. */
export function notApproved(operations: readonly Operation[], takings: readonly Taking[]): Waiting[] {
  const open = new Set(takings.filter(({ approved }) => !approved).map(({ hash }) => hash));
  return waitingIn(operations).filter(({ hash }) => open.has(hash));
}

/** Takes back every order that was given over to a customer of whom nothing can be planned now. */
export async function takeAllBack(knows: CustomerState): Promise<void> {
  await keep(knows, takenBack(knows.held ?? (await knows.loaded())));
}

async function keep(knows: CustomerState, changes: readonly StateChange[]): Promise<void> {
  if (changes.length > 0) await knows.record(changes, learned(knows.customer, changes));
}
