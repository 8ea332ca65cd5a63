import { formatKey } from "../crm/keys.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import type { Reading } from "../ledger/records/reading.ts";
import { keyOfRow } from "../ledger/records/staged-records.ts";
import type { MappedRow, StagedRecords } from "../ledger/records/staged-records.ts";
import type { SkippedRecord } from "../ledger/records/skipped.ts";
import type { SourceItem } from "../source/reader.ts";
import type { StreamMapping } from "../source/source.ts";
import { unlessAccepted } from "./belief/guards.ts";
import type { Accepted, Doubt } from "./belief/guards.ts";
import { ReadJudge } from "./belief/judge.ts";
import type { JudgedRead, ReadLimit, Suspect } from "./belief/judge.ts";
import { hashOfItem, mapItem } from "./map-row.ts";
import type { StreamTally } from "./tally.ts";

/** Of what a read is, and how it is mapped. */
export interface IntakeOf {
  read: Reading;
  mapping: StreamMapping;
  salt: string;
  settings: AssumptionSettings;
}

/**
 * Takes the rows of one read in. What is as it was is only remembered. What is new or changed is staged until the read
 * has ended and is believed; of a source that has given nothing yet it is taken in at once: there is nothing to compare
 * it with.
 */
export class Intake {
  readonly #of: IntakeOf;
  readonly #tally: StreamTally;
  readonly #staged: StagedRecords | undefined;
  #isTaken = false;

  constructor(of: IntakeOf, tally: StreamTally) {
    this.#of = of;
    this.#tally = tally;
    this.#staged = of.read.stage();
  }

  /** Whether everything that came until now is in the ledger. */
  get isTakenIn(): boolean {
    return this.#staged === undefined || this.#staged.size === 0 || this.#isTaken;
  }

  /** Rows that came, also those that are staged. */
  get rows(): number {
    return this.#tally.extracted + (this.#isTaken ? 0 : (this.#staged?.size ?? 0));
  }

  async add(items: readonly SourceItem[]): Promise<void> {
    const { read, mapping, salt, settings } = this.#of;
    const hashed = items.map((item) => ({ item, hash: hashOfItem(item, salt + mapping.fingerprint) }));
    const hashes = hashed.map(({ hash }) => hash);
    const seen = await read.markSeen(hashes);
    const fresh: MappedRow[] = [];
    const skipped: SkippedRecord[] = [];
    for (const { item, hash } of hashed) {
      if (seen.unchanged.has(hash)) this.#tally.unchanged += 1;
      else if (seen.quarantined.has(hash)) this.#tally.quarantined += 1;
      else {
        const mapped = mapItem(read.stream, item, hash, mapping, settings);
        if ("skipped" in mapped) skipped.push(mapped.skipped);
        else fresh.push(mapped);
      }
    }
    this.#tally.extracted += items.length - fresh.length;
    this.#tally.skipped += skipped.length;
    if (skipped.length > 0) await read.skip(skipped);
    if (this.#staged === undefined) await this.#take(fresh);
    else this.#staged.put(fresh);
  }

  /**
   * Why the rows that were staged are not believed; where they are, they are taken in. Those that look like others wait
   * in quarantine, unless a person believes so many.
   */
  async end(
    read: Pick<JudgedRead, "isWhole" | "isComplete">,
    limits: { newIds: ReadLimit; massChange: ReadLimit },
    accepted: Accepted,
  ): Promise<Doubt | undefined> {
    const staged = this.#staged;
    if (staged === undefined || staged.size === 0) return undefined;
    const { read: reading } = this.#of;
    const ledger = reading.compared(staged);
    const { doubts, suspects } = new ReadJudge({ stream: reading.stream, staged, ...read, limits, ledger }).judge();
    const doubt = unlessAccepted(doubts, accepted);
    if (doubt !== undefined) {
      await this.refuse();
      return doubt;
    }
    this.#isTaken = true;
    const unclear = new Map([...suspects].filter(([, { code }]) => code === "line-may-have-moved"));
    const waiting = suspects.size - unclear.size <= accepted.ids ? unclear : suspects;
    // Who waits goes first: after a kill the others are read again, and nobody who looked like one of them is let go.
    for (const isFirst of [true, false])
      for (const rows of staged.pages())
        await this.#take(
          rows.map((row) => asJudged(row, waiting)).filter((row) => isSuspect(row, waiting) === isFirst),
        );
    return undefined;
  }

  /** Takes nothing in of what was staged. What it showed is not missing all the same. */
  async refuse(): Promise<undefined> {
    if (this.#staged !== undefined) await this.#of.read.keepPresent(this.#staged);
    return undefined;
  }

  async #take(rows: readonly MappedRow[]): Promise<void> {
    if (rows.length === 0) return;
    const taken = await this.#of.read.ingest(rows);
    this.#tally.extracted += rows.length;
    this.#tally.changed += taken.changed;
    this.#tally.unchanged += taken.unchanged;
    this.#tally.quarantined += taken.quarantined;
  }

  close(): void {
    this.#staged?.close();
  }
}

function isSuspect(row: MappedRow, waiting: ReadonlyMap<string, Suspect>): boolean {
  const key = keyOfRow(row);
  return key !== undefined && waiting.has(formatKey(key));
}

/** A row as it is taken in: a record that looks like another one goes into quarantine. */
function asJudged(row: MappedRow, waiting: ReadonlyMap<string, Suspect>): MappedRow {
  if (!("record" in row)) return row;
  const { rawHash, place, key, raw } = row.record;
  const suspect = waiting.get(formatKey(key));
  if (suspect === undefined) return row;
  const { code, message, customer, twin } = suspect;
  const said =
    code === "line-may-have-moved"
      ? { field: "instances", code, message, expected: "every line that it had, or that row corrected" }
      : { field: "id", code, message, expected: "an id of its own" };
  return { rejection: { rawHash, place, key, customer, raw, twin, ...said } };
}
