import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { channelCodesOf } from "../../contract/assumption-settings.ts";
import { fillTemplate } from "../../contract/template.ts";
import type { RecordKey } from "../../crm/model.ts";

/**
 * Which templates tie a CRM customer to its channel number: confirmed once E3 showed an enterprise that an E2 of this
 * ledger made (A8).
 */
export function correlationOf(settings: AssumptionSettings): string {
  return correlation(settings, settings.channelCustomerIdTemplate);
}

/**
 * What E3 must have shown before a customer counts as absent: its template, or, if the CRM gave a number of its own,
 * that very number.
 */
export function correlationFor(settings: AssumptionSettings, customer: RecordKey, channelCustomerId: string): string {
  const { id, namespace } = customer;
  const made = fillTemplate(settings.channelCustomerIdTemplate, { id, namespace });
  return made === channelCustomerId ? correlationOf(settings) : correlation(settings, channelCustomerId);
}

function correlation(settings: AssumptionSettings, channelCustomerId: string): string {
  return `${settings.crmCustomerIdTemplate} ${channelCustomerId} ${channelCodesOf(settings).join(",")}`;
}
