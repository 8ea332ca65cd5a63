import type { Breaks } from "../break.ts";

const test = "run/rejections.test.ts";
const onePerson =
  "an M9 that is refused > stops this person alone: leavers lose, later hires get, orders are placed; it is tried again for a setting or a person";

/** What becomes of what a service refused. */
export const rejecting: Breaks = {
  "people who are to be sent in parts are told of by nothing where their service stops": {
    file: "src/run/reconcile.ts",
    within: "CustomerAttemptRun.#end",
    find: "[...leftIn(this.#state), ...this.#state.inParts]",
    replace: "leftIn(this.#state)",
    test,
    title:
      "people who are to be sent in parts > count as not done where the service refuses the application before all parts were sent",
  },
  "an order that was refused is sent again without a look": {
    file: "src/apply/refused-orders.ts",
    within: "lookForRefused",
    find: "if ($found === undefined) continue;",
    replace: `if ($found !== "") continue;`,
    test,
    title:
      "an order that was refused (E5) > waits for a person where something of it shows, whatever the record says now",
  },
  "an order that was refused and is not wanted any more is not looked for": {
    file: "src/apply/refused-orders.ts",
    within: "unwantedOrders",
    find: "return $pending && !$wanted &&",
    replace: "return $pending && $wanted &&",
    test,
    title:
      "an order that was refused (E5) > waits for a person where something of it shows and the CRM does not want it any more",
  },
  "a revoke that was refused is not tried again when the person is gone": {
    file: "src/ledger/journal/rejections.ts",
    within: "prepareStatements",
    find: "and (r.state is not 'absent' or r.changed_at <= j.at)",
    replace: "",
    test,
    title:
      "a revoke that was refused > is tried again when the person is gone from the CRM: that is a change of the record too",
  },
  "an order that was refused and placed by hand since is looked for under its own numbers alone": {
    file: "src/operation/refused-order.ts",
    within: "shownOfRefusedOrder",
    find: "for (const $number of others) if",
    replace: "for (const $number of assets.keys()) if",
    test,
    title:
      "an order that was refused (E5) > waits for a person where somebody placed it by another way meanwhile, under numbers that are not its own",
  },
  "a refused order that shows is ended without a person": {
    file: "src/apply/settle.ts",
    within: "Settling.settle",
    never: "refusedYetShown",

    test,
    title:
      "an order that was refused (E5) > waits for a person where something of it shows, whatever the record says now",
  },
  "what was refused is sent again by itself": {
    file: "src/plan/rejections.ts",
    within: "StandingRejections.#of",
    find: "return $found === undefined || $found.shared ? undefined : rejectionBlock($found);",
    replace: "return undefined;",
    test,
    title: onePerson,
  },
  "a refusal stops everything else of its customer": {
    file: "src/run/carry-out.ts",
    within: "refusedBy",
    find: `advance($before, { type: "refused", $operation, why: { $code, $reason }, $shared })`,
    replace: `advance($before, { type: "refused", $operation, why: { $code, $reason }, $shared }), stopped: "rejected"`,
    test,
    title: onePerson,
  },
  "what was refused is not tried again when the settings change": {
    file: "src/run/work-queue.ts",
    within: "pendingCustomers",
    skips: "wakeRejected",

    test,
    title: onePerson,
  },
  "somebody whom M1 refused in words alone is sent in every run": {
    file: "src/ledger/journal/rejections.ts",
    within: "mostTries",
    find: "const mostTries = 3;",
    replace: "const mostTries = 30;",
    test,
    title:
      "an M1 that is refused for one person's sake > that refuses the same one each time (60027) sends that one three times in all, and the others once",
  },
  "people who were refused together are sent together again": {
    file: "src/plan/staff.ts",
    within: "batches",
    find: "$together === undefined ? limits.staffPerCall : Math.ceil($people.length / 2)",
    replace: "limits.staffPerCall",
    test,
    title:
      "an M1 that is refused for one person's sake > is split until that one is alone; all others are added and served, and only that record waits for a correction",
  },
  "an order is sent once more than it may be": {
    file: "src/apply/settle.ts",
    within: "mostSendings",
    find: "const mostSendings = 3;",
    replace: "const mostSendings = 4;",
    test,
    title:
      "what is lost each time > an order (E5) is sent three times in all, over all runs, and then waits for a person",
  },
  "a service that refuses this application is asked for every customer": {
    file: "src/run/carry-out.ts",
    within: "refusedBy",
    skips: "set",

    test,
    title:
      "what a service refuses as a whole > is no record's fault: one call tells, nothing more is sent to that service in the run, and the rest goes on in the next",
  },
};
