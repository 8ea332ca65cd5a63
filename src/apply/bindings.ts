import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { parseKey } from "../crm/keys.ts";
import { licenseTypes } from "../crm/model.ts";
import type { Bindings } from "../engine/plan/bind.ts";
import type { PayloadFacts } from "../engine/payload-facts.ts";
import { selectPlatformCustomer } from "../resources/enterprise/platform-customer.ts";

/** What the references of a payload stand for, from what is known of the customer now. */
export function bindingsFrom(
  known: PayloadFacts,
  settings: AssumptionSettings,
  values: Omit<Bindings, "reference"> & {
    /** Of an amendment. */
    channelOrderId?: string | undefined;
  },
): Bindings {
  return {
    reference: (reference) => {
      switch (reference.$ref) {
        case "enterpriseGlobalId":
          return known.link?.enterpriseGlobalId;
        case "customerId": {
          const licenseType = licenseTypes.find((type) => type === reference.of);
          if (licenseType === undefined) return undefined;
          const selected = selectPlatformCustomer(known, licenseType, settings);
          return "customerId" in selected ? selected.customerId : undefined;
        }
        case "assetNumber":
          return known.numberOf(reference.of);
        case "memberGlobalId":
          return known.memberOf(parseKey(reference.of));
        case "channelOrderId":
          return values.channelOrderId;
        case "licenseOrderId":
          return undefined;
      }
    },
    privateValue: (marker) => values.privateValue(marker),
    initialPassword: (staff) => values.initialPassword(staff),
    newPassword: (staff) => values.newPassword(staff),
  };
}
