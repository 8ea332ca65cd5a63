import type { Breaks } from "../break.ts";

/** What is read back, and what is kept of it. */
export const lifeVerify: Breaks = {
  "a customer whose reading costs more than the budget is never read": {
    file: "src/run/read-back.ts",
    within: "CallBudget.within",
    find: "this.#spent > 0 && this.#spent + $calls",
    replace: "this.#spent + $calls",
    test: "run/verify-budget.test.ts",
    title: "reads at a budget of calls: those never read first, then the oldest, one in any case, and none twice",
  },
  "a reading that failed ends what was found": {
    file: "src/inquiry/reconciliation.ts",
    within: "readSince",
    find: '.where("r.complete", "=", sql.lit(1))',
    replace: "",
    test: "run/verify-budget.test.ts",
    title: "keeps what it found until a whole reading shows it no more, whoever is read meanwhile",
  },
  "what another run found is forgotten": {
    file: "src/ledger/state/differences.ts",
    within: "DifferenceRows.counts",
    find: "this.#statements.counts.all(",
    replace: "[].map(",
    test: "run/verify-budget.test.ts",
    title: "keeps what it found until a whole reading shows it no more, whoever is read meanwhile",
  },
  "what is on its way from one person to another is called missing": {
    file: "src/report/reconciliation/compare-customer.ts",
    within: "unmetRow",
    find: '$isFreed ? "in-transit" : "missing"',
    replace: '"missing"',
    test: "run/drift.test.ts",
    title: "what was taken from one person and waits for another is in transit, and ends once it is given",
  },
  "what was taken away and is shown again is taken for a stranger's": {
    file: "src/report/reconciliation/compare-orders.ts",
    within: "strayRow",
    find: `ours.has(text("channelOrderId") ?? "")`,
    replace: "ours.size < 0",
    test: "cli/verify.test.ts",
    title:
      "a product that was taken away and is shown again under our number is a finding; " +
      "a stranger's is told, and is none",
  },
  "who is linked no more counts as read back": {
    file: "src/ledger/state/readings.ts",
    within: "ofTheLink",
    find: "and l.to_at is null and r.seen_at >= l.from_at",
    replace: "",
    test: "run/verify-budget.test.ts",
    title: "counts as read back who is linked, by readings of the enterprise that they are linked with",
  },
  "what one enterprise showed is taken for what another one shows": {
    file: "src/inquiry/customer-case.ts",
    within: "customerCase",
    find: '($link?.otherUntil ?? "") >= $last.seen_at',
    replace: 'last.seen_at === ""',
    test: "scenarios/life/link.test.ts",
    title: "what stands in one enterprise is not taken for what stands in another that the customer is linked with",
  },
  "of an old and a new form that stand beside each other the wrong one is compared": {
    file: "src/report/reconciliation/compare-orders.ts",
    within: "judgeShown",
    find: "shownAs($shown, $channelOrderId)",
    replace: "shown.body",
    test: "scenarios/life/overlap.test.ts",
    title:
      "while an old form waits for a person beside the new one verify is content, and is not where one is there twice",
  },
  "two rows of one purchase are taken for an old and a new form": {
    file: "src/report/reconciliation/compare-customer.ts",
    within: "ownForms",
    find: "count($shown, $id) <= count($own, $id)",
    replace: "own.includes(String(id))",
    test: "scenarios/life/overlap.test.ts",
    title:
      "while an old form waits for a person beside the new one verify is content, and is not where one is there twice",
  },
  "what was sent twice as the settings say is told of": {
    file: "src/report/reconciliation/compare-customer.ts",
    within: "ownForms",
    find: "count($shown, $id) <= count($own, $id)",
    replace: "count(shown, id) <= 1 && own.includes(String(id))",
    test: "scenarios/life/repeated-packages.test.ts",
    title: "what is repeated in the asset is not told of when everything is read back, and what is there once more is",
  },
  "what others made stops a canary": {
    file: "src/run/canary.ts",
    within: "isNotAsMeant",
    find: "$subject.startsWith(shownTwice) || $subject.startsWith(shownStill)",
    replace: "true",
    test: "cli/canary.test.ts",
    title: "run --canary > goes on beside what others made there",
  },
  "a budget that never comes to some customers is content": {
    file: "src/run/verify-run.ts",
    within: "exitOf",
    never: "behind",
    test: "run/verify-budget.test.ts",
    title: "is not content where the budget is too small for the time within which all are to be read",
  },
  "a verify says that all is well while something is held": {
    file: "src/run/verify-run.ts",
    within: "exitOf",
    find: "if (summary.waiting.holds > 0) return exitCodes.held;",
    replace: "",
    test: "cli/verify.test.ts",
    title: "ends with what is worse than a difference where something is held or in doubt, whichever run left it so",
  },
};
