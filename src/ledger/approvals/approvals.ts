import { hashOf } from "../../base/canonical-json.ts";
import { exitCodes, Problem } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { HoldScope } from "../../operation/hold-scope.ts";
import { kindOf } from "../../operation/registry.ts";
import type { OperationKind } from "../../operation/registry.ts";
import type { LedgerContext } from "../context.ts";
import { JournalTables } from "../journal/journal-tables.ts";
import { RunOperations } from "../journal/run-operations.ts";
import type { ApprovedOperations, HeldNow, HeldOperation, WordOn } from "./approved-operations.ts";
import type { HoldRow, HoldTables } from "./holds.ts";
import type { WorkTables } from "../records/work.ts";
import { shownMark } from "./shown-mark.ts";

/** A hold that is opened, with each operation that it holds back. */
interface NewHold extends Omit<HoldRow, "id" | "state" | "createdAt" | "decidedAt" | "reason" | "ofUndo"> {
  /** It takes a run back; left out: runs do it. */
  ofUndo?: boolean;
  operations: readonly HeldOperation[];
  /** Hashes of what goes on: what a person approved of it stays approved, although its hold gives way to this one. */
  released?: ReadonlySet<string>;
}

const nothing: ReadonlySet<string> = new Set();

/** Scopes of which a person may approve everything that one run held. */
const scopesOfRuns: readonly HoldScope[] = ["run", "day", "week", "rebuilt"];

/** What limits and policies stopped, and the word of a person on it. */
export class Approvals {
  readonly #context: LedgerContext;
  readonly #holds: HoldTables;
  readonly #approved: ApprovedOperations;
  readonly #work: WorkTables;
  readonly #journal: JournalTables;
  readonly #ofRuns: RunOperations;

  constructor(context: LedgerContext, tables: { holds: HoldTables; approved: ApprovedOperations; work: WorkTables }) {
    this.#context = context;
    this.#holds = tables.holds;
    this.#approved = tables.approved;
    this.#work = tables.work;
    this.#journal = new JournalTables(context.database);
    this.#ofRuns = new RunOperations(context.database);
  }

  /**
   * Opens a hold of these operations, or answers the one of exactly this set that a person was asked about already,
   * whatever its state. What was approved by itself of a hold that this one takes the place of stays approved. What
   * runs hold of a customer takes no place of what taking a run back holds of it, nor the other way round.
   */
  async open({ operations, released = nothing, ofUndo = false, ...hold }: NewHold): Promise<HoldRow> {
    return await this.#context.write(() => {
      const current = this.#holds.holdOf(hold.customer, ofUndo);
      const at = this.#context.now;
      if (current?.setHash === hold.setHash && this.#isSame(current, operations)) return current;
      const rejected = this.#holds.rejectedHold(hold.customer, hold.setHash);
      if (rejected !== undefined) return rejected;
      if (current !== undefined) this.#holds.setHold(current.id, "lapsed", at, null);
      const row: HoldRow = {
        ...hold,
        ofUndo,
        id: `h-${this.#context.random.hex(4)}`,
        state: "open",
        createdAt: at,
        decidedAt: null,
        reason: null,
      };
      this.#holds.openHold(row);
      this.#approved.keep(row.id, operations);
      if (current !== undefined)
        this.#approved.carryOver(current.id, row.id, current.state === "open" ? "all" : released);
      this.#context.audit.append({
        at,
        kind: "held",
        subject: `customer:${formatKey(hold.customer)}`,
        body: {
          hold: row.id,
          scope: hold.scope,
          count: hold.count,
          allowed: hold.allowed,
          total: hold.total,
          set: hold.setHash,
          operations: operations.length,
        },
      });
      return row;
    });
  }

  /**
   * Whether a hold of the same set still holds each of these: what was carried out or given up since, and comes up
   * again, a person is asked of anew.
   */
  #isSame({ id }: HoldRow, operations: readonly HeldOperation[]): boolean {
    const held = new Set(this.#approved.of(id).map(({ hash }) => hash));
    return operations.every(({ hash }) => held.has(hash));
  }

  /**
   * The hold of a customer that stands, of what runs do or of what takes a run back, and what it holds that is still
   * meant.
   */
  async of(customer: RecordKey, ofUndo = false): Promise<{ hold: HoldRow; operations: HeldNow[] } | undefined> {
    return this.#context.read(() => {
      const hold = this.#holds.holdOf(customer, ofUndo);
      return hold === undefined ? undefined : { hold, operations: this.#approved.of(hold.id) };
    });
  }

  async standing(): Promise<HoldRow[]> {
    return this.#context.read(() => this.#holds.openHolds());
  }

  /**
   * A person's decision on a hold, with who it is, or its use by the run that carries it out. What was approved may be
   * rejected until it is carried out: the approvals under it count for nothing then. `ofUndo`: `apply` with the file of
   * an undo carries out what it holds, and no other run. `shown`: the mark of what the person saw; where it is not that
   * of what is left to approve, a Problem says so.
   */
  async decide(
    id: string,
    state: "approved" | "rejected" | "used" | "lapsed",
    reason: string,
    by?: string,
    shown?: string,
  ): Promise<HoldRow & { alone: readonly string[] }> {
    return await this.#context.write(() => {
      const hold = this.#holds.hold(id);
      if (hold === undefined) throw unknownHold(id);
      const from = state === "used" ? ["approved"] : state === "approved" ? ["open"] : ["open", "approved"];
      if (!from.includes(hold.state)) {
        throw new Problem({
          code: "hold.decided",
          message: `hold ${id} is ${hold.state} already`,
          cure: "`crm-sync status` lists the holds that wait for a person",
          exitCode: exitCodes.usage,
        });
      }
      this.#requireShown(hold, shown);
      const at = this.#context.now;
      const alone = state === "approved" ? this.#approveSet(hold, by ?? "", at) : [];
      if (state === "rejected") this.#approved.takeBack(id);
      this.#holds.setHold(id, state, at, reason, by);
      if (state === "approved" || state === "rejected") this.#work.markPending({ customer: hold.customer });
      this.#context.audit.append({
        at,
        kind: `hold-${state}`,
        subject: `customer:${formatKey(hold.customer)}`,
        body: { hold: id, reason, set: hold.setHash, ...(by === undefined ? {} : { by }) },
      });
      return { ...hold, state, alone };
    });
  }

  #requireShown({ id }: HoldRow, shown: string | undefined): void {
    const left = this.#approved.of(id).filter(({ approved }) => !approved);
    if (shown !== undefined && shown !== shownMark(left)) throw notShown(`what ${id} holds`);
  }

  /** Approves what a hold holds back, but for what has to be approved by itself, of which it gives the ids. */
  #approveSet(hold: HoldRow, by: string, at: string): string[] {
    const operations = this.#approved.of(hold.id);
    const together = operations.filter(({ kind }) => !kindOf({ kind }).approvedAlone);
    if (operations.length > 0 && together.length === 0) throw approvedAlone(hold);
    for (const operation of together) this.#approved.approve(hold.id, operation, by, at);
    if (together.some(({ scope }) => scope === "rebuilt")) this.#approved.seenAfterRebuild(hold.customer, at);
    const left = new Set(operations.filter((item) => !together.includes(item)).map(({ hash }) => hash));
    if (left.size === 0) return [];
    const held = this.#journal.plannedOf(hold.customer).filter((row) => row.state === "held");
    return held.filter(({ operation }) => left.has(operation.hash)).map((row) => row.id);
  }

  /** A person takes the rejection of a hold back: its customer is planned anew, and what is held then is asked for. */
  async takeBack(id: string, reason: string, by: string): Promise<HoldRow> {
    return await this.#context.write(() => {
      const hold = this.#holds.hold(id);
      if (hold === undefined) throw unknownHold(id);
      if (hold.state !== "rejected") throw notRejected(hold);
      const at = this.#context.now;
      this.#holds.setHold(id, "lapsed", at, reason, by);
      this.#work.markPending({ customer: hold.customer });
      this.#context.audit.append({
        at,
        kind: "rejection-taken-back",
        subject: `customer:${formatKey(hold.customer)}`,
        body: { hold: id, reason, set: hold.setHash, by },
      });
      return { ...hold, state: "lapsed" };
    });
  }

  /** A rebuild left nothing to be made of a customer, whatever an earlier one that could not read it left open. */
  async nothingLeftByRebuild(customer: RecordKey): Promise<void> {
    await this.#context.write(() => this.#approved.seenAfterRebuild(customer, this.#context.now));
  }

  /** What is held, approved or rejected of a customer, as far as nothing ended it. */
  async wordsOf(customer: RecordKey): Promise<WordOn[]> {
    return this.#context.read(() => this.#approved.wordsOf(customer));
  }

  /**
   * What nobody means any more: neither its hold nor a person's word on it counts from now. The hold of the customer of
   * which nothing is left lapses then, or is `used` where something of it was carried out.
   */
  async end(customer: RecordKey, words: readonly WordOn[], used: string | undefined): Promise<void> {
    const current = this.#context.read(() => this.#standingOf(customer));
    if (words.length === 0 && current.length === 0) return;
    await this.#context.write(() => {
      const at = this.#context.now;
      for (const word of words) this.#approved.end(word, at);
      const subject = `customer:${formatKey(customer)}`;
      if (words.length > 0) {
        const operations = words.map(({ hold, kind, hash }) => ({ hold, kind, intent: hash }));
        this.#context.audit.append({ at, kind: "no-longer-meant", subject, body: { operations } });
      }
      for (const hold of this.#standingOf(customer)) {
        if (this.#approved.of(hold.id).length > 0) continue;
        const isUsed = hold.state === "approved" && (hold.id === used || !words.some((word) => word.hold === hold.id));
        const state = isUsed ? "used" : "lapsed";
        const reason = isUsed ? "carried out" : "nothing of it is to be done any more";
        this.#holds.setHold(hold.id, state, at, reason);
        const body = { hold: hold.id, reason, set: hold.setHash };
        this.#context.audit.append({ at, kind: `hold-${state}`, subject, body });
      }
    });
  }

  #standingOf(customer: RecordKey): HoldRow[] {
    return [false, true].flatMap((ofUndo) => this.#holds.holdOf(customer, ofUndo) ?? []);
  }

  /**
   * A person's word on one operation that is held: it alone is carried out by the next run, or, `ofUndo`, by `apply`
   * with the file of the undo. Throws a Problem where it is not held by itself, or where its hold was decided.
   */
  async approveOperation(id: string, reason: string, by: string): Promise<HoldRow> {
    return await this.#context.write(() => {
      const found = this.#journal.standing(id);
      if (found === undefined) throw unknownOperation(id);
      const { hash, kind, subject } = found.operation;
      const hold = found.holdId === null ? undefined : this.#holds.hold(found.holdId);
      if (found.state !== "held" || hold === undefined) throw notHeld(`${id} is ${found.state}, and not held any more`);
      // What an approved hold left out, because it is approved by itself, may be approved before the next run.
      const isLeft = hold.state === "approved" && kindOf({ kind }).approvedAlone;
      if (hold.state !== "open" && !isLeft) throw notHeld(`${id} was held by ${hold.id}, which is ${hold.state}`);
      if (!this.#approved.of(hold.id).some((held) => held.hash === hash && held.kind === kind))
        throw notHeld(`${id} is not held itself: it waits for what else ${hold.id} holds`);
      this.#approve(hold, { id, hash, kind, subject }, reason, by);
      return hold;
    });
  }

  #approve(
    hold: HoldRow,
    operation: { id: string; hash: string; kind: OperationKind; subject: string },
    reason: string,
    by: string,
  ): void {
    const { id, hash, kind, subject } = operation;
    const at = this.#context.now;
    this.#approved.approve(hold.id, { kind, hash }, by, at);
    const held = this.#approved.of(hold.id).filter(({ scope }) => scope === "rebuilt");
    if (held.some((item) => item.hash === hash) && held.every((item) => this.#approved.isApproved(item)))
      this.#approved.seenAfterRebuild(hold.customer, at);
    this.#work.markPending({ customer: hold.customer });
    this.#context.audit.append({
      at,
      kind: "operation-approved",
      subject,
      body: { operation: id, kind, intent: hash, hold: hold.id, customer: formatKey(hold.customer), reason, by },
    });
  }

  /**
   * A person's word on everything that a run held because of its own sum or that of 24 hours or 7 days, or because the
   * ledger was built anew; what a policy or the limit of an enterprise holds stays held. Gives how many operations of
   * how many customers were approved. Throws a Problem where nothing of it is held any more, or where it is not what
   * the person saw, of which `shown` is the mark.
   */
  async approveRun(
    run: string,
    reason: string,
    by: string,
    shown?: string,
  ): Promise<{ customers: number; operations: number }> {
    return await this.#context.write(() => {
      const customers = new Set<string>();
      const approving = this.#approvableOf(run);
      if (approving.length === 0) throw notHeld(`nothing is held any more because of the sums of ${run}`);
      if (shown !== undefined && shown !== shownMark(approving)) throw notShown(`what ${run} held`);
      for (const { hold, ...held } of approving) {
        this.#approve(hold, held, reason, by);
        customers.add(formatKey(hold.customer));
      }
      return { customers: customers.size, operations: approving.length };
    });
  }

  /** What a run held because of a sum and is not approved yet, but for what is approved by itself alone. */
  #approvableOf(run: string) {
    return this.#ofRuns.heldOf(run).flatMap((held) => {
      const hold = this.#holds.hold(held.holdId);
      if (hold?.state !== "open") return [];
      const why = this.#approved.of(hold.id).find((item) => item.hash === held.hash && item.kind === held.kind);
      if (why === undefined || !scopesOfRuns.includes(why.scope)) return [];
      return kindOf(held).approvedAlone || this.#approved.isApproved(held) ? [] : [{ ...held, hold }];
    });
  }

  /** How many different operations of each kind were ever approved in this ledger, alone or in a set. */
  async earned(): Promise<ReadonlyMap<OperationKind, number>> {
    return this.#context.read(() => this.#approved.earned());
  }

  /**
   * Which of these operations of a customer a person rejected, by hash. Of a hold that was rejected before holds named
   * their operations exactly the set is known: all that takes something away.
   */
  async rejectedHashes(
    customer: RecordKey,
    operations: readonly { hash: string; takesAway: number }[],
  ): Promise<ReadonlySet<string>> {
    return this.#context.read(() => {
      const rejected = this.#approved.rejectedOf(customer);
      const set = operations.filter(({ takesAway }) => takesAway > 0).map(({ hash }) => hash);
      const whole = this.#holds.rejectedHold(customer, hashOf(set.toSorted())) === undefined ? [] : set;
      return new Set([...operations.map(({ hash }) => hash).filter((hash) => rejected.has(hash)), ...whole]);
    });
  }
}

function unknownHold(id: string): Problem {
  return new Problem({
    code: "hold.unknown",
    message: `there is no hold ${id}`,
    cure: "`crm-sync status` lists the holds",
    exitCode: exitCodes.usage,
  });
}

function notRejected({ id, state }: HoldRow): Problem {
  return new Problem({
    code: "hold.not-rejected",
    message: `hold ${id} is ${state}, so there is no rejection to take back`,
    cure: "`crm-sync explain customer` lists the holds of a customer",
    exitCode: exitCodes.usage,
  });
}

function unknownOperation(id: string): Problem {
  return new Problem({
    code: "operation.unknown",
    message: `there is no operation ${id}`,
    cure: "`crm-sync status` lists what is held",
    exitCode: exitCodes.usage,
  });
}

function notHeld(message: string): Problem {
  return new Problem({
    code: "approve.not-held",
    message: `${message}, so nothing was approved`,
    cure: "`crm-sync status` lists what is held now",
    exitCode: exitCodes.usage,
  });
}

function notShown(what: string): Problem {
  return new Problem({
    code: "approve.not-shown",
    message: `${what} now is not what the page showed, so nothing was decided`,
    cure: "look at what stands there now, then decide again",
    exitCode: exitCodes.usage,
  });
}

function approvedAlone(hold: HoldRow): Problem {
  return new Problem({
    code: "approve.alone",
    message: `what ${hold.id} holds has to be approved one by one, so nothing was approved`,
    cure: "`crm-sync explain customer` lists the operations; `crm-sync approve op_… --reason TEXT` approves one",
    exitCode: exitCodes.usage,
  });
}
