import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Operation } from "../operation.ts";
import { freedBy, grantedBy } from "../registry.ts";
import type { Known } from "../state.ts";

/** Policies of the old form of what was bought anew. */
const replacing: ReadonlySet<Operation["policy"]> = new Set(["orders.replaced", "orders.assetChanged"]);

/**
 * The operations of a plan, whose weight counts no seat that nobody loses: its asset was replaced in its order, and the
 * person holds the new one or is given it by this plan.
 */
export function withoutReplacedSeats(
  operations: readonly Operation[],
  { numbers, assignments }: Pick<Known, "numbers" | "assignments">,
): Operation[] {
  if (!operations.some(({ policy }) => replacing.has(policy))) return [...operations];
  const orders = new Map(numbers.map((one) => [one.number, formatKey({ namespace: one.namespace, id: one.orderId })]));
  const freed = new Set(operations.flatMap(freedBy));
  const seat = (staff: RecordKey, number: string): string => `${formatKey(staff)} ${orders.get(number) ?? ""}`;
  const stay = assignments.filter(({ assetNumber }) => !freed.has(assetNumber));
  const given = operations.flatMap((operation) =>
    operation.records.flatMap((staff) => grantedBy(operation).map((number) => seat(staff, number))),
  );
  const kept = new Set([...stay.map((one) => seat(one.staff, one.assetNumber)), ...given]);
  const replaced = new Set(
    assignments
      .filter((one) => orders.has(one.assetNumber) && kept.has(seat(one.staff, one.assetNumber)))
      .map(({ assetNumber }) => assetNumber),
  );
  return operations.map((operation) => {
    if (!replacing.has(operation.policy)) return operation;
    const gone = freedBy(operation).filter((number) => replaced.has(number)).length;
    return { ...operation, weight: { ...operation.weight, seats: Math.max(0, operation.weight.seats - gone) } };
  });
}
