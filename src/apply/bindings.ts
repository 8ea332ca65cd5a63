import type { Json } from "../base/canonical-json.ts";
import type { ContractSettings } from "../contract/settings.ts";
import { licenseTypes } from "../crm/model.ts";
import type { Bindings } from "../plan/bind.ts";
import type { Known } from "../plan/input.ts";
import type { PrivateMarker } from "../plan/operation.ts";
import { selectPlatformCustomer } from "../plan/orders.ts";

/** What the references of a payload stand for, from what is known of the customer now. */
export function bindingsFrom(
  known: Known,
  settings: ContractSettings,
  values: { privateValue(marker: PrivateMarker): Json | undefined; initialPassword(staff: string): string | undefined },
): Bindings {
  let numbers: Map<string, string> | undefined;
  const numberOf = (slot: string): string | undefined => {
    numbers ??= new Map(
      known.numbers.map((item) => [
        JSON.stringify([item.namespace, item.orderId, item.instanceId, item.slot]),
        item.number,
      ]),
    );
    return numbers.get(slot);
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
          return known.staffLinks.get(reference.of)?.memberGlobalId;
        case "licenseOrderId":
          return undefined;
      }
    },
    privateValue: (marker) => values.privateValue(marker),
    initialPassword: (staff) => values.initialPassword(staff),
  };
}
