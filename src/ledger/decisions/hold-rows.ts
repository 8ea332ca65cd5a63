import { canonicalJson } from "../../base/canonical-json.ts";
import { whoActs } from "../../base/who.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { PolicyName } from "../../engine/model/policy-settings.ts";
import type { OperationName, RecordReference } from "../../engine/model/resource.ts";
import type { Removes } from "../../engine/model/operation.ts";
import type { AskedBefore } from "../../engine/plan/limits.ts";
import type { AuditLog } from "../audit/audit-log.ts";
import type { Sqlite } from "../database/database.ts";
import { prepared, sql } from "../database/statements.ts";
import { stored } from "../database/damage.ts";
import { rebuiltKind } from "../state/observations.ts";
import type { Row } from "../tables.ts";
import {
  holdLife,
  questionStateOf,
  type HoldAction,
  type HoldEvent,
  type HoldState,
  type StandingState,
} from "./hold-life.ts";
import type { QuestionTable } from "./tables.ts";
import { earningDecisions, whatIsAsked, whatIsAskedStatement, type AskedNow, type Question } from "./what-is-asked.ts";

export interface NewHold extends Row<"hold", "kind" | "hash" | "subject"> {
  scope: QuestionTable["scope"];
  reason: string;
  policy: PolicyName | undefined;
  records: readonly RecordReference[];
  removes: Removes;
  askedBefore?: readonly AskedBefore[] | undefined;
}

export interface StandingHold {
  id: number;
  question: string;
  operation: string;
  subject: string;
  kind: OperationName;
  hash: string;
  policy: PolicyName | undefined;
  scope: QuestionTable["scope"];
  reason: string;
  state: StandingState;
  removes: Removes;
  records: readonly RecordReference[];
  /** A record changed, disappeared or came back since the person saw it. */
  changed: boolean;
  sent: boolean;
}

/** `ofUndo`: holds of an undo instead of holds of runs. */
export interface Whose {
  customer: RecordKey;
  ofUndo: boolean;
}

interface StandingRow extends Row<"hold", "id" | "kind" | "hash" | "policy" | "scope" | "reason"> {
  question: string;
  operation: string;
  subject: string;
  state: StandingState;
  records: string;
  removes: string;
  changed: number;
  sent: number;
}

/** Identifies one version of the record `r`, and whether the CRM has it. */
const mark = "(coalesce(r.version, 0) || ' ' || coalesce(r.changed_at, '') || ' ' || (r.state is 'absent'))";
const recordOf = `left join record r on r.stream = one.value ->> 'stream' and r.namespace = one.value ->> 'namespace'
  and r.id = one.value ->> 'id'`;
const changed = `select 1 from json_each(h.records) one ${recordOf} where ${mark} is not one.value ->> 'mark'`;
const holdColumns = `h.id, h.question_id as question, h.operation_id as operation, h.subject, h.kind, h.hash, h.policy,
  h.scope,
  h.reason, h.state, h.records, h.removes, exists (${changed}) as changed,
  exists (select 1 from operation o where o.id = h.operation_id and o.state in ('sending', 'unknown', 'parked')) as sent`;
const standing = "h.state in ('asked', 'approved', 'rejected')";
const isOf = `${standing} and h.customer_namespace = +? and h.customer_id = +? and h.of_undo = ?`;
const questionColumns = "id, scope, customer_namespace, customer_id, state, created_at, of_undo";

export const isApproved = (operation: string): string =>
  `exists (select 1 from hold h where h.operation_id = ${operation} and h.state = 'approved')`;

/** Writes run inside the writer's transaction. */
export class HoldRows {
  readonly #statements;
  readonly #audit: Pick<AuditLog, "append">;

  constructor(database: Sqlite, audit: Pick<AuditLog, "append">) {
    this.#statements = prepareStatements(database);
    this.#audit = audit;
  }

  question(id: string): Question | undefined {
    const row = this.#statements.question.get(id);
    return row === undefined ? undefined : questionOf(row);
  }

  questions(): AskedNow[] {
    const { questions, whatIsAsked: asked } = this.#statements;
    return questions.all().map((row) => {
      const { explanation } = whatIsAsked((_, parameters) => asked.all(parameters), row.id);
      return { ...questionOf(row), explanation };
    });
  }

  openQuestion(question: Question & { policy: PolicyName | undefined; toEarn: number | undefined }): void {
    const { id, scope, policy = null, toEarn = null, createdAt } = question;
    this.#statements.openQuestion.run({ ...named(question), question: id, scope, policy, toEarn, createdAt });
  }

  hold(whose: Whose, question: string, hold: NewHold, at: string): void {
    const operation = this.#planned(whose, hold);
    if (operation === undefined) throw new Error("a held operation is in the journal as planned");
    const { kind, hash, subject, policy = null, scope, reason } = hold;
    const said = { kind, hash, subject, policy, scope, reason, records: JSON.stringify(hold.records) };
    const removes = JSON.stringify(hold.removes);
    this.#statements.hold.run({ ...named(whose), ...said, removes, question, operation, at });
    this.#statements.holdOperation.run(question, at, operation);
  }

  isPlanned(whose: Whose, hold: Pick<NewHold, "kind" | "hash">): boolean {
    return this.#planned(whose, hold) !== undefined;
  }

  #planned(whose: Whose, { kind, hash }: Pick<NewHold, "kind" | "hash">): string | undefined {
    return this.#statements.planned.get({ ...named(whose), kind, hash })?.id;
  }

  /** Moves a hold to the operation that the journal planned again. */
  attach(hold: Pick<StandingHold, "id"> | undefined, operation: string): void {
    if (hold !== undefined) this.#statements.attach.run(operation, hold.id);
  }

  standing({ customer, ofUndo }: Whose): StandingHold[] {
    return this.#statements.standing.all(customer.namespace, customer.id, ofUndo ? 1 : 0).map(standingHold);
  }

  ofQuestion(question: string): StandingHold[] {
    return this.#statements.ofQuestion.all(question).map(standingHold);
  }

  ofOperation(operation: string): StandingHold | undefined {
    const row = this.#statements.ofOperation.get(operation);
    return row === undefined ? undefined : standingHold(row);
  }

  askedBy(run: string): StandingHold[] {
    return this.#statements.askedBy.all(run).map(standingHold);
  }

  askedByLimits(): { customer: RecordKey; removes: Removes }[] {
    const rows = this.#statements.askedByLimits.all();
    return rows.map(({ removes, ...customer }) => ({ customer, removes: stored<Removes>(removes) }));
  }

  /** Operations of runs that a person rejected. Undo operations do not count: the CRM does not want them. */
  rejected(): number {
    return this.#statements.rejected.get()?.count ?? 0;
  }

  hasApproved({ namespace, id }: RecordKey): boolean {
    return this.#statements.hasApproved.get(namespace, id) !== undefined;
  }

  standsAs(
    { customer, ofUndo }: Whose,
    { kind, hash }: { kind: string; hash: string },
  ): Pick<StandingHold, "state" | "question"> | undefined {
    return this.#statements.standsAs.get(customer.namespace, customer.id, ofUndo ? 1 : 0, kind, hash);
  }

  /** Applies `holdLife`. If the hold is over or rejected, the journal drops the operation with the reason `why`. */
  happens(
    event: HoldEvent,
    hold: Pick<StandingHold, "id" | "state" | "operation">,
    at: string,
    why: string,
  ): HoldAction {
    const action = holdLife[hold.state][event];
    if (action === "refuse" || action === "keep") return action;
    if (action === "asked") this.#statements.holdAgain.run(at, hold.operation);
    const isOver = action !== "asked" && action !== "approved" && action !== "rejected";
    this.#statements.setState.run({ id: hold.id, state: action, at: isOver ? at : null, why: isOver ? why : null });
    if (isOver || action === "rejected") this.#statements.giveUp.run(at, why, hold.operation);
    return action;
  }

  /** Sets the state of a question from its holds. If it changed, writes an audit entry. */
  answered(question: string, at: string, reason: string, by: string | null): void {
    const states = this.#statements.statesOf.all(question).map(({ state }) => state);
    const state = questionStateOf(new Set(states));
    const before = this.question(question);
    if (before === undefined || before.state === state) return;
    if (state === "open") {
      this.#statements.reopenQuestion.run(question);
      return;
    }
    this.#statements.setQuestion.run(state, at, reason, by, question);
    const body = { hold: question, reason, ...(by === null ? {} : { by }) };
    this.#audit.append({ at, kind: `hold-${state}`, subject: `customer:${formatKey(before.customer)}`, body });
  }

  decided(
    verdict: "approve" | "reject" | "withdraw",
    { customer }: Pick<Question, "customer">,
    hold: StandingHold,
    said: { at: string; by: string; reason: string },
  ): void {
    const { id, policy = null } = hold;
    this.#statements.decided.run({
      ...said,
      who: canonicalJson({ ...whoActs() }),
      verdict,
      hold: id,
      policy,
      namespace: customer.namespace,
      of: customer.id,
    });
  }

  /** The operation was carried out, or a service rejected it. This uses its approval. */
  done(operation: string, at: string): void {
    const hold = this.ofOperation(operation);
    if (hold === undefined) return;
    this.happens("done", hold, at, "carried out");
    // A person has seen the flapping of these records, so the count starts again.
    if (hold.state === "approved")
      for (const { stream, namespace, id } of hold.records) this.#statements.calm.run(stream, namespace, id);
    this.answered(hold.question, at, "carried out", null);
  }

  lookAtChanged(): void {
    this.#statements.lookAtChanged.run();
  }

  /** A person has seen the rest of a rebuild for this customer. Later operations need no question about it. */
  seenAfterRebuild({ namespace, id }: RecordKey, at: string): void {
    this.#statements.seen.run(at, namespace, id);
  }

  /** Different operations that people approved and did not reject later, by policy. */
  earned(): Map<PolicyName, number> {
    return new Map(this.#statements.earned.all().map(({ policy, count }) => [policy, count]));
  }
}

function named({ customer, ofUndo }: Whose): { namespace: string; id: string; ofUndo: number } {
  return { namespace: customer.namespace, id: customer.id, ofUndo: ofUndo ? 1 : 0 };
}

type QuestionRow = Omit<QuestionTable, "number" | "policy" | "to_earn" | "decided_at" | "reason" | "decided_by">;

function questionOf(row: QuestionRow): Question {
  return {
    id: row.id,
    scope: row.scope,
    customer: { namespace: row.customer_namespace, id: row.customer_id },
    state: row.state,
    createdAt: row.created_at,
    ofUndo: row.of_undo === 1,
  };
}

function standingHold({ policy, records, removes, changed, sent, ...row }: StandingRow): StandingHold {
  return {
    ...row,
    policy: policy ?? undefined,
    records: stored<RecordReference[]>(records),
    removes: stored<Removes>(removes),
    changed: changed === 1,
    sent: sent === 1,
  };
}

function prepareStatements(database: Sqlite) {
  type Of = [namespace: string, id: string, ofUndo: number];
  return prepared(database, {
    question: sql<[string], QuestionRow>`select ${questionColumns} from question where id = +?`,
    questions: sql<[], QuestionRow>`
      select ${questionColumns} from question where state in ('open', 'approved') order by number`,
    whatIsAsked: sql<[{ id: string; before: string }]>`${whatIsAskedStatement}`,
    openQuestion: sql`insert into question (id, scope, policy, to_earn, customer_namespace, customer_id, state,
      created_at, of_undo)
      values (@question, @scope, @policy, @toEarn, @namespace, @id, 'open', @createdAt, @ofUndo)`,
    setQuestion: sql`update question set state = ?, decided_at = ?, reason = ?, decided_by = coalesce(?, decided_by)
      where id = +?`,
    reopenQuestion: sql`update question set state = 'open', decided_at = null, reason = null, decided_by = null
      where id = +?`,
    statesOf: sql<[string], { state: HoldState }>`select distinct state from hold where question_id = +?`,
    planned: sql<[Record<string, string | number>], { id: string }>`
      select id from operation where state in ('planned', 'held') and customer_namespace = +@namespace
          and customer_id = +@id and kind = @kind and hash = @hash and (plan_id is not null) = @ofUndo
          and not exists (select 1 from hold h where h.operation_id = operation.id)
        order by id desc limit 1`,
    hold: sql`insert into hold (question_id, operation_id, customer_namespace, customer_id, of_undo, kind, hash,
      subject,
        policy, scope, reason, records, removes, state, asked_at)
      values (@question, @operation, @namespace, @id, @ofUndo, @kind, @hash, @subject, @policy, @scope, @reason,
        (select json_group_array(json_set(one.value, '$.mark', ${mark})) from json_each(@records) one ${recordOf}),
        @removes, 'asked', @at)`,
    holdOperation: sql`update operation set state = 'held', question_id = ?, updated_at = ? where id = +?`,
    attach: sql`update hold set operation_id = ? where id = ?`,
    standing: sql<Of, StandingRow>`select ${holdColumns} from hold h where ${isOf} order by h.id`,
    ofQuestion: sql<[string], StandingRow>`
      select ${holdColumns} from hold h where h.question_id = +? and ${standing} order by h.id`,
    ofOperation: sql<[string], StandingRow>`
      select ${holdColumns} from hold h where h.operation_id = +? and ${standing}`,
    askedBy: sql<[string], StandingRow>`
      select ${holdColumns} from operation o join hold h on h.operation_id = o.id and h.state = 'asked'
        where o.run_id = +? and o.state = 'held' order by h.id`,
    askedByLimits: sql<[], RecordKey & Row<"hold", "removes">>`
      select customer_namespace as namespace, customer_id as id, removes from hold
        where state = 'asked' and scope in ('enterprise', 'run', 'day', 'week')`,
    rejected: sql<[], { count: number }>`select count(*) as count from question q indexed by question_rejected
      cross join hold h on h.question_id = q.id and h.state = 'rejected' where q.state = 'rejected' and q.of_undo = 0`,
    hasApproved: sql<[string, string]>`
      select 1 from hold where state = 'approved' and of_undo = 0 and customer_namespace = +? and customer_id = +?
        limit 1`,
    standsAs: sql<[...Of, string, string], Pick<StandingHold, "state" | "question">>`
      select h.state, h.question_id as question from hold h where ${isOf} and h.kind = ? and h.hash = ?`,
    setState: sql`update hold set state = @state, ended_at = @at, ended_why = @why where id = @id`,
    giveUp: sql`update operation set state = 'dropped', updated_at = ?, outcome_message = ?
      where id = +? and state in ('planned', 'held')`,
    holdAgain: sql`update operation set state = 'held', updated_at = ?, outcome_message = null where id = +?
      and state = 'dropped'`,
    decided: sql`insert into decision (at, by, who, verdict, hold_id, policy, customer_namespace, customer_id, reason)
      values (@at, @by, @who, @verdict, @hold, @policy, @namespace, @of, @reason)`,
    lookAtChanged: sql`update record set pending = 1 where stream = 'customers' and pending = 0
      and state <> 'quarantined'
      and (namespace, id) in (select customer_namespace, customer_id from hold h
        where ${standing} and h.of_undo = 0 and exists (${changed}
          and (r.customer_namespace, r.customer_id) is not (h.customer_namespace, h.customer_id)))`,
    calm: sql`update record set flips = 0 where stream = +? and namespace = +? and id = +? and flips > 0`,
    seen: sql`update observation set to_at = ? where customer_namespace = +? and customer_id = +?
      and kind = '${rebuiltKind}' and to_at is null`,
    earned: sql<[], { policy: PolicyName; count: number }>`
      select d.policy, count(distinct e.kind || e.hash) as count ${earningDecisions} and d.policy is not null
        group by d.policy`,
  });
}
