import type { RecordKey } from "../crm/model.ts";
import type { Difference } from "../report/reconciliation/case.ts";

/** What a whole reading of a customer showed otherwise than it was sent, and when that was. */
export interface DifferencesOfCustomer {
  customer: RecordKey;
  seenAt: string;
  differences: readonly Difference[];
  /** Licence types of what was bought and of which no product was ever shown, and when the first of it was bought. */
  neverShown: ReadonlyMap<string, string>;
}
