import type { RecordKey } from "../crm/model.ts";
import type { Policies } from "../engine/policy.ts";
import type { Difference, DriftClass } from "../report/reconciliation/case.ts";

/** What a whole reading of a customer showed otherwise than it was sent, and when that was. */
export interface DifferencesOfCustomer {
  customer: RecordKey;
  seenAt: string;
  differences: readonly Difference[];
  /** Licence types of what was bought and of which no product was ever shown, and when the first of it was bought. */
  neverShown: ReadonlyMap<string, string>;
}

/** Without the classes that the policies ignore. */
export function toldOf({ drift }: Policies, differences: readonly Difference[]): Difference[] {
  const { missing, extra, different } = drift;
  const words: Partial<Record<DriftClass, string>> = { missing, extra, different };
  return differences.filter((item) => words[item.class] !== "ignore");
}
