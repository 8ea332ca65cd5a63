import type { Breaks } from "../break.ts";

/** What limits and policies hold over the years: windows of days, approvals, what waits with what is held. */
export const lifeRules: Breaks = {
  "what is never done is sent again for ever in one run": {
    file: "src/run/carry-out.ts",
    within: "withhold",
    find: "$sent > mostAgain",
    replace: "$sent > mostAgain * 99",
    test: "scenarios/life/left-person.test.ts",
    title:
      "an account whose deletion is answered unclearly and not done is tried a few times in a run, and again in the next",
  },
  "an approval outlives what was approved": {
    file: "src/ledger/approvals/approvals.ts",
    within: "Approvals.end",
    find: "for (const $word of $words) this.#approved.end($word, $at);",
    replace: "",
    test: "scenarios/life/words-that-end.test.ts",
    title:
      "an approval (somebody else waits: true) of a cancellation that the CRM took back releases no later cancellation",
  },
  "a rejection counts for ever": {
    file: "src/ledger/approvals/approved-operations.ts",
    within: "standing",
    find: `"h.customer_namespace = +? and h.customer_id = +? and i.ended_at is null"`,
    replace: `"h.customer_namespace = +? and h.customer_id = +?"`,
    test: "scenarios/life/words-that-end.test.ts",
    title:
      "a cancellation that was rejected, restored by the CRM, is asked for again when the order is cancelled later",
  },
  "a rejection ends while nothing may be taken away": {
    file: "src/run/no-longer-meant.ts",
    within: "Overs.is",
    find: "($changed && !$isUndecided)",
    replace: "changed",
    test: "scenarios/life/words-that-end.test.ts",
    title: "a rejected cancellation stays rejected where somebody is in quarantine for a run",
  },
  "a hold stays while somebody else of its customer waits": {
    file: "src/run/no-longer-meant.ts",
    within: "Overs.is",
    find: "return !$waits || ($changed && !$isUndecided);",
    replace: "return $changed && $waits;",
    test: "scenarios/life/words-that-end.test.ts",
    title: "a hold whose cancellation was taken back lapses, also where something else of the customer waits",
  },
  "what a limit held is released once a part of it was approved": {
    file: "src/plan/limits.ts",
    within: "judgeTakings",
    find: "const $why = $wider ?? $stands;",
    replace: "const $why = $wider;",
    test: "scenarios/life/approved-in-part.test.ts",
    title: "one operation that is approved of what a limit holds is carried out alone: the rest stays held",
  },
  "what is approved by itself is approved with its hold": {
    file: "src/ledger/approvals/approvals.ts",
    within: "Approvals.#approveSet",
    find: "!kindOf({ kind }).approvedAlone",
    replace: "kindOf({ kind }).stages.length > 0",
    test: "scenarios/life/approved-in-part.test.ts",
    title: "approving a hold says what of it has to be approved alone, and that goes on being held",
  },
  "seats that go with what is replaced are no taking": {
    file: "src/operation/taking.ts",
    within: "isTaking",
    find: "$takesAway > 0 || takenThings.some(($thing) => $weight[$thing] > 0)",
    replace: "$takesAway > 0",
    test: "scenarios/life/seats-of-replaced.test.ts",
    title: "the same asset under `apply` stays under the limits, as under an earned `earn`",
  },
  "what comes up once something was judged is left undone": {
    file: "src/run/limits-gate.ts",
    within: "LimitsGate.#second",
    find: "$more === mostMore",
    replace: "$more >= 0",
    test: "scenarios/life/replace.test.ts",
    title:
      "other terms of an order and a leaver of the same customer in one night: nothing of it is called a change of the platform",
  },
  "the window of days counts this run alone": {
    file: "src/plan/limits.ts",
    within: "overLimit",
    find: "const $earlier = $before?.[$thing] ?? 0;",
    replace: "const $earlier = 0 * ($before?.[$thing] ?? 0);",
    test: "scenarios/life/slow-leak.test.ts",
    title: "a leak that stays below the limit of each run is held on the day on which seven days have taken too much",
  },
  "earn is apply from the first approval on": {
    file: "src/plan/limits.ts",
    within: "ruledOut",
    find: "$earned >= $rule.toEarn",
    replace: "$earned >= 1",
    test: "plan/limits.test.ts",
    title:
      "what a policy holds > goes by itself once ten operations of its kind were approved in this ledger, and then limits rule",
  },
  "what a policy holds counts for the limits": {
    file: "src/plan/limits.ts",
    within: "judgeTakings",
    find: "else if (isCounted($item)) $counted.push($item);",
    replace: "if (isCounted($item)) $counted.push($item);",
    test: "plan/limits.test.ts",
    title: "what a policy holds > waits for a person whatever the limits allow, says why, and is counted by no limit",
  },
  "what needs a held operation goes on": {
    file: "src/plan/limits.ts",
    within: "withoutHeld",
    find: "return goingWithout($operations.filter(($operation) => !$left.includes($operation)), $left);",
    replace: "return $operations.filter(($operation) => !$left.includes($operation));",
    test: "plan/limits.test.ts",
    title: "while revokes are held > what needs a held one waits too, and what needs that",
  },
  "what a policy only reports is done": {
    file: "src/plan/policy.ts",
    within: "consider",
    find: `if ($word !== "report") return "act";`,
    replace: `if ($word !== "repeat") return "act";`,
    test: "plan/policy.test.ts",
    title:
      "what a policy makes of an operation that is meant > tells it of the record where it is reported, and does nothing",
  },
  "a record that goes to and fro is changed for ever": {
    file: "src/plan/gated.ts",
    within: "flipsOf",
    find: "if ($flips < mostFlips) return;",
    replace: "if ($flips < mostFlips * 9) return;",
    test: "scenarios/life/to-and-fro.test.ts",
    title: "a value that the CRM turns to and fro is one change a run, and a person is asked after the fifth time back",
  },
  "what takes away goes on although a source lost its rows": {
    file: "src/plan/rejections.ts",
    within: "takesByItself",
    find: "kindOf($made).takes !== undefined",
    replace: "kindOf($made).takes === null",
    test: "plan/policy.test.ts",
    title:
      "while a source cannot be believed > nothing that takes something away is made of what is meant, whichever stage means it, and the rest is",
  },
};
