import type { Breaks } from "../break.ts";

/** Closed books: which moment they stand on, what they may hold, and that nobody changes them unseen. */
export const closing: Breaks = {
  "what was written after a closing with an earlier time stands in nobody's way": {
    file: "src/inquiry/books.ts",
    within: "clockBlockers",
    find: '.onRef("a.at", "<", "c.to_at")',
    replace: '.onRef("a.at", "=", "c.to_at")',
    test: "app/clock-back.test.ts",
    title:
      "what comes after a closing while the clock is set back is named by its place in the record, and stands in the way",
  },
  "an exception stays accepted whatever it is by now": {
    file: "src/inquiry/statement/exceptions.ts",
    within: "lastSignOff",
    find: '"select by, at, reason from sign_off where period = @period and blocker = @blocker and facts = @facts"',
    replace: "\"select by, at, reason from sign_off where period = @period and blocker = @blocker and @facts <> ''\"",
    test: "app/signed-exceptions.test.ts",
    title:
      "an exception that stood open at the end of a period > is to be accepted anew once it is for another reason, or " +
      "other money is at stake",
  },
  "an exception is accepted for a month at whose end it was over": {
    file: "src/inquiry/statement/exceptions.ts",
    within: "acceptable",
    find: "$one.open ? acceptedAs($one) : undefined",
    replace: "acceptedAs($one)",
    test: "app/signed-exceptions.test.ts",
    title:
      "an exception that stood open at the end of a period > is accepted for that month alone, also where it ended " +
      "since, and the next month needs its own",
  },
  "a month of which nothing was observed is closed": {
    file: "src/ledger/books/books.ts",
    within: "Books.#requireInOrder",
    skips: "requireObserved",
    test: "ledger/books.test.ts",
    title:
      "closed books > are none of a time that was over before the ledger began, and begin with the month that it " +
      "began in",
  },
  "closed books repeat words of the platform": {
    file: "src/report/statement/closed-words.ts",
    within: "closedDetail",
    find: "if (isClosed.test($detail)) return $detail;",
    replace: "return $detail;",
    test: "app/closed-words.test.ts",
    title: "closed books hold no name, mobile or e-mail in any format, whatever the CRM and the services say",
  },
  "the tables of closed books are not held against their entries": {
    file: "src/inquiry/audit.ts",
    within: "auditVerdicts",
    find: "$verdicts.integrity.good ? closedBooksFinding($ledger) : undefined",
    replace: "undefined",
    test: "app/closing.test.ts",
    title: "audit verify > finds any row of closed books that is not as its audit entry says",
  },
  "a month after a change of the zone begins where its label says": {
    file: "src/report/statement/period.ts",
    within: "joinedTo",
    find: "return { ...period, from: before.to, joined: true };",
    replace: "return period;",
    test: "app/closing.test.ts",
    title: "a month that is closed in another zone than the one before > begins where that one ended: America/New_York",
  },
  "a reason may repeat personal data": {
    file: "src/ledger/context.ts",
    within: "LedgerContext.constructor",
    find: "(entry) => reasons.require(entry)",
    replace: "() => undefined",
    test: "ledger/reasons.test.ts",
    title: "a reason that repeats personal data of the customer it is about is refused, and nothing is decided",
  },
  "a reason may repeat what a row in quarantine says": {
    file: "src/ledger/private/reasons.ts",
    within: "quarantinedIn",
    find: '"quarantined:"',
    replace: '"in-quarantine:"',
    test: "ledger/reasons.test.ts",
    title:
      "a reason about a row in quarantine that was never usable > is refused where it repeats values of that row, or of " +
      "any such row where it is about nobody",
  },
  "what is signed off just before a closing counts for it and does not stand in it": {
    file: "src/app/cut-off.ts",
    within: "cutOffOf",
    find: "if ((await newestAfter($inquiry, $asOf)) === undefined) return",
    replace: "return",
    test: "app/closing-guards.test.ts",
    title: "closed books > say what was signed off in the last moment before them: the cut-off is after it",
  },
  "who signs off what stands signed off is told that they did": {
    file: "src/ledger/books/books.ts",
    within: "Books.signOff",
    find: "if ($before !== undefined) return { id: $blocker, ...$before, already: true };",
    replace: "if ($before !== undefined) return { id: $blocker, at, by, already: false };",
    test: "ledger/sign-offs.test.ts",
    title: "who signs off what stands signed off already is told by whom and when, and nothing is written",
  },
  "a month is closed while one before it is open again": {
    file: "src/ledger/books/books.ts",
    within: "Books.#requireInOrder",
    find: "this.#statements().openedBefore.get({ from })",
    replace: "undefined",
    test: "ledger/books.test.ts",
    title: "closed books > go on where they began: no month is closed while one before it is open again",
  },
  "the reason of an erasure may name others": {
    file: "src/ledger/private/reasons.ts",
    within: "decided",
    find: '"erased",',
    replace: '"was-erased",',
    test: "audit/erase.test.ts",
    title: "nothing is erased that the CRM still gives, or while anything waits, and the message says what to do",
  },
};
