import { z } from "zod";
import type { Json } from "../base/canonical-json.ts";
import { parseJson } from "../base/canonical-json.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { parseKey } from "../crm/keys.ts";
import { licenseTypes } from "../crm/model.ts";
import type { Bindings } from "../plan/bind.ts";
import type { PayloadFacts } from "../operation/payload-facts.ts";
import type { PrivateMarker } from "../operation/references.ts";
import { selectPlatformCustomer } from "../plan/platform-customer.ts";

/** Namespace, order, instance and unit, as a reference to an asset number names them. */
const unitName = z.tuple([z.string(), z.string(), z.string(), z.int()]);

/** What the references of a payload stand for, from what is known of the customer now. */
export function bindingsFrom(
  known: PayloadFacts,
  settings: AssumptionSettings,
  values: { privateValue(marker: PrivateMarker): Json | undefined; initialPassword(staff: string): string | undefined },
): Bindings {
  const numberOf = (of: string): string | undefined => {
    const unit = unitName.safeParse(parseJson(of));
    if (!unit.success) return undefined;
    const [namespace, id, instanceId, number] = unit.data;
    return known.numberOf({ namespace, id }, instanceId, number);
  };
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
          return numberOf(reference.of);
        case "memberGlobalId":
          return known.memberOf(parseKey(reference.of));
        case "licenseOrderId":
          return undefined;
      }
    },
    privateValue: (marker) => values.privateValue(marker),
    initialPassword: (staff) => values.initialPassword(staff),
  };
}
