import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { channelCodesOf } from "../../contract/assumption-settings.ts";
import { fillTemplate } from "../../contract/template.ts";
import type { RecordKey } from "../../crm/model.ts";
import { selectCustomer } from "../../contract/template.ts";
import type { Known } from "../model/state.ts";
import type { Block } from "./block.ts";

/**
 * The templates that connect a CRM customer with its channel number. They are confirmed once E3 showed an enterprise
 * that an E2 of this ledger created (A8).
 */
export function correlationOf(settings: AssumptionSettings): string {
  return correlation(settings, settings.channelCustomerIdTemplate);
}

/**
 * The correlation that E3 must have confirmed before a customer counts as missing there. It has the template of the
 * channel number, or the number itself if the CRM gave another one.
 */
export function correlationFor(settings: AssumptionSettings, customer: RecordKey, channelCustomerId: string): string {
  const { id, namespace } = customer;
  const made = fillTemplate(settings.channelCustomerIdTemplate, { id, namespace });
  return made === channelCustomerId ? correlationOf(settings) : correlation(settings, channelCustomerId);
}

function correlation(settings: AssumptionSettings, channelCustomerId: string): string {
  return `${settings.crmCustomerIdTemplate} ${channelCustomerId} ${channelCodesOf(settings).join(",")}`;
}

/**
 * Blocks an order if the customer's platform customers are known and a licence type does not match exactly one (A12).
 */
export function selectionBlock(
  known: Pick<Known, "platformCustomers" | "link">,
  types: readonly Parameters<typeof selectCustomer>[1][],
  settings: AssumptionSettings,
): Block | undefined {
  if (known.link === undefined || known.platformCustomers.length === 0) return undefined;
  for (const licenseType of types) {
    const selected = selectPlatformCustomer(known, licenseType, settings);
    if ("code" in selected) return selected;
  }
  return undefined;
}

/** The platform customer for orders of a licence type, or why there is not exactly one (A12). */
export function selectPlatformCustomer(
  known: Pick<Known, "platformCustomers">,
  licenseType: Parameters<typeof selectCustomer>[1],
  settings: AssumptionSettings,
): { customerId: string } | Block {
  const selected = selectCustomer(known.platformCustomers, licenseType, settings);
  if (selected.ok) return { customerId: selected.value.customerId };
  return {
    code: "enterprise.no-single-customer",
    reason:
      `${selected.error.hits} ${selected.error.selector} customers of the enterprise fit the licence ` +
      `type ${licenseType}, but exactly one must fit (A12)`,
    again: true,
  };
}
