import type { Problem } from "../base/errors.ts";
import { refusalOf } from "../ledger/database/newest.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** Why no run may use this ledger although it can be read: it is an older copy, or its rebuild is not finished. */
export function refusal(ledger: ReadOnlyLedger): Problem | undefined {
  return ledger.reading((database) => refusalOf(database, ledger.path));
}
