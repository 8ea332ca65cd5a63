import type { Stream } from "../../crm/model.ts";
import type { LedgerContext } from "../context.ts";
import { prepared, sql } from "../database/statements.ts";
import type { Reading } from "./reading.ts";
import { SeenForms } from "./seen-forms.ts";
import type { SourceReadTables } from "./source-reads.ts";
import type { ReadCheckpointTable } from "./tables.ts";

export interface Checkpoint {
  question: string;
  position: string;
  first: number;
  rows: number;
  bad: number;
  beganAt: string;
}

interface Reached {
  question: string;
  position: string;
  rows: number;
  bad: number;
  beganAt: string;
}

/**
 * A position is stored after its batch, with the unchanged forms met before it: the ledger does not store those, but a
 * full read needs them to find missing records.
 */
export class Checkpoints {
  readonly #context: LedgerContext;
  readonly #reads: SourceReadTables;
  readonly #statements;

  constructor(context: LedgerContext, reads: SourceReadTables) {
    this.#context = context;
    this.#reads = reads;
    this.#statements = prepared(context.database, texts);
  }

  async of(source: string, stream: Stream): Promise<Checkpoint | undefined> {
    return this.#context.read(() => {
      const row = this.#statements.find.get(source, stream);
      if (row === undefined) return undefined;
      const { question, position, first_read: first, rows, bad, began_at: beganAt } = row;
      return { question, position, first, rows, bad, beganAt };
    });
  }

  goOn({ source, stream, memory }: Reading): void {
    this.#context.read(() => {
      for (const { hashes, skipped } of this.#statements.seen.iterate(source, stream)) {
        (skipped === 1 ? (memory.skipped ??= new SeenForms()) : memory.seen).takeOver(hashes);
      }
      memory.nameless = this.#statements.find.get(source, stream)?.nameless ?? 0;
    });
    memory.keptUpTo = { seen: memory.seen.last, skipped: memory.skipped?.last ?? 0 };
  }

  /** The read starts again after all, and forgets the other one. */
  async beginAnew(reading: Reading): Promise<void> {
    reading.end();
    reading.first = reading.read;
    await this.#context.write(() => {
      this.#reads.beginsAnew(reading.read);
      this.#forget(reading.source, reading.stream);
    });
  }

  /** Stores the position of a read. Everything before it must be committed. */
  async keep({ source, stream, first, memory }: Reading, reached: Reached): Promise<void> {
    const { keptUpTo, nameless } = memory;
    const seen = memory.seen.since(keptUpTo.seen);
    const skipped = memory.skipped?.since(keptUpTo.skipped) ?? { hashes: Buffer.alloc(0), upTo: keptUpTo.skipped };
    await this.#context.write(() => {
      // These forms belong to another read.
      if (this.#statements.find.get(source, stream)?.first_read !== first) this.#forget(source, stream);
      for (const [which, { hashes }] of [seen, skipped].entries())
        if (hashes.length > 0) this.#statements.addSeen.run({ source, stream, hashes, skipped: which });
      this.#statements.keep.run({ source, stream, first, nameless, at: this.#context.now, ...reached });
    });
    memory.keptUpTo = { seen: seen.upTo, skipped: skipped.upTo };
  }

  async drop(source: string, stream: Stream): Promise<void> {
    if (this.#context.read(() => this.#statements.find.get(source, stream)) === undefined) return;
    await this.#context.write(() => this.#forget(source, stream));
  }

  /** Whether a later read used other settings, even if it did not finish. */
  async wasAskedOtherwise(source: string, stream: Stream, after: number, question: string): Promise<boolean> {
    return this.#context.read(() => this.#reads.wasAskedOtherwise(source, stream, after, question));
  }

  #forget(source: string, stream: Stream): void {
    this.#statements.drop.run(source, stream);
    this.#statements.dropSeen.run(source, stream);
  }
}

interface KeptParameters extends Reached {
  source: string;
  stream: Stream;
  first: number;
  nameless: number;
  at: string;
}

const texts = {
  find: sql<[string, string], ReadCheckpointTable>`select * from read_checkpoint where source = +? and stream = +?`,
  seen: sql<[string, string], { hashes: Buffer; skipped: number }>`
    select hashes, skipped from read_checkpoint_seen where source = +? and stream = +? order by part`,
  addSeen: sql<[{ source: string; stream: Stream; hashes: Buffer; skipped: number }]>`
    insert into read_checkpoint_seen (source, stream, part, hashes, skipped)
      select @source, @stream, coalesce(max(part), 0) + 1, @hashes, @skipped from read_checkpoint_seen
        where source = @source and stream = @stream`,
  keep: sql<[KeptParameters]>`
    insert into read_checkpoint (source, stream, question, position, first_read, rows, bad, nameless, began_at,
        reached_at)
      values (@source, @stream, @question, @position, @first, @rows, @bad, @nameless, @beganAt, @at)
      on conflict (source, stream) do update set question = excluded.question, position = excluded.position,
        first_read = excluded.first_read, rows = excluded.rows, bad = excluded.bad, nameless = excluded.nameless,
        began_at = excluded.began_at,
        reached_at = excluded.reached_at`,
  drop: sql`delete from read_checkpoint where source = +? and stream = +?`,
  dropSeen: sql`delete from read_checkpoint_seen where source = +? and stream = +?`,
};
