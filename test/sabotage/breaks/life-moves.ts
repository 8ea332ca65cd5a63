import type { Breaks } from "../break.ts";

/** Orders that move to another customer, and customers that merge. */
export const lifeMoves: Breaks = {
  "what a moved order left goes before M7 shows it at the other customer": {
    file: "src/plan/moved-orders.ts",
    within: "notShown",
    find: 'if (sight !== undefined && sight.is !== "gone") continue;',
    replace: "if (performance.now() > 0) continue;",
    test: "scenarios/life/moved-order.test.ts",
    title: "nothing goes where the order was while M7 does not show it at the other customer",
  },
  "what a moved order left goes before it stands at the other customer": {
    file: "src/plan/moved-orders.ts",
    within: "depart",
    find: "$placed === undefined || !isSameKey($placed.customer, $owner)",
    replace: "placed === undefined",
    test: "scenarios/life/moved-gap.test.ts",
    title:
      "nothing goes while the purchase at the other customer waits for a person, and it is bought once it was approved",
  },
  "with a gap a moved order is bought before it went": {
    file: "src/run/handovers.ts",
    within: "waitingIn",
    find: "operation.handover !== undefined",
    replace: "operation.handover !== undefined && performance.now() < 0",
    test: "scenarios/life/moved-order.test.ts",
    title: "with a gap a moved order goes where it was first, and only once it can be bought",
  },
  "with a gap a moved order goes although its purchase is held": {
    file: "src/run/reconcile.ts",
    within: "CustomerAttemptRun.#carryOutStage",
    find: "await this.#giveOver($released);",
    replace: "await this.#giveOver(plan.operations);",
    test: "scenarios/life/moved-gap.test.ts",
    title:
      "nothing goes while the purchase at the other customer waits for a person, and it is bought once it was approved",
  },
  "a purchase that comes to be held leaves its order given over": {
    file: "src/run/handovers.ts",
    within: "takeBack",
    find: "$handover.isGiven ?",
    replace: "handover.isGiven && performance.now() < 0 ?",
    test: "scenarios/life/moved-gap.test.ts",
    title: "what was to go stays where the purchase comes to be held before it went",
  },
  "what makes room for another customer's purchase goes before that customer was looked at": {
    file: "src/run/destruction.ts",
    within: "goesForAnother",
    find: '$policy === "orders.moved"',
    replace: 'policy === "orders.moved" && performance.now() < 0',
    test: "scenarios/life/moved-gap.test.ts",
    title: "what was to go stays where the other customer comes to have something in doubt before it went",
  },
  "what makes room goes although its order was taken back since": {
    file: "src/ledger/journal/uniqueness.ts",
    within: "UniquenessChecks.requireStanding",
    find: "!isTakenBack &&",
    replace: "",
    test: "ledger/order-steps.test.ts",
    title:
      "an intent to amend an order > that makes room for another customer is refused where the order was taken back since",
  },
  "an order that cannot be bought any more stays given over": {
    file: "src/plan/plan.ts",
    within: "planCustomer",
    find: "...people.changes, ...backs]",
    replace: "...people.changes]",
    test: "scenarios/life/moved-gap.test.ts",
    title: "what was to go stays where the other customer cannot have it any more before it went",
  },
  "an order stays given over to a customer that comes to have something in doubt": {
    file: "src/run/reconcile.ts",
    within: "CustomerAttemptRun.#stop",
    find: "await takeAllBack(this.#knows);",
    replace: "",
    test: "scenarios/life/moved-gap.test.ts",
    title: "what was to go stays where the other customer comes to have something in doubt before it went",
  },
  "an order stays given over to a customer that has something in doubt": {
    file: "src/run/reconcile.ts",
    within: "CustomerAttemptRun.deferAll",
    find: "await takeAllBack(this.#knows);",
    replace: "",
    test: "scenarios/life/moved-gap.test.ts",
    title: "what was to go stays where something that was asked for by hand of the other customer is in doubt",
  },
  "with a gap a moved order goes in a run that does not look at the other customer": {
    file: "src/plan/moved-orders.ts",
    within: "depart",
    find: "$looksAt?.($owner) === false",
    replace: "looksAt?.(owner) === undefined && performance.now() < 0",
    test: "scenarios/life/moved-gap.test.ts",
    title: "what was to go stays where a run looks at the first customer alone, and goes with one that looks at both",
  },
  "what moved away goes with a share before that of the customer that it moved to": {
    file: "src/run/canary.ts",
    within: "placeAmong",
    find: "Math.max(placeOf($customer), ...$others.map(placeOf))",
    replace: "placeOf(customer)",
    test: "scenarios/life/moved-gap.test.ts",
    title: "what was to go goes no sooner than the share of the customer that it moved to was looked at",
  },
  "an order stays given over to a customer of whom a saved plan is not right any more": {
    file: "src/run/reconcile.ts",
    within: "CustomerAttemptRun.#carryOutStage",
    find: "await takeAllBack(this.#knows);",
    replace: "",
    test: "scenarios/life/moved-gap.test.ts",
    title: "what was to go stays where the saved plan of the other customer is not right any more",
  },
  "with a gap a unit goes although another one waits for what it continues": {
    file: "src/plan/removals.ts",
    within: "planOrder",
    find: "if ($waits !== undefined) { $stays.add($ending);",
    replace: "if (waits !== undefined) {",
    test: "scenarios/life/renewed-moved.test.ts",
    title: "with a gap no unit of a renewal that moves goes while another one waits for what it continues",
  },
  "with a gap what is in no package goes while a person is asked about the packages": {
    file: "src/plan/removal-calls.ts",
    within: "putWholeTogether",
    find: "$one.packaged = true",
    replace: "one.packaged ||= performance.now() < 0",
    test: "scenarios/life/renewed-moved.test.ts",
    title: "with a gap nothing of a renewal that moves goes while a person is asked about what is in packages of it",
  },
  "with a gap what can go of an order goes although the rest of it cannot": {
    file: "src/plan/removals.ts",
    within: "planOrder",
    find: "!$ending.isWhole ||",
    replace: "true ||",
    test: "scenarios/life/moved-meanwhile.test.ts",
    title: "what is lent of a moved order stays where it is until it is given back (gap)",
  },
  "what an order left in an earlier enterprise is looked for in the one of now": {
    file: "src/plan/moved-orders.ts",
    within: "depart",
    find: "$placed?.elsewhere === true",
    replace: "performance.now() < 0",
    test: "scenarios/life/moved-meanwhile.test.ts",
    title: "what an order left in an enterprise that its customer had before is touched in none (overlap)",
  },
  "a moved order is bought although its policy is to tell of it": {
    file: "src/plan/moved-orders.ts",
    within: "planArrival",
    find: 'said !== "act"',
    replace: "performance.now() < 0",
    test: "scenarios/life/moved-order.test.ts",
    title: "a moved order stays where it is and is bought nowhere where the policy is ignore",
  },
  "a number that names an asset elsewhere is bought beside it": {
    file: "src/plan/moved-orders.ts",
    within: "planArrival",
    find: "taken !== undefined",
    replace: "performance.now() < 0",
    test: "scenarios/life/moved-order.test.ts",
    title: "an asset number that the CRM gives to the order and that it has where it was is bought nowhere beside it",
  },
  "an order in doubt elsewhere is bought": {
    file: "src/ledger/journal/uniqueness.ts",
    within: "UniquenessChecks.#requireSettledElsewhere",
    find: "if (open === undefined) return;",
    replace: 'if (open === undefined || open.operation !== "") return;',
    test: "scenarios/life/moved-order.test.ts",
    title: "an order of which an amendment is in doubt where it was is not bought elsewhere before that is known",
  },
  "nobody notes which customer an order left": {
    file: "src/ledger/records/record-tables.ts",
    within: "RecordTables.ingest",
    find: "this.#statements.leaveCustomer.run($namespace, $id, $existing.customer_namespace, $existing.customer_id, $now);",
    replace: "",
    test: "scenarios/life/moved-order.test.ts",
    title: "an order that moves back before anything went is bought nowhere again, and goes where it was for a while",
  },
  "what stands at the other customer counts as what stands here": {
    file: "src/operation/order-standing.ts",
    within: "standingOf",
    find: "if (!isSameKey($step.customer, $customer)) continue;",
    replace: "",
    test: "scenarios/life/moved-order.test.ts",
    title: "an order that moves there and back is bought anew each time, under a number of its own",
  },
  "people are given what is about to leave their customer": {
    file: "src/plan/stages.ts",
    within: "ordersStage",
    find: "removals.endingNumbers.union(new Set(orders.leaving))",
    replace: "removals.endingNumbers",
    test: "scenarios/life/moved-order.test.ts",
    title: "nobody is given what is about to leave their customer with its order",
  },
  "what a moved order left is forgotten while its record waits in quarantine": {
    file: "src/plan/moved-orders.ts",
    within: "depart",
    find: "return tell(unreadable(key));",
    replace: "return;",
    test: "scenarios/life/moved-order.test.ts",
    title: "what a moved order left goes also where its record waited in quarantine in the meantime",
  },
  "an order that another customer's enterprise shows is new": {
    file: "src/apply/adopt-orders.ts",
    within: "OrderAdoption.#notShownHere",
    find: "if ($home !== undefined) {",
    replace: "if (home !== undefined && performance.now() < 0) {",
    test: "scenarios/life/rebuild-moved.test.ts",
    title:
      "an order that moved in the CRM while the ledger was lost > " +
      "order 1 stands at C1 after a rebuild, and is bought at C2 as one that moved",
  },
  "an order that stands otherwise than the CRM has it moves as the CRM has it": {
    file: "src/apply/adopt-orders.ts",
    within: "OrderAdoption.#notShownHere",
    find: "&& $otherwise.length === 0",
    replace: "",
    test: "scenarios/life/rebuild-moved.test.ts",
    title:
      "an order that moved in the CRM while the ledger was lost > " +
      "and was changed or cancelled too: changed it waits, cancelled it goes where it stands",
  },
  "customers are looked at one by one, as they are built anew": {
    file: "src/run/rebuild.ts",
    within: "lookAtOne",
    find: "const { $unread, $hasOthers } = await lookAtCustomer($deps, $customer, $signal);",
    replace: "const { unread, hasOthers } = { unread: undefined as string | undefined, hasOthers: false };",
    test: "scenarios/life/rebuild-moved.test.ts",
    title:
      "an order that moved in the CRM while the ledger was lost > " +
      "order 2 stands at C2 after a rebuild, and is bought at C1 as one that moved",
  },
  "an order that may stand for a customer who could not be looked at is new": {
    file: "src/apply/adopt-orders.ts",
    within: "OrderAdoption.#notShownHere",
    find: ": maybeMoved($order, $unread)",
    replace: ": undefined",
    test: "scenarios/life/rebuild-moved.test.ts",
    title:
      "an order is not placed while it may stand for a customer that a rebuild could not look at > " +
      "whatever is approved; what comes into the CRM later is bought",
  },
  "who could not be looked at is not looked at later either": {
    file: "src/apply/adopt-orders.ts",
    within: "OrderAdoption.seek",
    find: "const $isUnclear = $loaded.unread === true ||",
    replace: "const isUnclear =",
    test: "scenarios/life/rebuild-moved.test.ts",
    title:
      "an order is not placed while it may stand for a customer that a rebuild could not look at > " +
      "once a run could read that customer, it is known where the order stands, and a rebuild takes it over",
  },
  "of an order that stands twice the rebuilt ledger knows one half": {
    file: "src/apply/adopt-orders.ts",
    within: "OrderAdoption.#adopt",
    find: "for (const $place of $left)",
    replace: "for (const place of left.slice(left.length))",
    test: "scenarios/life/rebuild-moved.test.ts",
    title:
      "a ledger that is lost while a moved order stands twice > " +
      "is built again with both, and what is left where it was goes by its policy",
  },
  "what is left of a moved order in another form counts as known": {
    file: "src/apply/rebuild-customer.ts",
    within: "leftOfOrder",
    never: "otherwise",
    test: "scenarios/life/rebuild-moved.test.ts",
    title:
      "a ledger that is lost while a moved order stands twice > " +
      "what is shown there in another form stays, and is told of in every run",
  },
};
