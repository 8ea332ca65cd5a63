import type { Breaks } from "../break.ts";

/** What people do by hand: links, and what they took note of. */
export const lifeByHand: Breaks = {
  "a service that is down ends a command as anything else does": {
    file: "src/http/call-outcome.ts",
    within: "ReadFailure.constructor",
    find: "exitCodes.sourceDown",
    replace: "exitCodes.other",
    test: "scenarios/life/done-by-hand.test.ts",
    title: "while a service is down a person's note and a new password end with 7, and nothing counts",
  },
  "a customer that a person unlinked is looked for again": {
    file: "src/plan/needs.ts",
    within: "needsOf",
    find: "&& input.known.unlinked === undefined",
    replace: "",
    test: "scenarios/life/link.test.ts",
    title:
      "an unlinked customer is neither looked for nor made again, its orders stay known, and a link brings it back",
  },
  "a customer that a person unlinked is linked again by what E3 shows": {
    file: "src/plan/enterprise.ts",
    within: "planUnlinked",
    never: "unlinked",
    test: "plan/enterprise.test.ts",
    title: "a customer that a person unlinked > is neither made nor adopted, whatever E3 shows",
  },
  "an enterprise is linked with two customers by hand": {
    file: "src/ledger/state/links-desk.ts",
    within: "LinksDesk.#requireLinkable",
    never: "isSameKey",
    test: "scenarios/life/link.test.ts",
    title:
      "a link that somebody else has, one of a customer that nobody gave, and one while an outcome is open are refused",
  },
  "a customer is unlinked while the outcome of its call is open": {
    file: "src/ledger/state/links-desk.ts",
    within: "LinksDesk.unlink",
    skips: "#requireNothingOpen",
    test: "scenarios/life/link.test.ts",
    title:
      "a link that somebody else has, one of a customer that nobody gave, and one while an outcome is open are refused",
  },
  "a customer that is gone gets new orders": {
    file: "src/plan/orders.ts",
    within: "purchaseOf",
    never: "isGone",
    test: "scenarios/life/gone-customer-listed.test.ts",
    title:
      "a customer that is gone keeps its enterprise and is listed; its order stands, and the seat of its leaver is taken",
  },
  "an account is made for a customer that is gone": {
    file: "src/plan/staff.ts",
    within: "planStaff",
    never: "isGone",
    test: "plan/enterprise.test.ts",
    title:
      "a customer whose record is not to be worked on > " +
      "that is gone gets no new order and no new account; what is taken from its people who are gone too is taken",
  },
  "what a person says is done counts without being read back": {
    file: "src/app/resolve.ts",
    within: "resolveByHand",
    always: "counted",
    test: "scenarios/life/done-by-hand.test.ts",
    title: "a person's new name that somebody set on the platform counts once M5 shows it, and not before",
  },
  "what M5 shows otherwise is taken for what the CRM says": {
    file: "src/plan/staff-read-back.ts",
    within: "readProfile",
    never: "otherwise",
    test: "scenarios/life/done-by-hand.test.ts",
    title: "a person's new name that somebody set on the platform counts once M5 shows it, and not before",
  },
  "an asset counts as given back that M6 shows as held": {
    file: "src/plan/staff-read-back.ts",
    within: "readSeats",
    find: "if ($held.has($number)) $read.otherwise",
    replace: "if (held.has(number)) read.seen",
    test: "scenarios/life/done-by-hand.test.ts",
    title:
      "an asset that somebody took from a person counts as given back once M6 shows it so; " +
      "the neighbour keeps its own",
  },
  "a note of a form that the record no longer has is still shown": {
    file: "src/inquiry/by-hand.ts",
    within: "notedByHand",
    find: '.onRef("record.body_hash", "=", "by_hand.body_hash")',
    replace: "",
    test: "scenarios/life/done-by-hand.test.ts",
    title: "a person's new name that somebody set on the platform counts once M5 shows it, and not before",
  },
  "a platform that only reads places orders": {
    file: "src/platform/reading-platform.ts",
    within: "readingOrders",
    find: "placeOrders: refuse",
    replace: "placeOrders: async (...asked) => await service.placeOrders(...asked)",
    test: "platform/reading-platform.test.ts",
    title: "a platform that only reads has every call, and refuses each one that writes before anything is sent",
  },
  "a ledger that was worked with is built anew": {
    file: "src/run/rebuild.ts",
    within: "rebuild",
    skips: "requireUnused",
    test: "scenarios/life/rebuild.test.ts",
    title: "a lost ledger is built again from the platform and the sources, and the next run finds nothing to do",
  },
  "a rebuilt customer is not taken to be as the CRM has it": {
    file: "src/apply/rebuild-customer.ts",
    within: "acknowledge",
    skips: "record",
    test: "scenarios/life/rebuild.test.ts",
    title: "a lost ledger is built again from the platform and the sources, and the next run finds nothing to do",
  },
  "who holds what is not brought back before seats are given out": {
    file: "src/apply/rebuild-customer.ts",
    within: "adoptPeople",
    skips: "readSeats",
    test: "scenarios/life/rebuild.test.ts",
    title: "a lost ledger is built again from the platform and the sources, and the next run finds nothing to do",
  },
  "an order line counts in whatever form M7 shows it": {
    file: "src/plan/order-read-back.ts",
    within: "readShown",
    find: "$rows.filter(($item) => isForm($item, $product))",
    replace: "rows",
    test: "scenarios/life/order-by-hand.test.ts",
    title: "an order line that somebody changed on the platform counts once M7 shows it so",
  },
  "an order line that M7 still shows counts as gone": {
    file: "src/plan/order-read-back.ts",
    within: "readEnded",
    find: "$rows.length > 0",
    replace: "rows.length < 0",
    test: "scenarios/life/order-by-hand.test.ts",
    title: "a line that somebody took away on the platform counts once M7 no longer shows it; its neighbour does not",
  },
  "what M6 does not list any more counts as seen to be gone": {
    file: "src/plan/shown-contents.ts",
    within: "ShownContents.speaksOf",
    find: "this.#listed.has($number) &&",
    replace: "",
    test: "scenarios/life/order-by-hand.test.ts",
    title:
      "what M6 does not list any more proves nothing: " +
      "a cancelled order counts by a person's word, and is marked so",
  },
  "a number that an amendment had before the ledger was lost is given to the next one": {
    file: "src/ledger/state/order-steps.ts",
    within: "numberStatements",
    find: "where namespace = +@namespace and order_id = +@id and origin = 'adopted'",
    replace: "where namespace = +@namespace and order_id = +@id and origin = 'nobody'",
    test: "scenarios/life/rebuild.test.ts",
    title: "an amended order comes back with its amendments, and the next one gets a number that none had",
  },
  "an order with amendments that this ledger did not make is taken over without them": {
    file: "src/apply/adopt-orders.ts",
    within: "OrderAdoption.#whyNotAdopted",
    never: "amendments",
    test: "scenarios/life/rebuild.test.ts",
    title: "an amended order comes back with its amendments, and the next one gets a number that none had",
  },
  "an order that is shown in another form than the CRM's counts as placed so": {
    file: "src/apply/adopt-orders.ts",
    within: "OrderAdoption.#whyNotAdopted",
    find: "$otherwise.length > 0 ? shownInOtherForm(",
    replace: "$otherwise.length > 99 ? shownInOtherForm(",
    test: "scenarios/life/rebuild-changes.test.ts",
    title:
      "what the CRM changed and nobody sent before the ledger was lost is not taken for sent > " +
      "other nodes: the order waits, its neighbour is taken over",
  },
  "an order that was cancelled before it was taken over agrees with the CRM": {
    file: "src/apply/adopt-orders.ts",
    within: "OrderAdoption.#adopt",
    never: "isWanted",
    test: "scenarios/life/rebuild-changes.test.ts",
    title:
      "what the CRM changed and nobody sent before the ledger was lost is not taken for sent > " +
      "an order that was cancelled, without a rebuild: it does not count as agreed either",
  },
  "a person counts as M5 does not show them when the ledger is built anew": {
    file: "src/plan/staff-profile.ts",
    within: "shownProfile",
    find: "...profileOf($body), ...unsent",
    replace: "...profileOf($body)",
    test: "scenarios/life/rebuild-changes.test.ts",
    title:
      "what the CRM changed and nobody sent before the ledger was lost is not taken for sent > " +
      "a person's name: it is sent by the next run, and the neighbour's is not",
  },
  "a cancelled order of which nothing is shown is placed under its first number again": {
    file: "src/apply/adopt-orders.ts",
    within: "OrderAdoption.#notShownHere",
    find: "!isWanted($order) && $block === undefined",
    replace: "performance.now() < 0",
    test: "scenarios/life/rebuild-changes.test.ts",
    title:
      "after a rebuild no channel order number is used that an earlier ledger used > " +
      "for a cancelled order of which nothing is shown, when it is restored",
  },
  "orders are placed before those are looked for whom the ledger knows no enterprise of": {
    file: "src/run/sync-run.ts",
    within: "SyncRun.applyAll",
    find: "if (asked === undefined) await lookFirst(this.#deps, this.#looking);",
    replace: "",
    test: "scenarios/life/lost-without-rebuild.test.ts",
    title:
      "a run into an empty ledger, where the one before is lost and an order moved meanwhile > " +
      "does not place order 2 at C1, though its earlier customer has no order any more",
  },
  "only the first customers without an enterprise are looked for": {
    file: "src/run/look-first.ts",
    within: "lookFirst",
    find: "look.found && after !== undefined && !isStopped(looking)",
    replace: "false",
    test: "scenarios/life/lost-without-rebuild.test.ts",
    title:
      "a run into an empty ledger, where the one before is lost and an order moved meanwhile > " +
      "also where it stands for the last one of more customers than are looked at in every run",
  },
  "who could not be looked for keeps no order back": {
    file: "src/run/look-first.ts",
    within: "lookFirst",
    find: "if (look.found && look.unread.length > 0) await keepUnread(deps.ledger, look.unread);",
    replace: "",
    test: "scenarios/life/lost-without-rebuild.test.ts",
    title:
      "a run into an empty ledger, where the one before is lost and an order moved meanwhile > " +
      "nor while E3 does not show its earlier customer",
  },
  "an enterprise that is found and not read counts for nobody": {
    file: "src/run/look-first.ts",
    within: "lookAtEach",
    find: "if ((await ledger.state.load(customer)).known.link !== undefined) look.found = true;",
    replace: "",
    test: "scenarios/life/lost-without-rebuild.test.ts",
    title:
      "a run into an empty ledger, where the one before is lost and an order moved meanwhile > " +
      "nor where nobody else has an enterprise, and its earlier customer's could not be looked at",
  },
  "a run that looks ahead takes back what a rebuild said of those whom it could not look at": {
    file: "src/run/look-first.ts",
    within: "keepUnread",
    find: "unread.filter(({ customer }) => !known.has(formatKey(customer)))",
    replace: "unread",
    test: "scenarios/life/lost-without-rebuild.test.ts",
    title: "what a rebuild could not look at counts for later orders, whatever a run finds meanwhile",
  },
  "what an asset showed before it showed nothing is forgotten": {
    file: "src/apply/examination.ts",
    within: "examine",
    find: "isClear ? before.filter((subject) => !shown.has(subject)) : []",
    replace: "before.filter((subject) => !shown.has(subject))",
    test: "scenarios/life/rebuild-changes.test.ts",
    title: "without a rebuild, an order that was shown in part is not placed where its asset shows nothing any more",
  },
  "what a rebuild that was cut off had fixed is not among what the next one brings back": {
    file: "src/apply/rebuild-customer.ts",
    within: "rebuiltOrder",
    find: "$amendments, $numbers });",
    replace: "$amendments, numbers: fixed });",
    test: "scenarios/life/rebuild-cut.test.ts",
    title: "a rebuild that ended at insert into placed_order and is made again brings all of it back",
  },
  "what a rebuild left to be made is made without a person": {
    file: "src/plan/gated.ts",
    within: "makes",
    find: "making.has($endpoint) &&",
    replace: "!making.has($endpoint) &&",
    test: "scenarios/life/rebuild-changes.test.ts",
    title:
      "what people decided before the ledger was lost is not undone by what comes after a rebuild > " +
      "a customer that a person unlinked: it is named that nobody knows, and what is left to be made is held",
  },
  "flags of assets are asked for anew after a rebuild": {
    file: "src/apply/rebuild-customer.ts",
    within: "assumeWishes",
    skips: "record",
    test: "scenarios/life/rebuild-changes.test.ts",
    title:
      "what people decided before the ledger was lost is not undone by what comes after a rebuild > " +
      "a lock that a person enabled against the CRM's flag: it stays enabled, and the flag rules once it changes",
  },
  "a customer that E1 bound before the ledger was lost gets an E4": {
    file: "src/plan/enterprise.ts",
    within: "adoption",
    find: `isBound ? "bound" : "adopted"`,
    replace: `"adopted"`,
    test: "scenarios/life/rebuild-changes.test.ts",
    title: "a customer that E1 bound gets no E4 after a rebuild in an empty ledger either; its neighbour does",
  },
  "an extension that M7 does not show counts as made": {
    file: "src/plan/order-read-back.ts",
    within: "termsShown",
    find: "if ($shown.wire !== $wanted.wire)",
    replace: "if ($shown.wire !== $wanted.wire && told.length > 2)",
    test: "scenarios/life/order-by-hand.test.ts",
    title: "an extension that nobody made does not count as done by hand, where M7 shows the old end",
  },
  "an asset that M6 leaves out counts as given back": {
    file: "src/plan/staff-read-back.ts",
    within: "readSeats",
    find: "else if (!$holders.has($number))",
    replace: "else if ($holders.size > 100)",
    test: "scenarios/life/done-by-hand.test.ts",
    title: "an asset that M6 leaves out does not count as given back, whatever a person says",
  },
  "an enterprise of another customer is linked by a person's word": {
    file: "src/app/resolve.ts",
    within: "resolveByHand",
    find: "if ($taken !== undefined) throw $taken;",
    replace: "",
    test: "scenarios/life/done-by-hand.test.ts",
    title: "an enterprise that is another customer's is not linked by what a person did, and both are told of",
  },
  "an asset that stands counts for one more that somebody was to add": {
    file: "src/plan/order-read-back.ts",
    within: "readShown",
    find: "number === undefined ? $shown.filter(($row) => !$taken.has($row.number)).slice($hidden) : $shown",
    replace: "shown",
    test: "scenarios/life/order-by-hand.test.ts",
    title:
      "more of an asset counts as done by hand once M7 shows as many of it as the CRM has, each under a number of its own",
  },
  "what is to be made of a customer that a rebuild could not read is made without a person": {
    file: "src/run/rebuild.ts",
    within: "rebuildOne",
    find: "why: messageOf($error) }); await ledger.state.record($customer, [leftToBeMade($customer, $run, null)]);",
    replace: "why: messageOf(error) });",
    test: "scenarios/life/rebuild-changes.test.ts",
    title:
      "what people decided before the ledger was lost is not undone by what comes after a rebuild > " +
      "what is to be made of a customer that a rebuild could not read is held too",
  },
  "what a rebuild could not read is asked about for good": {
    file: "src/run/rebuild.ts",
    within: "tell",
    skips: "nothingLeftByRebuild",
    test: "scenarios/life/rebuild-changes.test.ts",
    title:
      "what people decided before the ledger was lost is not undone by what comes after a rebuild > " +
      "a rebuild that finds nothing to be made leaves nothing to ask about, although one before it could not read",
  },
  "an order that a source gave only after a rebuild counts as new": {
    file: "src/run/rebuild.ts",
    within: "rebuild",
    find: 'tally.stream === "orders" && isCutOff(tally)',
    replace: "performance.now() < 0",
    test: "scenarios/life/rebuild-moved.test.ts",
    title:
      "an order is not placed while it may stand for a customer that a rebuild could not look at > " +
      "also where the source of orders was down then, and gives it later",
  },
  "what an enterprise showed that the customer had before counts as shown by its own": {
    file: "src/apply/adopt-orders.ts",
    within: "OrderAdoption.#compare",
    find: "$isRead ? await this.#shown($loaded, number) : undefined",
    replace: "await this.#shown(loaded, number)",
    test: "scenarios/life/rebuild-left.test.ts",
    title: "an order counts as placed by what the customer's own enterprise shows, not by one that it had before",
  },
  "what a moved order left counts as gone where M7 does not name it": {
    file: "src/apply/rebuild-amendments.ts",
    within: "leftSteps",
    find: "$products === 0 || $products !== all",
    replace: "products !== all",
    test: "scenarios/life/rebuild-left.test.ts",
    title: "what a moved order left is not taken for gone where M7 does not name its products",
  },
  "what a moved order left is looked for under its number of now alone": {
    file: "src/apply/adopt-orders.ts",
    within: "OrderAdoption.#gone",
    find: "[channelNumberOf(this.#deps, order), $placed].some(",
    replace: "[channelNumberOf(this.#deps, order)].some(",
    test: "scenarios/life/rebuild-left.test.ts",
    title: "what a moved order left is not taken for gone where its number would be another one by now",
  },
  "an order that moved back is bought where nobody knows what it left": {
    file: "src/ledger/state/known.ts",
    within: "KnownTables.#unclear",
    find: "if ($lost !== undefined) standings.set(",
    replace: "if (performance.now() < 0) standings.set(",
    test: "scenarios/life/rebuild-left.test.ts",
    title: "an order that moves back to where nobody knows what it left is not bought there a second time",
  },
  "a row of customers without an id is forgotten when the ledger is built anew": {
    file: "src/run/rebuild.ts",
    within: "forgetUnread",
    find: '(await ledger.state.unnamedInQuarantine()).includes("customers")',
    replace: "performance.now() < 0",
    test: "scenarios/life/rebuild-left.test.ts",
    title: "no order is placed again where a row of customers without an id may be that of whom it stands for",
  },
  "an order whose row had no id when the ledger was built anew counts as new": {
    file: "src/run/rebuild.ts",
    within: "rebuild",
    find: '$unnamed.includes("orders") || ',
    replace: "performance.now() < 0 || ",
    test: "scenarios/life/rebuild-left.test.ts",
    title: "no order is placed again whose row had no id when somebody could not be looked at",
  },
  "a note is kept of a record of which nothing waits": {
    file: "src/app/resolve.ts",
    within: "requireOpen",
    find: "if (!$isDone || ",
    replace: "if ($isDone || ",
    test: "scenarios/life/done-by-hand.test.ts",
    title: "nothing is noted of what nobody knows, of what stands as it should, of what is open, and without a reason",
  },
};
