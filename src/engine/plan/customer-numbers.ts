import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { fillTemplate } from "../../contract/template.ts";
import type { RecordKey } from "../../crm/model.ts";

/** Under which numbers the platform knows a customer of the CRM (A8). */
export interface CustomerNumbers {
  crmCustomerId: string;
  channelCustomerId: string;
}

/** The CRM and channel numbers of a customer, made by the configured templates; `override` is the CRM's own. */
export function customerNumbers(
  customer: RecordKey,
  override: string | undefined,
  settings: AssumptionSettings,
): CustomerNumbers {
  const values = { id: customer.id, namespace: customer.namespace };
  return {
    crmCustomerId: fillTemplate(settings.crmCustomerIdTemplate, values),
    channelCustomerId: override ?? fillTemplate(settings.channelCustomerIdTemplate, values),
  };
}
