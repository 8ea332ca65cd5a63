import { formatKey } from "../../crm/keys.ts";
import { counted } from "../../report/text.ts";
import type { Block } from "./block.ts";
import type { CustomerInput } from "./input.ts";

/** Why nothing of a customer may be removed while records that could want it kept are in quarantine. */
export function quarantineBlock({
  customer,
  quarantinedInScope: own,
  sourceWithStrayRecord: stray,
}: Pick<CustomerInput, "customer" | "quarantinedInScope" | "sourceWithStrayRecord">): Block | undefined {
  if (own > 0) {
    return {
      code: "revokes.blocked",
      reason:
        `${counted(own, "record")} of this customer ${own === 1 ? "waits" : "wait"} in quarantine, so nothing is ` +
        `removed: \`crm-sync explain customer ${formatKey(customer)}\` lists them`,
      again: true,
    };
  }
  if (stray === undefined) return undefined;
  return {
    code: "revokes.blocked",
    reason:
      `a person of the source ${stray.source} waits in quarantine, and the customer of that person is not known. So ` +
      `nothing is removed from people of ${stray.source}: \`crm-sync quarantine show ${stray.row}\` shows the person`,
    again: true,
  };
}
