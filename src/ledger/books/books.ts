import type { TrustedTime } from "../../base/trusted-time.ts";
import { exitCodes, Problem } from "../../base/errors.ts";
import { requireObserved } from "../../report/statement/period.ts";
import type { LedgerContext } from "../context.ts";
import { prepared, sql } from "../database/statements.ts";
import { ledgerBegan } from "../database/read-together.ts";
import { closingFactsOf, type ClosedFileTable, type ClosedPeriodTable, type SignOffTable } from "./tables.ts";

interface Whose {
  by: string;
  reason: string;
}

export type FrozenFile = Omit<ClosedFileTable, "period" | "closing">;

/** A blocker that a person signed off: its id, and the SHA-256 of its facts at that time. */
interface Signed {
  id: string;
  facts: string;
}

/** `asOf` is the time of the knowledge behind the figures. `head` is the head of the audit log that they name. */
export interface Closing {
  period: { label: string; zone: string; from: string; to: string };
  asOf: string;
  head: { sequence: number; hash: string; size: number; root: string };
  program: string;
  configuration: string;
  files: readonly FrozenFile[];
  signedOff: readonly Signed[];
}

export interface ClosedAs {
  period: string;
  closing: number;
}

/** `already`: somebody signed it off earlier, and nothing was written now. */
export interface SignedAs {
  id: string;
  by: string;
  at: string;
  already: boolean;
}

export class Books {
  readonly #context: LedgerContext;
  readonly #statements;

  constructor(context: LedgerContext) {
    this.#context = context;
    this.#statements = prepared(context.database, texts);
  }

  /** Throws the Problems of `requireClosable`, and one if the audit log does not contain the head of the figures. */
  async close(
    closing: Closing,
    whose: { by: string; reason: string | undefined },
    _trusted: TrustedTime,
  ): Promise<ClosedAs> {
    const { period, head, files } = closing;
    const made = await this.#context.write(() => {
      const now = this.#context.now;
      this.#requireSameRecord(closing);
      this.#requireInOrder(period, closing.asOf);
      const row: ClosedPeriodTable = {
        period: period.label,
        closing: (this.#statements.last.get(period.label)?.closing ?? 0) + 1,
        zone: period.zone,
        from_at: period.from,
        to_at: period.to,
        closed_at: now,
        closed_by: whose.by,
        reason: whose.reason ?? null,
        as_of: closing.asOf,
        entry: head.sequence,
        entry_hash: head.hash,
        tree_size: head.size,
        tree_root: head.root,
        program: closing.program,
        configuration: closing.configuration,
        reopened_at: null,
        reopened_by: null,
        reopened_reason: null,
      };
      this.#statements.insert.run(row);
      for (const file of files) this.#statements.insertFile.run({ ...file, period: row.period, closing: row.closing });
      this.#context.audit.append({
        at: now,
        kind: "period-closed",
        subject: subjectOf(row.period),
        body: {
          closing: row.closing,
          by: row.closed_by,
          ...closingFactsOf(row),
          files: files.map(({ name, sha256, bytes }) => ({ name, sha256, bytes })),
          signedOff: closing.signedOff.map(({ id: blocker, facts }) => ({ blocker, facts })),
        },
      });
      return { period: row.period, closing: row.closing };
    });
    this.#context.closedUntil();
    return made;
  }

  /** Throws if the period was not over at `asOf`, is closed, overlaps a closed one, is out of order, or is too old. */
  requireClosable(period: Closing["period"], asOf: string): void {
    this.#context.readTogether(() => this.#requireInOrder(period, asOf));
  }

  /** Keeps the row of the closing. Throws a Problem if the period is not closed, or a later one is. */
  async reopen(period: string, { by, reason }: Whose): Promise<ClosedAs> {
    return await this.#context.write(() => {
      const closed = this.#statements.live.get(period);
      if (closed === undefined) throw notClosed(period);
      const later = this.#statements.following.get({ from: closed.to_at });
      if (later !== undefined)
        throw new Problem({
          code: "periods.later-closed",
          message: `${period} cannot be opened again: the later period ${later.period} is closed and uses its figures`,
          cure:
            `first open all later periods, starting with the last: \`crm-sync report reopen ${later.period} ` +
            "--reason TEXT`",
          exitCode: exitCodes.usage,
        });
      const at = this.#context.now;
      this.#statements.reopen.run({ period, closing: closed.closing, at, by, reason });
      const { closing } = closed;
      this.#context.audit.append({
        at,
        kind: "period-reopened",
        subject: subjectOf(period),
        body: { closing, by, reason },
      });
      return { period, closing };
    });
  }

  /** Signs off blockers or exceptions. The first sign-off counts: a second one writes nothing and returns the first. */
  async signOff(
    period: string,
    signed: readonly (Signed & { what?: string; customer?: string })[],
    whose: Whose,
    _trusted: TrustedTime,
  ): Promise<SignedAs[]> {
    const { by, reason } = whose;
    return await this.#context.write(() => {
      const at = this.#context.now;
      if (this.#statements.live.get(period) !== undefined) throw alreadyClosed(period);
      return signed.map(({ id: blocker, facts, what, customer }) => {
        const before = this.#statements.signed.get({ period, blocker, facts });
        if (before !== undefined) return { id: blocker, ...before, already: true };
        this.#statements.signOff.run({ period, blocker, facts, at, by, reason });
        this.#context.audit.append({
          at,
          kind: "signed-off",
          subject: subjectOf(period),
          body: {
            blocker,
            ...(what === undefined ? {} : { what }),
            ...(customer === undefined ? {} : { customer }),
            facts,
            by,
            reason,
          },
        });
        return { id: blocker, by, at, already: false };
      });
    });
  }

  #requireInOrder(period: Closing["period"], asOf: string): void {
    const { label, from, to } = period;
    if (asOf < to)
      throw new Problem({
        code: "periods.not-over",
        message: `${label} is not over, so it cannot be closed; its statements are provisional`,
        cure:
          `close it after its end; until then, \`crm-sync report orders --period ${label}\` shows provisional ` +
          "figures",
        exitCode: exitCodes.usage,
      });
    if (this.#statements.live.get(label) !== undefined) throw alreadyClosed(label);
    requireObserved(period, ledgerBegan(this.#context.database));
    const [shared] = this.#statements.sharing.all({ from, to });
    if (shared !== undefined)
      throw new Problem({
        code: "periods.shared-time",
        message: `${label} overlaps ${shared.period}, which is closed already`,
        cure: "close periods of one kind only, such as one month after the other, in the same time zone",
        exitCode: exitCodes.usage,
      });
    const gap = this.#statements.before.get({ from });
    if (gap !== undefined && gap.to_at !== from)
      throw new Problem({
        code: "books.gap",
        message:
          `${label} cannot be closed yet: the time between ${gap.period}, the last closed period, and ${label} is ` +
          "not closed",
        cure: `first close the periods between the two, starting with the one after ${gap.period}`,
        exitCode: exitCodes.usage,
      });
    const opened = gap === undefined ? this.#statements.openedBefore.get({ from }) : undefined;
    if (opened !== undefined)
      throw new Problem({
        code: "books.gap",
        message: `${label} cannot be closed yet: the earlier period ${opened.period} was opened again`,
        cure: `close ${opened.period} first: \`crm-sync report close ${opened.period}\``,
        exitCode: exitCodes.usage,
      });
    const next = this.#statements.following.get({ from: to });
    if (next !== undefined)
      throw new Problem({
        code: "periods.out-of-order",
        message: `${label} cannot be closed: the later period ${next.period} is closed already`,
        cure:
          "close periods in their order. First open all later periods, starting with the last: `crm-sync report " +
          `reopen ${next.period} --reason TEXT\``,
        exitCode: exitCodes.usage,
      });
  }

  #requireSameRecord({ period: { label }, head, signedOff }: Closing): void {
    const entry = this.#statements.entry.get(head.sequence);
    if (entry?.hash !== head.hash)
      throw new Problem({
        code: "periods.other-record",
        message:
          `${label} was not closed: its figures name entry ${head.sequence} of the audit log, and the ledger has ` +
          "another entry there",
        cure: "run `crm-sync audit verify`, then close the period again",
        exitCode: exitCodes.ledgerRefused,
      });
    for (const { id: blocker, facts } of signedOff)
      if (this.#statements.signed.get({ period: label, blocker, facts }) === undefined)
        throw new Error("a blocker that should be signed off is not");
  }
}

const live = "select * from closed_period where reopened_at is null";

const texts = {
  live: sql<[string], ClosedPeriodTable>`${live} and period = ?`,
  last: sql<[string], Pick<ClosedPeriodTable, "closing">>`
    select closing from closed_period where period = ? order by closing desc limit 1`,
  sharing: sql<[{ from: string; to: string }], ClosedPeriodTable>`
    ${live} and from_at < @to and to_at > @from order by from_at`,
  before: sql<[{ from: string }], ClosedPeriodTable>`${live} and to_at <= @from order by to_at desc limit 1`,
  // The earliest reopened period: closing must continue there.
  openedBefore: sql<[{ from: string }], ClosedPeriodTable>`
    select * from closed_period where reopened_at is not null and to_at <= @from order by from_at limit 1`,
  following: sql<[{ from: string }], ClosedPeriodTable>`${live} and from_at >= @from order by from_at limit 1`,
  entry: sql<[number], { hash: string }>`select hash from audit where sequence = ?`,
  signed: sql<[Omit<SignOffTable, "at" | "by" | "reason">], Pick<SignOffTable, "at" | "by">>`
    select at, by from sign_off where period = @period and blocker = @blocker and facts = @facts`,
  insert: sql<[ClosedPeriodTable]>`
    insert into closed_period values (@period, @closing, @zone, @from_at, @to_at, @closed_at, @closed_by, @reason,
      @as_of, @entry, @entry_hash, @tree_size, @tree_root, @program, @configuration, null, null, null)`,
  insertFile: sql<[ClosedFileTable]>`
    insert into closed_file values (@period, @closing, @name, @kind, @format, @sha256, @bytes)`,
  reopen: sql<[{ period: string; closing: number; at: string; by: string; reason: string }]>`
    update closed_period set reopened_at = @at, reopened_by = @by, reopened_reason = @reason
      where period = @period and closing = @closing`,
  signOff: sql<[SignOffTable]>`insert into sign_off values (@period, @blocker, @facts, @at, @by, @reason)`,
};

function subjectOf(period: string): string {
  return `period:${period}`;
}

function alreadyClosed(period: string): Problem {
  return new Problem({
    code: "periods.closed",
    message: `the period ${period} is closed`,
    cure:
      `\`crm-sync report print ${period}\` prints it again; later changes belong to the open period. To open it ` +
      `again: \`crm-sync report reopen ${period} --reason TEXT\``,
    exitCode: exitCodes.usage,
  });
}

function notClosed(period: string): Problem {
  return new Problem({
    code: "periods.not-closed",
    message: `${period} is not closed`,
    cure: "`crm-sync report closings` lists the closed periods",
    exitCode: exitCodes.usage,
  });
}
