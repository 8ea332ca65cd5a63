import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import type { ShownEnterprise } from "../../platform/snapshot.ts";
import { acknowledgedFields } from "./state/facts.ts";
import { customerNumbers } from "../../engine/plan/input.ts";
import type { LoadedCustomer } from "../../engine/plan/input.ts";
import { nothingRead } from "../../engine/plan/drift.ts";
import type { ReadBack } from "../../engine/plan/drift.ts";

/**
 * What E3 shows of a customer whose enterprise a person made, changed or renumbered. Nothing reads name, branch and
 * address back: they count by that person's word.
 */
export function readBackCustomer(
  { customer, desiredCustomer, known }: LoadedCustomer,
  enterprises: readonly ShownEnterprise[],
  settings: AssumptionSettings,
): ReadBack {
  const read = nothingRead();
  if (desiredCustomer === undefined) return read;
  const { channelCustomerId } = customerNumbers(customer, desiredCustomer.body.channelCustomerId, settings);
  const { link } = known;
  const found = enterprises.filter((item) => link === undefined || item.enterpriseGlobalId === link.enterpriseGlobalId);
  const [only] = found;
  if (only === undefined || found.length > 1) {
    const what = link === undefined ? "enterprise" : `enterprise ${link.enterpriseGlobalId}`;
    const shown = enterprises.map((item) => item.enterpriseGlobalId).join(", ");
    read.otherwise.push(
      `E3 shows not exactly one ${what} under the channel customer number ${channelCustomerId}: ` +
        (shown === "" ? "none" : shown),
    );
    return read;
  }
  const { enterpriseGlobalId, customers } = only;
  read.seen.push(`the enterprise ${enterpriseGlobalId} under the channel customer number ${channelCustomerId}`);
  if (link?.channelCustomerId !== channelCustomerId) {
    const channelCode = customers[0]?.channelCode ?? settings.channelCode ?? "";
    const { origin, examined } = link ?? { origin: "adopted", examined: false };
    const made = { enterpriseGlobalId, channelCode, channelCustomerId, origin, examined };
    read.changes.push({ type: "linked", customer, link: made });
  }
  read.changes.push(
    { type: "platform-customers", enterpriseGlobalId, customers },
    { type: "acknowledged", customer, fields: acknowledgedFields(desiredCustomer.body) },
  );
  read.unseen.push("name", "branch", "address");
  return read;
}
