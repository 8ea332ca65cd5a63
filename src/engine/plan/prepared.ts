import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Known } from "../state.ts";
import type { Block } from "./block.ts";
import { customerNumbers } from "./customer-numbers.ts";
import type { CustomerNumbers } from "./customer-numbers.ts";
import type { CustomerInput } from "./input.ts";

/** Everything one customer is planned from, with what more than one stage needs of it made once. */
export interface Prepared extends CustomerInput {
  numbers: CustomerNumbers;
  /** The channel customer number is no longer the one under which the enterprise is linked. */
  renumbered: Block | undefined;
}

/** What the stages are planned from. */
export function prepare(input: CustomerInput, settings: AssumptionSettings): Prepared {
  const numbers = customerNumbers(input.customer, input.desiredCustomer?.body.channelCustomerId, settings);
  return { ...input, numbers, renumbered: otherNumber(input.customer, input.known.link, numbers) };
}

/** Whether the CRM no longer has the customer. */
export function isGone({ desiredCustomer }: Pick<CustomerInput, "desiredCustomer">): boolean {
  return desiredCustomer?.state === "absent";
}

function otherNumber(
  customer: RecordKey,
  link: Known["link"],
  { channelCustomerId }: CustomerNumbers,
): Block | undefined {
  if (link === undefined || link.channelCustomerId === channelCustomerId) return undefined;
  return {
    code: "enterprise.renumbered",
    reason:
      `the channel customer number in the CRM is now ${channelCustomerId}, but the enterprise is linked under ` +
      `${link.channelCustomerId}. When E3 shows the enterprise under ${channelCustomerId}, enter ` +
      `\`crm-sync link ${formatKey(customer)} ${link.enterpriseGlobalId} --reason TEXT\``,
    again: true,
  };
}
