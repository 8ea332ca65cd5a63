import type { RecordKey } from "../../crm/model.ts";
import { shownStill } from "../../report/reconciliation/case.ts";
import type { DriftClass, Level } from "../../report/reconciliation/case.ts";
import { subjectOf } from "../../report/reconciliation/rows.ts";

/** What readings back showed otherwise than it was left, and what they had shown before. */
export interface Drift {
  /** Each difference that stands, by `driftName`. */
  lasting: ReadonlyMap<string, Lasting>;
  /** When our own calls bought something, by channel order number. */
  bought: ReadonlyMap<string, string>;
  /** Ids of the assets that were ever shown, by asset number. */
  assets: ReadonlyMap<string, string>;
  /** The purchases as whose each product was ever shown, by `shownName`. */
  products: ReadonlyMap<string, ReadonlySet<string>>;
  /** Members that were ever shown. */
  members: ReadonlySet<string>;
}

/** The last whole reading that showed a difference, and how many ms after the first one it was. */
export interface Lasting {
  class: DriftClass;
  ms: number;
  lastSeen: string;
  /** How often the same came and ended before, since a person last approved a change of the record. */
  before: number;
}

/** What is done of what was read back otherwise than it was left. */
export interface RepairSettings {
  /** A difference has to be shown by whole readings at least so long apart. */
  settleMs: number;
}

/** The name of a difference. */
export function driftName(level: string, subject: string, of: string): string {
  return JSON.stringify([level, subject, of]);
}

/** The name of a product under an asset number. */
export function shownName(number: string, product: string): string {
  return `${number}/${product}`;
}

type About = Partial<{ order: RecordKey; item: string; assetNumber: string; staff: RecordKey }>;

/** The last reading of a difference that at least two whole readings showed, far enough apart to be believed. */
export function lastingOf(
  { drift, repairs }: { drift: Drift | undefined; repairs: RepairSettings | undefined },
  level: Level,
  of: DriftClass,
  about: About,
): Lasting | undefined {
  const { order, item, assetNumber, staff } = about;
  // Of what is there too much, what our own purchases brought is told apart from what others made.
  const begins = of === "extra" ? shownStill : "";
  const subject = `${begins}${subjectOf({ order, item, assetNumber, staff })}`;
  const lasting = drift?.lasting.get(driftName(level, subject, of));
  return isLongEnough(lasting, repairs) ? lasting : undefined;
}

/** Whether the first and the last reading that show a difference are two, and far enough apart. */
function isLongEnough(lasting: Lasting | undefined, repairs: RepairSettings | undefined): boolean {
  return lasting !== undefined && repairs !== undefined && lasting.ms > 0 && lasting.ms >= repairs.settleMs;
}

/** Whether anything is missing, or there though it had ended, for long enough. */
export function lastsAnything(drift: Drift | undefined, repairs: RepairSettings | undefined): boolean {
  return [...(drift?.lasting.values() ?? [])].some(
    (lasting) => (lasting.class === "missing" || lasting.class === "extra") && isLongEnough(lasting, repairs),
  );
}

/** How often the account of a person was shown otherwise before, and ended so, since a person last approved of it. */
export function turnedBefore(drift: Drift | undefined, staff: RecordKey): number {
  return drift?.lasting.get(driftName("staff", subjectOf({ staff }), "different"))?.before ?? 0;
}
