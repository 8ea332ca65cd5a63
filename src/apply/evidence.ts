import { AmbiguousReading } from "../platform/snapshot.ts";
import type { SnapshotReader } from "../platform/snapshot.ts";
import type { RecordKey } from "../crm/model.ts";
import { journalEntry } from "../ledger/journal/journal-tables.ts";
import type { JournalRow } from "../ledger/journal/journal-tables.ts";
import type { Evidence, SettleFacts } from "../operation/kind.ts";
import { kindOf } from "../operation/registry.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import { isShown } from "./licence-types.ts";

type Dependencies = Pick<ApplyDependencies, "ledger" | "settings" | "ordersUnseen">;

/** What an operation of a customer is settled by, beside its own journal entry. */
export function settleFacts(deps: Dependencies, customer: RecordKey): SettleFacts {
  const { ledger, settings, ordersUnseen } = deps;
  return {
    settings,
    ordersUnseen,
    known: () => ledger.state.known(customer),
    privateValue: (marker) => ledger.private.valueOf(marker),
    correlationConfirmed: (correlation) => ledger.state.correlationConfirmed(correlation),
    isShown: (licenseType) => isShown(deps, licenseType),
    orderNow: (order) => ledger.records.orderNow(order),
  };
}

/** Reads what proves an operation. Rejects where the platform gave nothing: a failed reading never finds nothing. */
export async function readEvidence(
  deps: Dependencies,
  reader: SnapshotReader,
  row: JournalRow,
  signal?: AbortSignal,
): Promise<Evidence> {
  const { operation } = row;
  try {
    return await kindOf(operation).read(journalEntry(row), reader, settleFacts(deps, operation.customer), signal);
  } catch (error) {
    if (!(error instanceof AmbiguousReading)) throw error;
    return {
      kind: "ambiguous",
      reason: `${error.message}; ${error.cure}`,
      detail: { ambiguous: error.message },
      says: "nothing",
    };
  }
}
