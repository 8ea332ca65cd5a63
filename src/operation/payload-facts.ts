import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { FixedNumber } from "./state/asset-numbers.ts";
import type { Known } from "./state.ts";

/** What is known of a customer as far as the references of one payload need it. */
export interface PayloadFacts extends Pick<Known, "link" | "platformCustomers" | "enterpriseCode"> {
  /** The number that is fixed to a unit of an asset instance. */
  numberOf(order: RecordKey, instanceId: string, unit: number): string | undefined;
  memberOf(staff: RecordKey): string | undefined;
}

/** Numbers by the unit that each belongs to. */
export class FixedNumbersByUnit {
  readonly #byUnit = new Map<string, string>();

  constructor(numbers: readonly FixedNumber[]) {
    this.add(numbers);
  }

  add(numbers: readonly FixedNumber[]): void {
    for (const { number, namespace, orderId, instanceId, unit } of numbers)
      this.#byUnit.set(JSON.stringify([namespace, orderId, instanceId, unit]), number);
  }

  of({ namespace, id }: RecordKey, instanceId: string, unit: number): string | undefined {
    return this.#byUnit.get(JSON.stringify([namespace, id, instanceId, unit]));
  }
}

/** The same from a known state that is in memory; `numbers`: those of the state, where they are at hand by unit. */
export function payloadFactsOf(known: Known, numbers = new FixedNumbersByUnit(known.numbers)): PayloadFacts {
  return {
    ...known,
    numberOf: (order, instanceId, unit) => numbers.of(order, instanceId, unit),
    memberOf: (staff) => known.staffLinks.get(formatKey(staff))?.memberGlobalId,
  };
}
