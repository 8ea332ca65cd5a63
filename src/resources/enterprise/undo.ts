import type { UndoReading } from "../../engine/model/resource.ts";
import type { DesiredCustomer } from "../../engine/model/desired.ts";
import type { PrivateMarker } from "../../engine/model/references.ts";
import { acknowledgedFields, type AcknowledgedFields } from "./state.ts";
import { planEnterprise } from "./plan.ts";
import { isNewest, newerSince, type DoneOperation, type Undoes, type Undoing } from "../../engine/plan/undo.ts";

function undoUpdate(row: DoneOperation<"update-enterprise">, of: Undoing): Undoes {
  const { given, options, run } = of;
  const { before, after } = row.operation;
  const now = given.known.acknowledged;
  const desired = given.desiredCustomer;
  if (before === null) return { is: "impossible", why: "the enterprise was adopted: its earlier state is not known" };
  if (now === undefined || desired === undefined)
    return { is: "impossible", why: "the customer is not linked any more" };
  if (isSame(now, before)) return { is: "nothing-left" };
  if (!isSame(now, after) || !isNewest(row, of)) return newerSince;
  const name = markerOf(of, "name", before.name);
  const address = before.address === null ? undefined : markerOf(of, "address", before.address);
  if (name === undefined || (before.address !== null && address === undefined))
    return { is: "impossible", why: "the earlier name and address are no longer kept" };
  const { address: _, ...others } = desired.body;
  const body: DesiredCustomer = {
    ...others,
    name,
    branchName: before.branchName,
    ...(address === undefined ? {} : { address }),
  };
  const asBefore = { ...given, desiredCustomer: { ...desired, state: "current" as const, body } };
  const { meant, note, block } = planEnterprise(asBefore, options.settings, options.policies);
  const told = note ?? block;
  const stays = isSame(acknowledgedFields(body), before) && (after.address === null || before.address !== null);
  if (meant.length > 0)
    return {
      is: "meant",
      meant: meant.map((item) => ({ ...item, reason: `undo of ${run}, which changed the enterprise` })),
      lacks: stays || options.settings.emptyAddress === "empty" ? undefined : "the address stays: E4 clears none (A14)",
    };
  return told === undefined ? { is: "nothing-left" } : { is: "waits", block: told };
}

function isSame(one: AcknowledgedFields, other: AcknowledgedFields): boolean {
  return one.name === other.name && one.branchName === other.branchName && one.address === other.address;
}

function markerOf({ facts }: Undoing, field: "name" | "address", commitment: string): PrivateMarker | undefined {
  return facts.customerForms
    .flatMap((form) => form[field] ?? [])
    .find((marker) => marker.commitment === commitment && facts.isKept(marker));
}

export const undo = { "update-enterprise": undoUpdate };

export const undoFacts: UndoReading<"customerForms"> = async ({ state }, customer) => ({
  customerForms: await state.customerForms(customer),
});

declare module "../../engine/plan/undo.ts" {
  interface UndoFacts {
    /** Newest first. */
    customerForms: readonly DesiredCustomer[];
  }
}
