import { AmbiguousReading } from "../platform/ambiguous-reading.ts";
import type { SnapshotReader } from "../platform/snapshot.ts";
import { journalEntry } from "../ledger/journal/journal-tables.ts";
import type { JournalRow } from "../ledger/journal/journal-tables.ts";
import type { Evidence, SettleFacts } from "../engine/operation-type.ts";
import { typeOf } from "../engine/registry.ts";
import type { CustomerState } from "./customer-state.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import { isShown } from "./licence-types.ts";

type Dependencies = Pick<ApplyDependencies, "ledger" | "settings" | "ordersUnseen">;

/** What an operation of a customer is settled by, beside its own journal entry. */
export function settleFacts(deps: Dependencies, knows: Pick<CustomerState, "known">): SettleFacts {
  const { ledger, settings, ordersUnseen } = deps;
  return {
    settings,
    ordersUnseen,
    known: () => knows.known(),
    privateValue: (marker) => ledger.private.valueOf(marker),
    correlationConfirmed: (correlation) => ledger.state.correlationConfirmed(correlation),
    isShown: (licenseType) => isShown(deps, licenseType),
    orderNow: (order) => ledger.records.orderNow(order),
  };
}

/**
 * Reads what proves an operation, anew each time: what was read while the call could still land says nothing of what
 * landed meanwhile. Rejects where the platform gave nothing: a failed reading never finds nothing.
 */
export async function readEvidence(
  deps: Dependencies,
  reader: SnapshotReader,
  row: JournalRow,
  knows: Pick<CustomerState, "known">,
  signal?: AbortSignal,
): Promise<Evidence> {
  const { operation } = row;
  const { onUnknown } = typeOf(operation);
  const observe = onUnknown.by === "observe" || onUnknown.by === "resend" ? onUnknown.observe : undefined;
  if (observe === undefined) return { kind: "not-found", detail: { call: "none: no operation reads it back" } };
  try {
    return await observe(journalEntry(row), reader.of(operation.customer, signal), settleFacts(deps, knows));
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
