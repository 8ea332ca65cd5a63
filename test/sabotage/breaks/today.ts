import type { Breaks } from "../break.ts";

/** The pages of today, of runs and of the plan: nothing wrong looks well, and only who may decide decides. */
export const today: Breaks = {
  "the page of today says that nothing waits where one thing does": {
    file: "src/report/today.ts",
    within: "stateSentence",
    find: "if (count > 0) {",
    replace: "if (count > 1) {",
    test: "web/today.test.ts",
    title: "the sentence of today > is never good where a circuit is open",
  },
  "the page of today takes every end of a run for a good one": {
    file: "src/report/today.ts",
    within: "wrongBeside",
    find: `if (!byHand($run) && $tone !== "good" && $tone !== "on")`,
    replace: `if (!byHand($run) && $tone === "stopped")`,
    test: "web/today.test.ts",
    title: "the sentence of today > is never good where a run ended with an exit code that says of itself no more",
  },
  "everybody who sees a hold may decide it": {
    file: "src/web/pages/plan.ts",
    within: "planPage",
    find: `"/hold/:id", needs("decide")`,
    replace: `"/hold/:id", needs("see")`,
    test: "web/plan.test.ts",
    title: "a decision > is for the role that decides alone, and only in the daemon's own pages",
  },
  "the pages beside a daemon decide": {
    file: "src/web/pages/plan.ts",
    within: "deciding",
    find: "if (dashboard.live === undefined) {",
    replace: "if (dashboard.signal.aborted) {",
    test: "web/plan.test.ts",
    title: "a decision > is for the role that decides alone, and only in the daemon's own pages",
  },
  "a hold is approved also where it holds more than its page showed": {
    file: "src/ledger/approvals/approvals.ts",
    within: "Approvals.#requireShown",
    find: "shown !== shownMark(left)",
    replace: 'shown === "never"',
    test: "web/plan.test.ts",
    title: "a decision > on a hold that holds more than its page showed approves nothing",
  },
  "a run is approved also where it held more than its page showed": {
    file: "src/ledger/approvals/approvals.ts",
    within: "Approvals.approveRun",
    find: "shown !== shownMark(approving)",
    replace: 'shown === "never"',
    test: "web/plan.test.ts",
    title: "a decision > on a run that went on holding since its page was shown approves nothing",
  },
};
