import { AmbiguousReading } from "../platform/services.ts";
import type { SnapshotReader } from "../platform/snapshot.ts";
import { journalEntry, type JournalRow } from "../ledger/journal/journal-tables.ts";
import type { Evidence, SettleFacts } from "./model/operation-type.ts";
import { typeOf } from "./model/registry.ts";
import type { CustomerState, EngineDependencies } from "./customer.ts";
import { z } from "zod";
import { toJson, type Json, type JsonObject } from "../base/canonical-json.ts";
import { toInstant } from "../base/clock.ts";
import { pausedCode } from "../ledger/pause.ts";
import { deliver } from "./deliver.ts";

type Dependencies = Pick<EngineDependencies, "ledger" | "settings" | "ordersUnseen">;

const evidenceSchema = z.object({
  readings: z.array(
    z.object({
      at: z.string(),
      seen: z.boolean(),
      attempts: z.int(),
      /** The call could still take effect at that time. */
      early: z.literal(true).optional(),
      detail: z.unknown(),
    }),
  ),
});
const keptReadings = 20;

export function readingsIn(evidence: Json): z.infer<typeof evidenceSchema>["readings"] {
  const found = evidenceSchema.safeParse(evidence);
  return found.success ? found.data.readings : [];
}

/** `attempts`: the sends before the reading. The last reading that showed an effect always stays. */
export function evidenceWith(
  row: JournalRow,
  reading: { at: string; seen: boolean; early?: true; detail: JsonObject },
  atLeast = 0,
): JsonObject {
  const all = [...readingsIn(row.evidence), { ...reading, attempts: row.attempts }];
  const most = Math.max(keptReadings, atLeast);
  const shown = all.slice(0, -most).findLast((item) => item.seen);
  const kept = [...(shown === undefined ? [] : [shown]), ...all.slice(-most)];
  return {
    readings: kept.map(({ at, seen, attempts, early, detail }) => ({
      at,
      seen,
      attempts,
      ...(early && { early }),
      detail: toJson(detail),
    })),
  };
}

export function settleFacts(deps: Dependencies, knows: Pick<CustomerState, "held">): SettleFacts {
  const { ledger, settings, ordersUnseen } = deps;
  return {
    settings,
    ordersUnseen,
    known: () => knows.held.known,
    privateValue: (marker) => ledger.private.valueOf(marker),
    correlationConfirmed: (correlation) => ledger.state.correlationConfirmed(correlation),
    isShown: (licenseType) => isShown(deps, licenseType),
    orderNow: (order) => ledger.records.orderNow(order),
  };
}

/** Reads anew: an earlier reading may be older than the effect. Throws if a reading fails, which is not `not-found`. */
export async function readEvidence(
  deps: Dependencies & { reader: SnapshotReader },
  row: JournalRow,
  knows: Pick<CustomerState, "held">,
  signal?: AbortSignal,
): Promise<Evidence> {
  const { operation } = row;
  const entry = journalEntry(row);
  const { onUnknown } = typeOf(operation);
  const observe = onUnknown.by === "observe" || onUnknown.by === "resend" ? onUnknown.observe : undefined;
  if (observe === undefined) return { kind: "not-found", detail: { call: "none: no operation reads it back" } };
  try {
    return await observe(entry, deps.reader.of(operation.customer, signal), settleFacts(deps, knows));
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

export async function sendAgain(
  deps: EngineDependencies,
  { row, runId, signal, knows }: Open,
  why: string,
): Promise<Settled> {
  deps.logger.info({ ...named(row), why }, "sent again");
  const delivery = await deliver(deps, undefined, row.operation, {
    runId: runId ?? row.runId,
    state: knows,
    existing: {
      id: row.id,
      wireHash: row.wireHash,
      context: journalEntry(row).context,
      settleAfter: row.settleAfter,
    },
    signal,
  });
  switch (delivery.kind) {
    case "done":
      return { kind: "done", id: row.id };
    case "rejected":
      return { kind: "dropped", id: row.id };
    case "unknown":
      return { kind: "waiting", id: row.id, until: toInstant(deps.clock.now() + deps.settle.timeMs) };
    case "parked":
      return { kind: "parked", id: row.id, reason: delivery.reason };
    case "stopped":
      return { kind: "unreadable", id: row.id, reason: "the run was stopped" };
    case "not-sent":
    case "blocked":
      if (delivery.kind === "blocked" && delivery.code === pausedCode) return { kind: "paused", id: row.id };
      return { kind: "unreadable", id: row.id, reason: delivery.reason };
  }
}

export type Settled =
  | { kind: "done"; id: string }
  /** Not applied, or rejected when sent again. The customer is planned again. */
  | { kind: "dropped"; id: string }
  /** The service had rejected it, and the platform shows no effect. It is not sent again unchanged. */
  | { kind: "rejected"; id: string; code: string; reason: string }
  | { kind: "waiting"; id: string; until: string }
  | { kind: "parked"; id: string; reason: string }
  | { kind: "unreadable"; id: string; reason: string }
  | { kind: "paused"; id: string };

export interface Open {
  row: JournalRow;
  runId: string | null;
  signal: AbortSignal | undefined;
  knows: CustomerState;
}

export function stillParked(row: JournalRow): Settled {
  return { kind: "parked", id: row.id, reason: row.outcomeMessage ?? "waits for a person" };
}

export function named(row: JournalRow): { operation: string; endpoint: string; subject: string } {
  return { operation: row.id, endpoint: row.operation.endpoint, subject: row.operation.subject };
}

/** Whether the platform is known to show assets of a licence type (A43). */
export async function isShown(
  { settings, ledger }: Pick<EngineDependencies, "settings" | "ledger">,
  licenseType: string,
): Promise<boolean> {
  const found = ledger.assumptions.contradictions.get("A43");
  if (found !== undefined && (found.about.length === 0 || found.about.includes(licenseType))) return false;
  const types: readonly string[] | undefined = settings.visibleLicenseTypes;
  return types === undefined ? await ledger.state.licenceTypeShown(licenseType) : types.includes(licenseType);
}
