import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { assetUnit } from "./references.ts";
import type { Known } from "./state.ts";

/** What is known of a customer as far as the references of one payload need it. */
export interface PayloadFacts extends Pick<Known, "link" | "platformCustomers" | "enterpriseCode"> {
  /** The number that is fixed to a unit of an asset instance, by its name (`assetUnit`). */
  numberOf(unit: string): string | undefined;
  memberOf(staff: RecordKey): string | undefined;
}

/** Numbers by the unit that each belongs to. */
export class FixedNumbersByUnit {
  readonly #byUnit = new Map<string, string>();

  constructor(numbers: readonly Known["numbers"][number][]) {
    this.add(numbers);
  }

  add(numbers: readonly Known["numbers"][number][]): void {
    for (const { number, namespace, orderId, instanceId, unit } of numbers)
      this.#byUnit.set(assetUnit({ namespace, id: orderId }, instanceId, unit), number);
  }

  of(unit: string): string | undefined {
    return this.#byUnit.get(unit);
  }
}

/** The same from a known state that is in memory; `numbers`: those of the state, where they are at hand by unit. */
export function payloadFactsOf(known: Known, numbers = new FixedNumbersByUnit(known.numbers)): PayloadFacts {
  return {
    link: known.link,
    platformCustomers: known.platformCustomers,
    enterpriseCode: known.enterpriseCode,
    numberOf: (unit) => numbers.of(unit),
    memberOf: (staff) => known.staffLinks.get(formatKey(staff))?.memberGlobalId,
  };
}
