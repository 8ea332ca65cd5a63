import type { Breaks } from "../break.ts";

const lost = "a lock that was lent without an answer";

const crmLock = "a lock that the CRM wants switched";
const goneLock =
  "a lock whose switching was refused (status 2) is told of until it is deleted, and every other one as ever";
const toAndFro = "scenarios/life/to-and-fro.test.ts";
const waitsInTheEnd =
  "a lock that the CRM switches to and fro waits for a person in the end, and what a person asks for does not";
const waits = "waits for a person until ten were approved, while what a person asks for and what gives back goes on";

/** Locks that the CRM has switched, and locks that are lent. */
export const lifeLocks: Breaks = {
  "what was done of a lock that is gone is done of the next one": {
    file: "src/operation/requests.ts",
    within: "outlivesAsset",
    find: "|| isDue(request)",
    replace: '|| standing(request) !== "refused"',
    test: "scenarios/life/gone-locks.test.ts",
    title: "a lock that the CRM wants disabled is so again where the run that bought it is taken back and done again",
  },
  "the newer order's wish counts, though its lock is gone": {
    file: "src/ledger/state/requests.ts",
    within: "prepareStatements",
    find: "(later.gone_at is null, later.from_at) > (asked.gone_at is null, asked.from_at)",
    replace: "later.from_at > asked.from_at",
    test: "ledger/requests.test.ts",
    title:
      "of two wishes of the CRM for one number that of a lock that is gone is the older one, whichever order is newer",
  },
  "a lock that was deleted and is bought anew counts as disabled": {
    file: "src/plan/crm-locks.ts",
    within: "isNew",
    find: 'last?.gone === true && wanted === "locked" ? false :',
    replace: "",
    test: "scenarios/life/gone-locks.test.ts",
    title: "a lock that the CRM had disabled and that comes back under its number, locked still, is switched again",
  },
  "what was refused of a lock outlives its asset": {
    file: "src/ledger/state/order-steps.ts",
    within: "OrderStepRows.writes",
    skips: "endGone",
    test: "scenarios/life/gone-locks.test.ts",
    title: goneLock,
  },
  "what was refused of a lock that is gone is told of by the run that deleted it": {
    file: "src/ledger/state/requests.ts",
    within: "RequestRows.endGone",
    find: "this.#statements.look.run(asked.customer.namespace, asked.customer.id);",
    replace: "",
    test: "scenarios/life/gone-locks.test.ts",
    title: "a run that deletes the only lock whose switching was refused has nothing more to tell",
  },
  "what the CRM asked for of a lock that is gone is of the next one in memory": {
    file: "src/operation/state/order-steps.ts",
    within: "ended",
    find: "goneWishes(known.crmAsked, numbers)",
    replace: "known.crmAsked",
    test: "ledger/requests.test.ts",
    title:
      "of locks that are gone, what was done or refused ends and what the CRM asked for is of none that is bought, in memory as in the rows",
  },
  "what was refused of a lock that is gone stays in memory": {
    file: "src/operation/state/order-steps.ts",
    within: "ended",
    find: "withoutGone(known.requests, numbers)",
    replace: "known.requests",
    test: "ledger/requests.test.ts",
    title:
      "of locks that are gone, what was done or refused ends and what the CRM asked for is of none that is bought, in memory as in the rows",
  },
  "what failed of a lock ends with its asset": {
    file: "src/operation/requests.ts",
    within: "outlivesAsset",
    find: "|| isDue(request)",
    replace: '|| standing(request) === "done"',
    test: "scenarios/life/gone-locks.test.ts",
    title: "a lock that a person wants switched, that failed and that comes back under its number, is switched",
  },
  "an asset that M6 does not show counts as not lent": {
    file: "src/operation/borrow-assets.ts",
    within: "readLoan",
    find: "$into.length === 0 && $unseen.length === 0",
    replace: "$into.length === 0",
    test: "run/loans.test.ts",
    title: `${lost} > waits for a person where M6 does not show an asset, which proves nothing`,
  },
  "M8 alone proves a loan": {
    file: "src/operation/borrow-assets.ts",
    within: "readLoan",
    find: "$ours && $into.length === $assets.length",
    replace: "$ours",
    test: "run/loans.test.ts",
    title: `${lost} > waits for a person where M8 shows it and M6 does not`,
  },
  "a lock that somebody else has counts as lent to this member": {
    file: "src/operation/borrow-assets.ts",
    within: "readLoan",
    find: "&& $shown.borrower === $memberGlobalId",
    replace: "",
    test: "run/loans.test.ts",
    title: `${lost} > waits for a person where the lock is with another member and the asset is lent`,
  },
  "what a person gave back is locked again by every change of its order": {
    file: "src/plan/crm-locks.ts",
    within: "isNew",
    find: "if (isAsked) return false;",
    replace: 'if (isAsked && wanted === "unlocked") return false;',
    test: "scenarios/life/crm-locks.test.ts",
    title: `${crmLock} > stays as a person asked since, until the flag changes again`,
  },
  "the CRM locks what it wants while a source is shrunken": {
    file: "src/plan/crm-locks.ts",
    within: "wishedOf",
    find: '$wanted === "locked" && takingBlocked !== undefined',
    replace: '$wanted === "locked" && takingBlocked === null',
    test: "scenarios/life/crm-locks.test.ts",
    title: `${crmLock} > is not disabled while a source of the customer is shrunken, and is enabled all the same`,
  },
  "what the CRM asked for goes with a person's word": {
    file: "src/plan/requested.ts",
    within: "planRequested",
    find: "options.byHand === true && isOfCrm($request)",
    replace: "options.byHand === undefined && isOfCrm($request) && false",
    test: "scenarios/life/crm-locks.test.ts",
    title: `${crmLock} > ${waits}`,
  },
  "no policy rules what the CRM wants locked": {
    file: "src/plan/locks.ts",
    within: "change",
    find: "$locks[0].by === theCrm ?",
    replace: '$locks[0].by === "" ?',
    test: "scenarios/life/crm-locks.test.ts",
    title: `${crmLock} > ${waits}`,
  },
  "a lock is lent to two people at once": {
    file: "src/plan/crm-loans.ts",
    within: "wishedLoans",
    find: "else if ($asked.has($borrow.lock))",
    replace: 'else if ($asked.has("") && $borrow.lock === "")',
    test: "scenarios/life/borrowed.test.ts",
    title:
      "a lock that the CRM wants lent > waits where the platform does not show that it can be lent, and is lent once " +
      "it does",
  },
  "a lock that is lent is lent once more": {
    file: "src/plan/lendable.ts",
    within: "loanOf",
    find: "if ($row.lent)",
    replace: 'if ($row.lent && $row.assetId === "")',
    test: "cli/borrow.test.ts",
    title:
      "a lock that a person has lent > is refused where the platform does not show that it can be, and nothing is " +
      "asked for or sent",
  },
  "a number that the CRM says is switched, whosever it is": {
    file: "src/plan/crm-locks.ts",
    within: "numbersOf",
    find: "return { numbers: $numbers.filter(($number) => $stand.has($number)) };",
    replace: "return { numbers: [...asset.assetNumbers] };",
    test: "scenarios/life/crm-locks.test.ts",
    title: `${crmLock} > is left alone where its number is another customer's, or of an asset that is not bought`,
  },
  "the order whose lock turns to and fro is not named": {
    file: "src/plan/locks.ts",
    within: "askedBy",
    find: "by === theCrm ? [$about] : []",
    replace: 'by === "" ? [$about] : []',
    test: toAndFro,
    title: waitsInTheEnd,
  },
  "what a person asks for waits for who turned their customer to and fro": {
    file: "src/plan/gated.ts",
    within: "Gated.#flipsOf",
    find:
      'if (this.#flips.size === 0 || ($stage === "requests" && $policy === undefined)) return undefined; ' +
      'for (const $record of $records) { if ($stage === "requests" && $record.stream === "customers") continue;',
    replace: "for (const $record of $records) {",
    test: toAndFro,
    title: waitsInTheEnd,
  },
  "a lock is looked for at the first places of its asset alone": {
    file: "src/ledger/state/known.ts",
    within: "KnownTables.#standings",
    find: "if (!$isAgreed || asksForSwitch($body)) load($name);",
    replace: "if (!$isAgreed) load($name);",
    test: "scenarios/life/crm-locks.test.ts",
    title: "a lock of a unit whose purchase was refused is left alone, and those that stand are switched",
  },
  "a lock that was given back counts as lent for good": {
    file: "src/plan/crm-loans.ts",
    within: "wishedOf",
    find: "$row.lock === $borrow.lock && !$row.lent",
    replace: "$row.lock === $borrow.lock && $row.lock === ''",
    test: "scenarios/life/borrowed.test.ts",
    title: "a lock that was given back and that the CRM wants lent once more is told of, and lent by a person's word",
  },
};
