import type { RecordKey } from "../../crm/model.ts";
import { shownStill, subjectOf, type DriftClass, type Level } from "../../report/reconciliation/case.ts";
import type { StateChange } from "../model/state.ts";

/** The drift that readings showed, and everything that they ever showed. */
export interface Drift {
  lasting: ReadonlyMap<string, Lasting>;
  bought: ReadonlyMap<string, string>;
  assets: ReadonlyMap<string, string>;
  /** The purchases under which each product was ever shown, by `shownName`. */
  products: ReadonlyMap<string, ReadonlySet<string>>;
  members: ReadonlySet<string>;
}

/** The last complete reading that showed a difference, and the ms from the first reading to it. */
export interface Lasting {
  class: DriftClass;
  ms: number;
  lastSeen: string;
  /** How often the same difference appeared and ended since a person last approved a change of the record. */
  before: number;
}

export interface RepairSettings {
  /** How far apart the complete readings that show a difference must be. */
  settleMs: number;
}

export function driftName(level: string, subject: string, of: string): string {
  return JSON.stringify([level, subject, of]);
}

export function shownName(number: string, product: string): string {
  return `${number}/${product}`;
}

type About = Partial<{ order: RecordKey; item: string; assetNumber: string; staff: RecordKey }>;

/** The last reading of a difference, if at least two complete readings far enough apart showed it. */
export function lastingOf(
  { drift, repairs }: { drift: Drift | undefined; repairs: RepairSettings | undefined },
  level: Level,
  of: DriftClass,
  about: About,
): Lasting | undefined {
  const { order, item, assetNumber, staff } = about;
  // Extra products of our own purchases have another name than those that others made.
  const begins = of === "extra" ? shownStill : "";
  const subject = `${begins}${subjectOf({ order, item, assetNumber, staff })}`;
  const lasting = drift?.lasting.get(driftName(level, subject, of));
  return isLongEnough(lasting, repairs) ? lasting : undefined;
}

/** Whether the first and the last reading of a difference are two readings, and far enough apart. */
function isLongEnough(lasting: Lasting | undefined, repairs: RepairSettings | undefined): boolean {
  return lasting !== undefined && repairs !== undefined && lasting.ms > 0 && lasting.ms >= repairs.settleMs;
}

export function lastsAnything(drift: Drift | undefined, repairs: RepairSettings | undefined): boolean {
  return [...(drift?.lasting.values() ?? [])].some(
    (lasting) => (lasting.class === "missing" || lasting.class === "extra") && isLongEnough(lasting, repairs),
  );
}

/** How often drift of a person's account appeared and ended since a person last approved a change of it. */
export function turnedBefore(drift: Drift | undefined, staff: RecordKey): number {
  return drift?.lasting.get(driftName("staff", subjectOf({ staff }), "different"))?.before ?? 0;
}

/** A reading of a person's manual work for a record. Nothing of it counts if anything differs. */
export interface ReadBack {
  changes: StateChange[];
  /** Descriptions of parts that are as the CRM wants them, without private values. */
  seen: string[];
  unseen: string[];
  otherwise: string[];
}

export function nothingRead(): ReadBack {
  return { changes: [], seen: [], unseen: [], otherwise: [] };
}

export function addRead(read: ReadBack, more: ReadBack): void {
  read.changes.push(...more.changes);
  read.seen.push(...more.seen);
  read.unseen.push(...more.unseen);
  read.otherwise.push(...more.otherwise);
}
