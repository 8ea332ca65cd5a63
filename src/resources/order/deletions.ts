import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { missingAssumptions } from "../../contract/assumptions/missing.ts";
import type { DesiredCustomer } from "../../engine/desired.ts";
import type { DeleteRecord } from "./deletion.ts";
import type { Policies } from "../../engine/policy.ts";
import type { Block } from "../../engine/plan/block.ts";
import { everywhere } from "./removal-everywhere.ts";
import { callsOf } from "./removal-calls.ts";
import type { RemovalCall } from "./removal-calls.ts";
import type { Removal, RemovalPart, Removing } from "./removal-parts.ts";
import { customerFields, productsOf, removal } from "./removal-records.ts";

/** The delete orders of one CRM order, or why they cannot be made as they have to be. */
export function deletionsOf(
  removing: Removing,
  parts: readonly RemovalPart[],
  policies: Policies,
): { meant: Removal[]; blocks: Block[] } {
  const { given, settings, limits } = removing;
  if (parts.length === 0) return { meant: [], blocks: [] };
  const body = given.desiredCustomer?.body;
  const lacking = lackingOf(body, settings);
  if (body === undefined || lacking !== undefined) return { meant: [], blocks: [lacking ?? unknownCustomer] };
  const blocks: Block[] = [];
  const meant: Removal[] = [];
  for (const part of parts) {
    for (const item of part.rows) {
      if (item.isOwned) continue;
      const made = everywhere(removing, body, part, item);
      if ("code" in made) blocks.push(made);
      else meant.push(made);
    }
  }
  for (const call of callsOf(parts, policies, limits)) meant.push(deletion(removing, body, call));
  const [missing] = missingAssumptions(settings, "E5", limits.uses);
  if (missing === undefined) return { meant, blocks };
  const { key, row, choices } = missing;
  const reason = `the setting assumptions.${key} (${row}) has no value; choose ${choices.join(" or ")}`;
  return { meant: [], blocks: [{ code: "assumption.missing", reason, again: true }] };
}

const unknownCustomer: Block = {
  code: "customer.unknown",
  reason: "no source has given the customer of the order yet",
  again: true,
};

const listedFields = ["adminName", "adminAccount", "adminEmail", "adminMobile"] as const;
const fullFields = [...listedFields, "purchaserMobile", "address"] as const;

function lackingOf(body: DesiredCustomer | undefined, { deleteShape }: AssumptionSettings): Block | undefined {
  if (body === undefined) return undefined;
  const lacking = (deleteShape === "full" ? fullFields : listedFields).filter((field) => body[field] === undefined);
  if (lacking.length === 0) return undefined;
  const reason = `nothing can be deleted for the customer yet: the CRM gives no ${lacking.join(", ")}`;
  return { code: "customer.not-orderable", reason, again: true };
}

function deletion(removing: Removing, body: DesiredCustomer, { ending, packaged, batches }: RemovalCall): Removal {
  const { settings } = removing;
  const takesAssets = batches.some((batch) => batch.asset);
  const kind = packaged ? "delete-package-products" : takesAssets ? "delete-assets" : "delete-products";
  const groups = new Map<string, Omit<DeleteRecord, "sequence">>();
  // An asset number of two units is named once in a record.
  for (const [number, own] of Map.groupBy(batches, (batch) => batch.number)) {
    const [first] = own;
    if (first === undefined) continue;
    const { unit, asset } = first;
    const all = own.flatMap((batch) => batch.rows);
    for (const licenseOrderId of new Set(all.map((item) => item.row.licenseOrderId ?? ""))) {
      const { licenseType } = unit;
      const orderType = asset ? "delete_asset" : "delete_product";
      const name = JSON.stringify([orderType, licenseType, licenseOrderId]);
      const group: Omit<DeleteRecord, "sequence"> = groups.get(name) ?? {
        ...customerFields(removing, body, licenseType),
        srcLicenseOrderId: licenseOrderId,
        licenseType,
        orderType,
        assets: [],
      };
      groups.set(name, group);
      const rows = all.filter((item) => item.row.licenseOrderId === licenseOrderId);
      group.assets.push(
        asset ? { assetNos: [number] } : { assetNos: [number], products: productsOf(rows, removing.limits) },
      );
    }
  }
  const records = [...groups]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, group], index) => ({ ...group, sequence: settings.sequenceBase + index }));
  return removal(removing, ending, kind, batches, records);
}
