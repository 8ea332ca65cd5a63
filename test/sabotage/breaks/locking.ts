import type { Breaks } from "../break.ts";

/** Locks that people have disabled and enabled. */
export const locking: Breaks = {
  "an answer about other locks is taken for one about those that were sent": {
    file: "src/operation/switch-locks.ts",
    within: "switchLocks",
    never: "same",
    test: "run/locks.test.ts",
    title:
      "locks of two customers > an answer about other locks than were sent says nothing: the same locks are sent again",
  },
  "a lock of another customer is disabled": {
    file: "src/app/locks.ts",
    within: "requestsFor",
    find: "$types.get($assetNumber);",
    replace: `$types.get($assetNumber) ?? "normal_recover_usbkey";`,
    test: "run/locks.test.ts",
    title:
      "locks of two customers > a number of the other customer refuses all of them, and nothing is asked for or sent",
  },
  "a lock that the platform refused for good is sent again by every run": {
    file: "src/operation/requests.ts",
    within: "isDue",
    find: '|| $stands === "failed"',
    replace: '|| $stands !== "done"',
    test: "plan/locks.test.ts",
    title:
      "what was answered is not sent again: done is over, 3 is tried once in an attempt, 2 and 4 wait for a person",
  },
  "a late answer to what was asked for before counts for what is asked for now": {
    file: "src/operation/state/requests.ts",
    within: "answered",
    find: "&& $request.wanted === $change.wanted",
    replace: "",
    test: "plan/locks.test.ts",
    title: "a late answer to what was asked for before says nothing of what is asked for now",
  },
  "a lock that was refused hides what its customer waits for": {
    file: "src/plan/records.ts",
    within: "recordsOf",
    find: "&& !$waits",
    replace: "",
    test: "plan/locks.test.ts",
    title: "what a customer waits for itself is not hidden by a lock that was refused",
  },
  "a lock that was refused ends the waiting of its customer's change": {
    file: "src/run/requested-attempt.ts",
    within: "attemptRequested",
    find: "desiredCustomer?.pending !== true",
    replace: "desiredCustomer !== undefined",
    test: "run/locks.test.ts",
    title: "locks of two customers > a lock that is refused keeps no change of its customer from being sent",
  },
  "a lock that was taken back while its run was at work is switched": {
    file: "src/ledger/journal/uniqueness.ts",
    within: "UniquenessChecks.requireAsked",
    find: "if ($gone === undefined) return;",
    replace: 'if ($gone?.of !== "") return;',
    test: "run/withdrawn-locks.test.ts",
    title: "a lock that a person takes back while a run is at work on its customer is not sent by that run",
  },
  "a lock whose call may have left is taken back": {
    file: "src/ledger/state/withdrawal.ts",
    within: "withdrawals",
    never: "inDoubt",
    test: "ledger/requests.test.ts",
    title:
      "what a person takes back > " +
      "is refused whole from its intent until its outcome is known, and where it is done, and changes nothing then",
  },
  "a lock that another customer asked for is asked for the other way before that is done": {
    file: "src/ledger/state/withdrawal.ts",
    within: "requireFree",
    always: "earlier",
    test: "run/withdrawn-locks.test.ts",
    title: "a lock that moved to another customer is switched for it once what the first one asked for is known",
  },
  "a request that was refused by its call is told of after it is done": {
    file: "src/ledger/state/requests-desk.ts",
    within: "RequestsDesk.ask",
    never: "waitsOtherwise",
    test: "run/locks.test.ts",
    title:
      "locks of two customers > a lock that was refused (status299), asked for again and done without an answer, " +
      "is told of no more by the run that finds it done",
  },
  "what is asked for of a customer that is gone is never sent": {
    file: "src/plan/enterprise.ts",
    within: "usableBody",
    find: "&& $known.link === undefined",
    replace: "",
    test: "plan/locks.test.ts",
    title: "what is asked for of a customer that is gone from the CRM is sent, and of one in quarantine it waits",
  },
  "a lock that moved is switched while the call of its former customer may still land": {
    file: "src/run/customer-attempt.ts",
    within: "earlierMayStillLand",
    find: ", ...elsewhere]",
    replace: "]",
    test: "run/withdrawn-locks.test.ts",
    title: "a lock that moved to another customer is switched for it once what the first one asked for is known",
  },
  "a refusal of what is no longer asked for is told of for ever": {
    file: "src/run/requested-attempt.ts",
    within: "endRequested",
    skips: "lookAgain",
    test: "run/withdrawn-locks.test.ts",
    title: "a lock that was refused while somebody asked for the opposite is told of no more once that is done",
  },
  "a lock that is done is taken back": {
    file: "src/ledger/state/withdrawal.ts",
    within: "withdrawals",
    find: '|| standing($request) === "done"',
    replace: "",
    test: "ledger/requests.test.ts",
    title:
      "what a person takes back > " +
      "is refused whole from its intent until its outcome is known, and where it is done, and changes nothing then",
  },
  "taking one refused lock back ends what is told of another": {
    file: "src/ledger/state/requests-desk.ts",
    within: "RequestsDesk.withdraw",
    always: "every",
    test: "cli/lock.test.ts",
    title:
      "locks that a person disables and enables > " +
      "are told of as long as one is refused: taking back another, or a lock that is done, ends no rejection",
  },
  "what became of a lock takes the place of the rejection of its customer's change": {
    file: "src/ledger/records/records.ts",
    within: "Records.setLesserOutcome",
    never: "waitsOtherwise",
    test: "ledger/records.test.ts",
    title:
      "what a customer waits for > " +
      "stays where what people asked for of it was refused meanwhile, and it is looked at again",
  },
  "a refused lock that was asked for again and is found done is told of for ever": {
    file: "src/run/requested-attempt.ts",
    within: "endRequested",
    skips: "endLesserOutcome",
    test: "run/locks.test.ts",
    title:
      "locks of two customers > a lock that was refused (oddField), asked for again and done without an answer, " +
      "is told of no more by the run that finds it done",
  },
  "answers that are always about other locks are an occasion to send them again": {
    file: "src/apply/settle-by-kind.ts",
    within: "setAgain",
    always: "mostOddAnswers",
    test: "run/locks.test.ts",
    title:
      "locks of two customers > answers that are always about other locks end after three sendings: a person decides, " +
      "and no other customer waits",
  },
  "a refusal of what somebody asked for is sent again by each run that comes to its customer": {
    file: "src/operation/requests.ts",
    within: "isDue",
    find: `$stands === "open" || $stands === "failed"`,
    replace: `$stands !== "done"`,
    test: "simulation/simulation.test.ts",
    title:
      "the program in virtual time, with faults, kills, edits and a clock that jumps > " +
      "no longer happens: a lock that was refused for good is sent again",
  },
  "a reply that was cut off counts as an answer about other locks": {
    file: "src/apply/attempt-end.ts",
    within: "unknownEnd",
    find: "if ($raw !== undefined || $status === undefined)",
    replace: "if ($raw === undefined || $status !== undefined)",
    test: "run/locks.test.ts",
    title:
      "locks of two customers > an answer that is cut off says nothing, however often: the same locks are sent again " +
      "until one comes",
  },
  "who waits for an operation that nobody understands is told to wait for its outcome": {
    file: "src/app/requests.ts",
    within: "resultOf",
    find: "...(misfit === undefined ?",
    replace: "...(misfit !== null ?",
    test: "run/locks.test.ts",
    title: "locks of two customers > a customer with an open operation of an unknown form is told so, and no other one",
  },
};
