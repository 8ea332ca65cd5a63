import type { RecordKey } from "../../crm/model.ts";
import { isLimit, noWeight, sumOf, weightText, type HoldScope, type Weight } from "../../engine/model/operation.ts";
import { stored } from "../database/damage.ts";
import type { QuestionTable } from "./tables.ts";
import { hashOf } from "../../base/canonical-json.ts";

export interface Question {
  id: string;
  scope: QuestionTable["scope"];
  customer: RecordKey;
  state: QuestionTable["state"];
  createdAt: string;
  ofUndo: boolean;
}

export type AskedNow = Question & { explanation: string };

/** Sorts after every instant. */
const now = "~";

/** Approvals that count for a policy: of different operations, and not rejected later. */
export const earningDecisions = `from decision d join hold e on e.id = d.hold_id
  where d.verdict = 'approve' and d.id = (select max(l.id) from decision l where l.hold_id = e.id)`;

/** Counts people who hold only these numbers, and at least one. `numbers` is a query of one column. */
export function peopleWithout(numbers: string): string {
  return `(select count(distinct a.namespace || '/' || a.staff_id) from assignment a
    where a.to_at is null and a.asset_number in (${numbers}) and not exists (select 1 from assignment k
      where k.namespace = a.namespace and k.staff_id = a.staff_id and k.to_at is null
        and k.asset_number not in (${numbers})))`;
}

/** The state of the hold `h` before an instant. */
export function holdStood(before: string): string {
  return `iif(${before} = '${now}' or h.ended_at < ${before}, h.state, coalesce((select case d.verdict
    when 'approve' then 'approved' when 'reject' then 'rejected' end from decision d
    where d.hold_id = h.id and d.at < ${before} order by d.id desc limit 1), 'asked'))`;
}

/** The state of a question before an instant, while it was open, approved or rejected. */
export function questionStood(question: string, before: string): string {
  return `(select replace(stood, 'asked', 'open') from (select ${holdStood(before)} as stood from hold h
    where h.question_id = ${question}.id and h.asked_at < ${before})
    where stood in ('asked', 'approved', 'rejected') order by stood = 'asked' desc, stood limit 1)`;
}

/** The holds of a question at that time. Undecided ones win over decided ones; all of them once it was over. */
export const askedBefore = `was as (
    select h.*, ${holdStood("@before")} as stood from hold h where h.question_id = +@id and h.asked_at < @before),
  asked as (select * from was where coalesce(stood = (select stood from was
    where stood in ('asked', 'approved', 'rejected') order by stood = 'asked' desc, stood limit 1), 1))`;

export const whatIsAskedStatement = `with ${askedBefore}, mine as (
    select h.id, o.id as operation, h.scope, h.reason as why, o.reason, o.weight, h.removes, q.to_earn as toEarn, q.policy
    from asked h join question q on q.id = h.question_id join operation o on o.id = h.operation_id),
  seats(number) as materialized (select one.value from mine, json_each(mine.removes, '$.seats') one)
  select operation, scope, why, reason, weight, toEarn,
    iif(toEarn is null, 0,
      (select count(distinct e.kind || e.hash) ${earningDecisions} and d.policy = mine.policy)) as earned,
    ${peopleWithout("select number from seats")} as lastAsset
  from mine order by id`;

interface AskedRow {
  operation: string;
  scope: HoldScope;
  why: string;
  reason: string;
  weight: string | null;
  toEarn: number | null;
  earned: number;
  lastAsset: number;
}

export type RunsStatement = (statement: string, parameters: { id: string; before: string }) => readonly unknown[];

const mostReasons = 3;

interface WhatIsAsked {
  count: number;
  explanation: string;
  first: { operation: string; reason: string }[];
}

const mostNamed = 50;

export function whatIsAsked(all: RunsStatement, id: string, before = now): WhatIsAsked {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the statement above says what a row is
  const rows = all(whatIsAskedStatement, { id, before }) as readonly AskedRow[];
  const [first] = rows;
  if (first === undefined) return { count: 0, explanation: "", first: [] };
  const reasons = isLimit(first.scope) ? [] : spelledOut(rows.map(({ reason }) => reason));
  const weights = rows.map(({ weight }) => (weight === null ? noWeight : stored<Weight>(weight)));
  const here = weightText({ ...sumOf(weights), lastAsset: first.lastAsset });
  const parts = [...reasons, ...spelledOut(rows.map(({ why }) => why))];
  if (here !== "") parts.push(`held here: ${here}`);
  if (first.toEarn !== null) parts.push(`${first.earned} of ${first.toEarn} approved so far`);
  const named = rows.slice(0, mostNamed).map(({ operation, reason }) => ({ operation, reason }));
  return { count: rows.length, explanation: parts.join("; "), first: named };
}

function spelledOut(texts: readonly string[]): string[] {
  const all = [...new Set(texts)];
  const more = all.length - mostReasons;
  return more > 0 ? [...all.slice(0, mostReasons), `${more} more for reasons of this kind`] : all;
}

/** Identifies this set of operations in any order. A decision with this mark approves nothing else. */
export function shownMark(operations: readonly { kind: string; hash: string }[]): string {
  return hashOf([...new Set(operations.map(({ kind, hash }) => `${kind} ${hash}`))].sort());
}
