import type { Operation } from "../engine/operation.ts";
import { crmFacts, movedFacts } from "../engine/plan/facts.ts";
import { needsOf } from "../engine/plan/needs-of-operations.ts";
import type { Facts } from "../engine/plan/facts.ts";
import type { CustomerPlan } from "../engine/plan/plan.ts";
import type { Why } from "./record-outcomes.ts";

/** A saved plan of one customer that is to be carried out as it is, or in part. */
export interface Expected {
  /** The plan that it is a part of. */
  plan: string;
  facts: Facts;
  /** The run that it takes back; undefined: it does what the CRM wants. */
  undo?: string | undefined;
  /** Every operation that was saved, by hash, as people are told of it. */
  operations: ReadonlyMap<string, string>;
  /** Those that are to be carried out. */
  chosen: ReadonlySet<string>;
  /** Something of it was applied by an earlier run: what that changed is no reason against the rest. */
  applied: boolean;
  /** This run has begun to carry it out: what is left must be a part of it. */
  begun: boolean;
}

/** What stands against carrying a saved plan out now, as sentences for people; nothing where it is still the plan. */
export function movedSince(plan: CustomerPlan, expected: Expected): string[] {
  const now = new Map(plan.operations.map((operation) => [operation.hash, nameOf(operation)]));
  const others = [...now]
    .filter(([hash]) => !expected.operations.has(hash))
    .map(([, name]) => `${name} is to be done too`);
  if (expected.begun) return others;
  const lost = [...expected.operations]
    .filter(([hash]) => !now.has(hash) && (!expected.applied || expected.chosen.has(hash)))
    .map(([, name]) => `${name} is no longer needed as planned`);
  const moved = expected.applied ? movedInCrm(expected.facts, plan.facts) : movedFacts(expected.facts, plan.facts);
  return moved.length > 0 ? moved : [...lost, ...others];
}

/** Of a plan that was begun: what the CRM changed meanwhile; what is done by now waits for nothing any more. */
function movedInCrm(saved: Facts, now: Facts): string[] {
  const left = crmFacts(now);
  return movedFacts(Object.fromEntries(Object.entries(saved).filter(([name]) => name in left)), left);
}

/** Why what was not chosen of a saved plan is left to the next run. */
export const notChosen: Why = {
  code: "plan.not-chosen",
  reason: "the change is in the saved plan but was not chosen; the next run carries it out",
  again: true,
};

/** Why the records of what a run did wait, once that is taken back. */
export function takenBack(run: string): Why {
  return {
    code: "undo.taken-back",
    reason: `an undo was applied to the changes of ${run}; the next run makes them again unless the CRM changes`,
    again: true,
  };
}

/** An operation as people are told of it: `1a2b3c4d E5 order:crm/10248`. */
export function nameOf({ hash, endpoint, subject }: { hash: string; endpoint: string; subject: string }): string {
  return `${hash.slice(0, 8)} ${endpoint} ${subject}`;
}

/** A plan with what was chosen of it, and what was not, or needs something that is still to be done and was not. */
export function chosenOf(
  plan: CustomerPlan,
  expected: Expected | undefined,
): { plan: CustomerPlan; left: readonly Operation[] } {
  if (expected === undefined) return { plan, left: [] };
  const left = new Set(plan.operations.filter(({ hash }) => !expected.chosen.has(hash)));
  if (left.size === 0) return { plan, left: [] };
  const needs = needsOf(plan.operations);
  for (let before = 0; before < left.size;) {
    before = left.size;
    const hashes = new Set([...left].map(({ hash }) => hash));
    for (const operation of plan.operations)
      if (needs.get(operation.hash)?.some((hash) => hashes.has(hash)) === true) left.add(operation);
  }
  return { plan: { ...plan, operations: plan.operations.filter((one) => !left.has(one)) }, left: [...left] };
}
