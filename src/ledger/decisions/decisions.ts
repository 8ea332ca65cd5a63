import { exitCodes, Problem } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { needsApproval } from "../../engine/model/registry.ts";
import { isAsShown } from "../../engine/plan/gated.ts";
import type { HeldFor } from "../../engine/plan/limits.ts";
import type { PolicyName } from "../../engine/model/policy-settings.ts";
import type { Removes } from "../../engine/model/operation.ts";
import type { LedgerContext } from "../context.ts";
import type { WorkTables } from "../records/work.ts";
import type { HoldRows, NewHold, StandingHold, Whose } from "./hold-rows.ts";
import { holdLife } from "./hold-life.ts";
import { shownMark, type AskedNow, type Question } from "./what-is-asked.ts";

export interface NewQuestion extends Omit<HeldFor, "explanation"> {
  holds: readonly NewHold[];
}

/** Scopes where a person may approve everything that one run held. */
const scopesOfRuns: ReadonlySet<Question["scope"]> = new Set(["run", "day", "week", "rebuilt"]);

const said = { approve: "approved", reject: "rejected" } as const;

/** What limits and policies hold, and what people decided. See `holdLife` for the states of a hold. */
export class Decisions {
  readonly #context: LedgerContext;
  readonly #holds: HoldRows;
  readonly #work: WorkTables;

  constructor(context: LedgerContext, tables: { holds: HoldRows; work: WorkTables }) {
    this.#context = context;
    this.#holds = tables.holds;
    this.#work = tables.work;
  }

  /** Returns the new questions, one for each reason. Held and rejected operations stay; a changed one is asked anew. */
  async ask(whose: Whose, questions: readonly NewQuestion[]): Promise<Question[]> {
    return await this.#context.write(() => {
      const at = this.#context.now;
      return questions.flatMap(({ holds, policy, toEarn, scope, ...sum }) => {
        const id = `h-${this.#context.random.hex(4)}`;
        const asked = holds.filter((hold) => this.#isToAsk(whose, hold));
        if (asked.length === 0) return [];
        const opened = { scope, ...whose, id, state: "open" as const, createdAt: at };
        this.#holds.openQuestion({ ...opened, policy, toEarn });
        for (const hold of asked) this.#holds.hold(whose, id, hold, at);
        const { count, allowed, total } = sum;
        const body = { hold: id, scope, count, allowed, total, operations: asked.length };
        this.#context.audit.append({ at, kind: "held", subject: `customer:${formatKey(whose.customer)}`, body });
        return [opened];
      });
    });
  }

  /** Ends outdated holds. False if the same operation is already asked or decided, or is no longer planned. */
  #isToAsk(whose: Whose, hold: NewHold): boolean {
    const replaced = new Set(hold.askedBefore?.map(({ id }) => id));
    const standing = this.#holds.standing(whose);
    const same = standing.find(({ kind, hash }) => kind === hold.kind && hash === hold.hash);
    if ((same !== undefined && isAsShown(same, hold)) || !this.#holds.isPlanned(whose, hold)) return false;
    const outdated = standing.filter((one) => one === same || replaced.has(one.id));
    if (outdated.length > 0) this.#end("changed", whose.customer, outdated);
    return true;
  }

  async rejected(): Promise<number> {
    return this.#context.read(() => this.#holds.rejected());
  }

  async standing(whose: Whose): Promise<StandingHold[]> {
    return this.#context.read(() => this.#holds.standing(whose));
  }

  async questions(): Promise<AskedNow[]> {
    return this.#context.read(() => this.#holds.questions());
  }

  /** Ends holds that the CRM made moot: their records changed, or a trustworthy plan no longer has the operation. */
  async end(event: "changed" | "unwanted", customer: RecordKey, holds: readonly StandingHold[]): Promise<void> {
    if (holds.length > 0) await this.#context.write(() => this.#end(event, customer, holds));
  }

  #end(event: "changed" | "unwanted", customer: RecordKey, holds: readonly StandingHold[]): void {
    const at = this.#context.now;
    const why =
      event === "changed" ? "the change is no longer the one that a person was shown" : "the CRM no longer wants it";
    for (const hold of holds) this.#holds.happens(event, hold, at, why);
    const operations = holds.map(({ operation, kind, hash, state }) => ({ operation, kind, intent: hash, state }));
    const subject = `customer:${formatKey(customer)}`;
    this.#context.audit.append({ at, kind: "hold-ended", subject, body: { reason: why, operations } });
    for (const question of new Set(holds.map((hold) => hold.question))) this.#holds.answered(question, at, why, null);
  }

  /** An approval can be rejected until the call; `sent` counts the late ones. Throws if `shown` marks another list. */
  async decide(
    id: string,
    verdict: "approve" | "reject",
    reason: string,
    by: string,
    shown?: string,
  ): Promise<Question & { sent: number }> {
    return await this.#context.write(() => {
      const question = this.#holds.question(id);
      if (question === undefined) throw unknownQuestion(id);
      const all = this.#holds.ofQuestion(id);
      const sent = verdict === "reject" ? all.filter((hold) => hold.sent) : [];
      const holds = all.filter((hold) => !sent.includes(hold) && holdLife[hold.state][verdict] !== "refuse");
      if (holds.length === 0) throw sent.length > 0 ? sentAlready(question) : decidedAlready(question);
      if (shown !== undefined && shown !== shownMark(all.filter(({ state }) => state === "asked")))
        throw notShown(`the hold ${id}`);
      this.#decide(verdict, question, holds, { reason, by });
      return { ...question, state: said[verdict], sent: sent.length };
    });
  }

  /** Throws a Problem if an approved hold changed since it was shown. */
  #decide(
    verdict: "approve" | "reject" | "withdraw",
    question: Question,
    holds: readonly StandingHold[],
    { reason, by }: { reason: string; by: string },
  ): void {
    const at = this.#context.now;
    const { customer } = question;
    if (verdict === "approve" && holds.some(({ changed }) => changed)) throw changedSince(question);
    for (const hold of holds) {
      this.#holds.decided(verdict, question, hold, { at, by, reason });
      this.#holds.happens(verdict, hold, at, "a person rejected it");
    }
    const rebuilt = [false, true].flatMap((ofUndo) => this.#holds.standing({ customer, ofUndo }));
    const isOfRebuild = holds.some(({ scope }) => scope === "rebuilt");
    if (
      verdict === "approve" &&
      isOfRebuild &&
      !rebuilt.some(({ scope, state }) => scope === "rebuilt" && state === "asked")
    )
      this.#holds.seenAfterRebuild(customer, at);
    this.#work.markPending({ customer });
    this.#holds.answered(question.id, at, reason, by);
  }

  async withdraw(id: string, reason: string, by: string): Promise<Question> {
    return await this.#context.write(() => {
      const question = this.#holds.question(id);
      if (question === undefined) throw unknownQuestion(id);
      const holds = this.#holds.ofQuestion(id).filter(({ state }) => holdLife[state].withdraw !== "refuse");
      if (holds.length === 0) throw notRejected(question);
      const subject = `customer:${formatKey(question.customer)}`;
      const body = { hold: id, reason, by };
      this.#context.audit.append({ at: this.#context.now, kind: "rejection-taken-back", subject, body });
      this.#decide("withdraw", question, holds, { reason, by });
      return this.#holds.question(id) ?? question;
    });
  }

  /** The next run sends the operation, or `apply` for an undo. Throws a Problem if it has no hold or is decided. */
  async approveOperation(id: string, reason: string, by: string): Promise<Question> {
    return await this.#context.write(() => {
      const hold = this.#holds.ofOperation(id);
      const question = hold === undefined ? undefined : this.#holds.question(hold.question);
      if (hold === undefined || question === undefined) throw notHeld(`no hold waits for the operation ${id}`);
      if (holdLife[hold.state].approve === "refuse") throw notHeld(`the operation ${id} is already ${hold.state}`);
      this.#approveOne(question, hold, { reason, by });
      return question;
    });
  }

  #approveOne(question: Question, hold: StandingHold, { reason, by }: { reason: string; by: string }): void {
    const { operation, subject, kind, hash } = hold;
    const customer = formatKey(question.customer);
    const body = { operation, kind, intent: hash, hold: question.id, customer, reason, by };
    this.#context.audit.append({ at: this.#context.now, kind: "operation-approved", subject, body });
    this.#decide("approve", question, [hold], { reason, by });
  }

  /**
   * Approves the holds of one run for its own sum, a sum of 24 hours or 7 days, or a rebuild. Holds of a policy or an
   * enterprise limit stay. Throws a Problem if nothing is held, or if `shown` marks another list.
   */
  async approveRun(
    run: string,
    reason: string,
    by: string,
    shown?: string,
  ): Promise<{ customers: number; operations: number; ofUndo: boolean }> {
    return await this.#context.write(() => {
      const approving = this.#holds.askedBy(run).filter((hold) => scopesOfRuns.has(hold.scope) && !needsApproval(hold));
      if (approving.length === 0) throw notHeld(`the limits of the run ${run} no longer hold anything`);
      if (shown !== undefined && shown !== shownMark(approving))
        throw notShown(`the list of operations that the run ${run} held`);
      const customers = new Set<string>();
      let ofUndo = false;
      for (const hold of approving) {
        const question = this.#holds.question(hold.question);
        if (question === undefined) throw unknownQuestion(hold.question);
        this.#approveOne(question, hold, { reason, by });
        customers.add(formatKey(question.customer));
        ofUndo ||= question.ofUndo;
      }
      return { customers: customers.size, operations: approving.length, ofUndo };
    });
  }

  async earned(): Promise<ReadonlyMap<PolicyName, number>> {
    return this.#context.read(() => this.#holds.earned());
  }

  /** Undecided holds of limits. They still count against the limits. */
  async askedByLimits(): Promise<readonly { customer: RecordKey; removes: Removes }[]> {
    return this.#context.read(() => this.#holds.askedByLimits());
  }

  /** A rebuild found nothing to do for this customer. Clears an earlier note that it could not be read. */
  async nothingLeftByRebuild(customer: RecordKey): Promise<void> {
    await this.#context.write(() => this.#holds.seenAfterRebuild(customer, this.#context.now));
  }
}

function unknownQuestion(id: string): Problem {
  return new Problem({
    code: "hold.unknown",
    message: `there is no hold ${id}`,
    cure: "`crm-sync status --all` lists the holds",
    exitCode: exitCodes.usage,
  });
}

function decidedAlready({ id, state }: Question): Problem {
  return new Problem({
    code: "hold.decided",
    message: `the hold ${id} is already ${state}. Nothing was changed`,
    cure: "`crm-sync status` lists the open holds",
    exitCode: exitCodes.usage,
  });
}

function sentAlready({ id }: Question): Problem {
  return new Problem({
    code: "hold.sent",
    message: `the operations of the hold ${id} were approved and sent, so the hold can no longer be rejected`,
    cure:
      "`crm-sync undo --help` explains how to undo a run; `crm-sync settle list` lists operations with an " +
      "unknown outcome",
    exitCode: exitCodes.usage,
  });
}

function notRejected({ id, state }: Question): Problem {
  return new Problem({
    code: "hold.not-rejected",
    message: `the hold ${id} is ${state}, so there is no rejection to withdraw`,
    cure: "`crm-sync status --all` lists the rejected holds",
    exitCode: exitCodes.usage,
  });
}

function notHeld(message: string): Problem {
  return new Problem({
    code: "approve.not-held",
    message: `${message}. Nothing was approved`,
    cure: "`crm-sync status` lists the open holds",
    exitCode: exitCodes.usage,
  });
}

function notShown(what: string): Problem {
  return new Problem({
    code: "approve.not-shown",
    message: `${what} changed after you opened the page. Nothing was decided`,
    cure: "read the page again, then decide",
    exitCode: exitCodes.usage,
  });
}

function changedSince({ id }: Question): Problem {
  return new Problem({
    code: "approve.changed",
    message: `a record of the hold ${id} changed after the hold was made. Nothing was approved`,
    cure: "wait for the next run: if the change is still wanted, the run makes a new hold",
    exitCode: exitCodes.usage,
  });
}
