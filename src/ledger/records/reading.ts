import type { Stream } from "../../crm/model.ts";
import type { Met } from "./absence.ts";
import type { ExpectedForms } from "./expected-forms.ts";
import { SeenForms } from "./seen-forms.ts";
import type { SkippedRecord, SkippedTables } from "./skipped.ts";

/** A reading that goes on: what it has met, and the forms that it will most likely meet. */
export class Reading {
  readonly source: string;
  readonly stream: Stream;
  readonly expected: ExpectedForms;
  /** The forms that it has met as they were. */
  readonly seen = new SeenForms();
  /** Records that it has taken up itself, each counted once. */
  taken = 0;
  /** The number of the first of its parts: its own, where it went on with none. */
  first: number;
  /** Records that it skipped and that may be any. */
  nameless = 0;
  #skipped: SeenForms | undefined;

  constructor(source: string, stream: Stream, expected: ExpectedForms, read: number) {
    this.first = read;
    this.source = source;
    this.stream = stream;
    this.expected = expected;
  }

  /** Remembers records that their stream leaves out. Returns those of whom something is to be written. */
  skip(tables: SkippedTables, items: readonly SkippedRecord[]): NonNullable<SkippedRecord["key"]>[] {
    this.nameless += items.filter(({ isNameless }) => isNameless).length;
    const keys = items.flatMap(({ key }) => key ?? []);
    const { forms, touched } = tables.standing(this.source, this.stream, keys);
    if (forms.length > 0) {
      this.#skipped ??= new SeenForms();
      this.#skipped.add(forms);
    }
    return touched;
  }

  /** The forms that were skipped after a place, as `takeOverSkipped` takes them. */
  skippedSince(place: number): { hashes: Buffer; upTo: number } {
    return this.#skipped?.since(place) ?? { hashes: Buffer.alloc(0), upTo: place };
  }

  /** Takes over what an earlier part of the reading has skipped. */
  takeOverSkipped(hashes: Buffer): void {
    this.#skipped ??= new SeenForms();
    this.#skipped.addBytes(hashes);
  }

  /** Whether it has met a record in the form in which the ledger has it, or left it out. */
  hasMet({ rawHash, lastRead }: { rawHash: string; lastRead: number }): boolean {
    return lastRead >= this.first || this.seen.hasMet(rawHash) || this.#skipped?.hasMet(rawHash) === true;
  }

  get met(): Met {
    const records = this.expected.met + this.taken;
    return { seen: this.seen, records, skipped: this.#skipped, nameless: this.nameless };
  }

  close(): void {
    this.seen.close();
    this.#skipped?.close();
  }
}
