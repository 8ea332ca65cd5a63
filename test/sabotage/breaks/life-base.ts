import type { Breaks } from "../break.ts";

/** What people approve, and what was taken away over days. */
export const lifeBase: Breaks = {
  "an approval of one operation releases everything that its hold holds": {
    file: "src/ledger/approvals/approvals.ts",
    within: "Approvals.#approve",
    find: "this.#approved.approve($hold.id, { $kind, $hash }, $by, $at);",
    replace:
      "for (const one of this.#approved.of(hold.id)) this.#approved.approve($hold.id, { kind: one.kind, hash: one.hash }, $by, $at); void $kind; void $hash;",
    test: "ledger/approvals.test.ts",
    title:
      "an operation that is approved by itself > is the only one of its hold, until it was carried out; then the same is asked for again",
  },
  "an approval holds for ever": {
    file: "src/ledger/journal/journal.ts",
    within: "Journal.#conclude",
    find: "if ($row.approved) this.#approved.use($row.operation, $at);",
    replace: "",
    test: "ledger/approvals.test.ts",
    title:
      "an operation that is approved by itself > is the only one of its hold, until it was carried out; then the same is asked for again",
  },
  "an approval of another operation is enough": {
    file: "src/ledger/journal/uniqueness.ts",
    within: "UniquenessChecks.requireApproved",
    find: "if (!kindOf($operation).approvedAlone || this.#approved.isApproved($operation)) return;",
    replace: "if (!kindOf($operation).approvedAlone || this.#approved.earned().size > 0) return;",
    test: "ledger/approvals.test.ts",
    title:
      "an operation that is approved by itself > is needed at the intent by a kind that is approved one by one, and no other approval will do",
  },
  "the same operation approved twice earns twice": {
    file: "src/ledger/approvals/approved-operations.ts",
    within: "ApprovedOperations.constructor",
    find: "select kind, count(*) as count from approved_operation group by kind",
    replace:
      "select a.kind, count(*) as count from approved_operation a join hold_operation o on o.hash = a.hash group by a.kind",
    test: "ledger/approvals.test.ts",
    title: "what a person approved > earns by different operations of a kind: the same one approved twice counts once",
  },
  "what is in doubt does not count as taken away": {
    file: "src/ledger/journal/journal-tables.ts",
    within: "JournalTables.constructor",
    find: "and updated_at >= ? group by kind",
    replace: "and state = 'done' and updated_at >= ? group by kind",
    test: "ledger/taken-since.test.ts",
    title: "what was taken away, or may have been, counts for as long as it is in the window, over runs and processes",
  },
  "an operation of a saved plan is applied by every run that is asked to": {
    file: "src/ledger/journal/journal.ts",
    within: "Journal.intend",
    find: "if ($entry.plan !== undefined) this.#plans.apply(",
    replace: "if ($entry.plan === '') this.#plans.apply(",
    test: "cli/apply-only.test.ts",
    title: "a saved plan > is applied in part, each operation once, and the rest is left to the next run",
  },
  "what was not chosen of a saved plan counts as done": {
    file: "src/run/reconcile.ts",
    within: "CustomerAttemptRun.#noteLeft",
    find: 'for (const $operation of $left) this.#advance({ type: "put-off", $operation, why: notChosen });',
    replace: "",
    test: "cli/apply-only.test.ts",
    title: "a saved plan > is applied in part, each operation once, and the rest is left to the next run",
  },
  "a fact that moved does not make a saved plan stale": {
    file: "src/run/saved-plan.ts",
    within: "movedSince",
    find: "return moved.length > 0 ? moved : [...lost, ...others];",
    replace: "return [];",
    test: "cli/apply-only.test.ts",
    title: "a saved plan > says which facts moved, and applies nothing of that customer and everything of the others",
  },
  "a plan shows personal data that nobody asked for": {
    file: "src/app/by-hand.ts",
    within: "planByHand",
    find: 'const $shown = privateFor === undefined || !("plan" in $planned) ? undefined :',
    replace: 'const $shown = !("plan" in $planned) ? undefined :',
    test: "cli/show-private.test.ts",
    title: "a plan shows the personal data behind its markers to whoever asks for it by name, and to nobody else",
  },
  "what a person approved counts as taken away": {
    file: "src/ledger/approvals/approved-operations.ts",
    within: "isApproved",
    find: "a.used_at is null and h.state in ('open', 'approved')",
    replace: "a.used_at is null and h.state in ('open', 'approved') and 1 = 0",
    test: "ledger/taken-since.test.ts",
    title: "what a person approved is not counted, alone or in a set",
  },
};
