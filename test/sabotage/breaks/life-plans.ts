import type { Breaks } from "../break.ts";

/** Runs that are taken back, plans of other settings, and shares that go first. */
export const lifePlans: Breaks = {
  "undo takes the new form away before the old one is bought back": {
    file: "src/plan/undo-orders.ts",
    within: "endingsOf",
    find: "lostOf($work).length > 0",
    replace: "false",
    test: "cli/undo.test.ts",
    title: "undo > leaves the new form where it is while the old one is refused",
  },
  "an undo removes what other runs bought too": {
    file: "src/plan/undo-orders.ts",
    within: "endingsOf",
    find: "unit.products.filter(({ channelOrderId }) => bought.has(channelOrderId))",
    replace: "[...unit.products]",
    test: "cli/undo.test.ts",
    title: "undo > takes a replacement back: the old form is bought again, and what took its place goes",
  },
  "an undo takes a seat from who holds it by now": {
    file: "src/plan/undo-people.ts",
    within: "undoRevoke",
    find: "holders.get(number) === null || freed.has(number)",
    replace: "true",
    test: "cli/undo.test.ts",
    title:
      "undo > says what nothing takes back: what is newer, held by another or not kept, and of what a person asked",
  },
  "an undo sets back what was changed once more since": {
    file: "src/plan/undo-enterprise.ts",
    within: "undoUpdate",
    never: "after",
    test: "cli/undo.test.ts",
    title:
      "undo > says what nothing takes back: what is newer, held by another or not kept, and of what a person asked",
  },
  "an undo deletes the account that a later run made": {
    file: "src/plan/undo-people.ts",
    within: "undoAddition",
    find: "facts.linkedSince.get(formatKey(record)) !== row.updatedAt",
    replace: "false",
    test: "cli/undo.test.ts",
    title: "undo > deletes no account that a later run made, and adds a deleted one again as another member",
  },
  "an undo takes the seat that a later run gave": {
    file: "src/plan/undo-people.ts",
    within: "undoGrant",
    find: "facts.lastGiven.get(number)?.givenBy === id",
    replace: "number !== ''",
    test: "cli/undo-newer.test.ts",
    title:
      "undo of a run after others did the same again > leaves a seat as the newer run left it, and gives the other customer's back",
  },
  "an undo gives the seat that a later run took": {
    file: "src/plan/undo-people.ts",
    within: "undoRevoke",
    find: "!last.isHeld || holders.get(number) === null",
    replace: "false",
    test: "cli/undo-newer.test.ts",
    title:
      "undo of a run after others did the same again > leaves a seat as the newer run left it, and gives the other customer's back",
  },
  "an undo sets back what was changed there and back": {
    file: "src/plan/undoing.ts",
    within: "isNewest",
    find: "(facts.newestOn.get(operation.subject) ?? id) === id",
    replace: "facts.newestOn.has(operation.subject) || id !== ''",
    test: "cli/undo-newer.test.ts",
    title:
      "undo of a run after others did the same again > leaves a name and a branch that were changed there and back",
  },
  "an undo buys what a later run took away": {
    file: "src/plan/undo-orders.ts",
    within: "lostOf",
    find: "later.number > step",
    replace: "later.number < 0",
    test: "cli/undo-newer.test.ts",
    title:
      "undo of a run after others did the same again > buys nothing that was bought again and taken away once more",
  },
  "an undo takes an order that moved away from where it stands": {
    file: "src/plan/undo-orders.ts",
    within: "undoPurchase",
    find: "brought(work, of.given.customer)",
    replace: "work.bought.has('')",
    test: "cli/undo-newer.test.ts",
    title: "undo of a run with an order that moved to another customer > never leaves it standing nowhere (overlap)",
  },
  "a plan takes the place of whatever file is there": {
    file: "src/app/plan-file.ts",
    within: "requirePlanPlace",
    find: "there === undefined",
    replace: "there !== null",
    test: "cli/plan.test.ts",
    title: "a saved plan > takes the place of an earlier plan, and of nothing else",
  },
  "a report takes the place of a ledger": {
    file: "src/app/written-files.ts",
    within: "writeWhole",
    find: "startOf(path, databaseMark.length) === databaseMark",
    replace: "path === databaseMark",
    test: "cli/plan.test.ts",
    title: "a saved plan > takes the place of an earlier plan, and of nothing else",
  },
  "a plan is applied that says something else than what is carried out": {
    file: "src/app/plan-file.ts",
    within: "readPlanFile",
    find: "edited !== undefined",
    replace: "edited === null",
    test: "cli/plan.test.ts",
    title: "a saved plan > is refused when it was edited, cut, is no plan, or belongs to another ledger",
  },
  "an operation of a saved plan is sent without what it needs": {
    file: "src/run/saved-plan.ts",
    within: "chosenOf",
    find: "needs.get(operation.hash)?.some((hash) => hashes.has(hash)) === true",
    replace: "hashes.size < 0",
    test: "cli/apply-only.test.ts",
    title:
      "a saved plan > sends nothing without what it needs, where an earlier run took that and did not carry it out",
  },
  "a run ends the hold of an undo, which it never plans": {
    file: "src/run/no-longer-meant.ts",
    within: "endNoLongerMeant",
    find: "over?.is(word) === true && !word.ofUndo",
    replace: "over?.is(word) === true",
    test: "cli/undo.test.ts",
    title: "undo > is held by policies and limits as ever, and an ordinary run does not end the hold",
  },
  "a run by shares goes on without reading back what a killed one did": {
    file: "src/run/canary.ts",
    within: "leftUnread",
    find: 'earlier.header["canary"] === undefined',
    replace: "true",
    test: "faults/killed-plans.test.ts",
    title:
      "a run by shares that is killed > before the first share was read back reads it back first, and stops where it is not as meant",
  },
  "what was taken back counts as agreed": {
    file: "src/run/reconcile.ts",
    within: "CustomerAttemptRun.#noteLeft",
    find: 'this.#advance({ type: "records-wait", records, why: takenBack(expected.undo) });',
    replace: "void records;",
    test: "cli/undo.test.ts",
    title:
      "undo > takes back names, people, seats and orders of one run, newest first, and the next run does them again",
  },
  "the copy of the ledger is left behind": {
    file: "src/app/what-if.ts",
    within: "planFromStored",
    skips: "rmSync",
    test: "cli/what-if.test.ts",
    title: "plan --stored > takes its copy away where it fails, and refuses to save what it planned",
  },
  "what another configuration would change is written to the ledger": {
    file: "src/app/what-if.ts",
    within: "planFromStored",
    find: "application.ledgerAt(path)",
    replace: "application.ledgerAt(application.ledgerPath)",
    test: "cli/what-if.test.ts",
    title:
      "plan --stored > shows what another mapping would change, by record and field, without a source, and keeps nothing",
  },
  "a plan from stored forms reads the sources": {
    file: "src/app/what-if.ts",
    within: "planFromStored",
    find: "storedSource(source, ledger, count)",
    replace: "source",
    test: "cli/what-if.test.ts",
    title:
      "plan --stored > shows what another mapping would change, by record and field, without a source, and keeps nothing",
  },
  "a form is mapped anew without its secrets": {
    file: "src/run/stored-source.ts",
    within: "storedSource",
    find: "raw === null || raw.includes(JSON.stringify(blankedSecret))",
    replace: "raw === null",
    test: "cli/what-if.test.ts",
    title:
      "plan --stored > leaves a record whose raw form lacks its secrets as it was mapped, and says how many; names no private value",
  },
  "a run goes on although its first share is not as it was meant": {
    file: "src/run/canary.ts",
    within: "applyByShares",
    find: "if (wrong.length === 0) continue;",
    replace: "if (wrong.length < buckets) continue;",
    test: "cli/canary.test.ts",
    title:
      "run --canary > stops where one customer of the first share is read back otherwise; the rest waits, is told of, and goes next",
  },
  "a run by shares stops at what stood otherwise before it": {
    file: "src/run/stood-before.ts",
    within: "StoodBefore.read",
    skips: "#keep",
    test: "cli/canary.test.ts",
    title:
      "run --canary > goes on beside what stood otherwise before it began, tells of it, and stops at what comes on top",
  },
  "what a run by shares did counts as there before by the next one": {
    file: "src/run/stood-before.ts",
    within: "StoodBefore.has",
    find: "one.firstSeen <= began",
    replace: "began !== ''",
    test: "cli/canary.test.ts",
    title:
      "run --canary > goes on beside what stood otherwise before it began, tells of it, and stops at what comes on top",
  },
  "a run by shares goes on beside what it sent in vain": {
    file: "src/run/carry-out.ts",
    within: "carryOut",
    find: "deps.unclear.has(unclearName(operation))",
    replace: "deps.unclear.has('')",
    test: "cli/canary-before.test.ts",
    title: "a seat that a run by shares gives in vain stops it, where the seat is new",
  },
  "what a run by shares did is not judged where it stood otherwise before": {
    file: "src/run/stood-before.ts",
    within: "StoodBefore.has",
    find: '($difference.at ?? "") >= began',
    replace: '(difference.at ?? "") === began',
    test: "cli/canary-before.test.ts",
    title: "a seat that was free before is judged once a run by shares has given it",
  },
  "what a run by shares left wrong of a class that is ignored is forgotten by the next one": {
    file: "src/run/stood-before.ts",
    within: "StoodBefore.#keep",
    find: "!this.#began.has($key)",
    replace: "this.#began !== undefined",
    test: "cli/canary-before.test.ts",
    title: "what a run by shares left wrong stops every one after it, however many there are (drift.missing: ignore)",
  },
  "what the first of two runs by shares left wrong is forgotten by the third": {
    file: "src/run/canary.ts",
    within: "leftUnread",
    find: "createdAt < $began ? createdAt : $began",
    replace: "began",
    test: "cli/canary-before.test.ts",
    title: "what a run by shares left wrong stops every one after it, however many there are (drift.missing: report)",
  },
  "a customer that waits for a person since long ago stops every run by shares": {
    file: "src/run/canary.ts",
    within: "wrongIn",
    find: 'of.runs.has(runId ?? "")',
    replace: 'runId !== ""',
    test: "cli/canary.test.ts",
    title: "run --canary > goes on beside a customer that waits for a person since before, and one that cannot be read",
  },
  "a share that went first is not read back": {
    file: "src/run/canary.ts",
    within: "wrongIn",
    skips: "keepShown",
    test: "cli/canary.test.ts",
    title:
      "run --canary > stops where one customer of the first share is read back otherwise; the rest waits, is told of, and goes next",
  },
  "what a share keeps waiting is not told": {
    file: "src/run/canary.ts",
    within: "applyByShares",
    find: 'for (const customer of rest) await deps.ledger.records.deferPending(run, customer, "run.canary", reason);',
    replace: "void reason; void rest; void run;",
    test: "cli/canary.test.ts",
    title:
      "run --canary > stops where one customer of the first share is read back otherwise; the rest waits, is told of, and goes next",
  },
  "a run by shares goes on beside what it sent in vain of somebody who waits too": {
    file: "src/run/reconcile.ts",
    within: "CustomerAttemptRun.#finished",
    find: '{ kind: "waiting", until, inVain }',
    replace: '{ kind: "waiting", until }',
    test: "run/canary.test.ts",
    title:
      "a run by shares stops at what was sent in vain of somebody who also waits for what M7 leaves out to count as gone",
  },
  "a first share of which nobody could be read counts as read back": {
    file: "src/run/sync-run.ts",
    within: "SyncRun.#note",
    find: "if (isUnread || isLacking)",
    replace: "if (isLacking)",
    test: "cli/canary.test.ts",
    title:
      "run --canary > stops where nobody of the first share can be read, tells of it, and goes on once somebody can",
  },
  "a first share that got no asset numbers counts as read back": {
    file: "src/run/sync-run.ts",
    within: "SyncRun.#note",
    find: "if (isUnread || isLacking)",
    replace: "if (isUnread)",
    test: "cli/canary.test.ts",
    title: "run --canary > stops where a first share got no asset numbers, so that nothing of it was bought",
  },
  "one customer that cannot be read stops a run by shares": {
    file: "src/run/canary.ts",
    within: "wrongIn",
    find: "wrong.size + readBack === 0",
    replace: "wrong.size === 0",
    test: "cli/canary.test.ts",
    title: "run --canary > goes on beside a customer that waits for a person since before, and one that cannot be read",
  },
  "taking a run back ends what a person approved of a run": {
    file: "src/ledger/approvals/approvals.ts",
    within: "Approvals.open",
    find: "holdOf(hold.customer, ofUndo)",
    replace: "holdOf(hold.customer, false) ?? this.#holds.holdOf(hold.customer, true)",
    test: "cli/undo-holds.test.ts",
    title: "what a person approved goes in the next run, although taking a run back is held of that customer meanwhile",
  },
  "what a run holds ends what a person approved of taking a run back": {
    file: "src/ledger/approvals/approvals.ts",
    within: "Approvals.open",
    find: "holdOf(hold.customer, ofUndo)",
    replace: "holdOf(hold.customer, true) ?? this.#holds.holdOf(hold.customer, false)",
    test: "cli/undo-holds.test.ts",
    title:
      "what a person approved of taking a run back outlives what runs hold of that customer, and is carried out once",
  },
  "taking a run back gives up what a run holds": {
    file: "src/ledger/journal/journal-tables.ts",
    within: "JournalTables.constructor",
    find: "plan_id is ?",
    replace: "plan_id is null or plan_id is ?",
    test: "cli/undo-holds.test.ts",
    title:
      "what a person approved of taking a run back outlives what runs hold of that customer, and is carried out once",
  },
  "a refusal in the first share stops nothing": {
    file: "src/run/sync-run.ts",
    within: "SyncRun.#note",
    find: "if (trouble !== undefined)",
    replace: "if (trouble === '')",
    test: "cli/canary.test.ts",
    title: "run --canary > stops where something of the first share was refused",
  },
  "of a share only those are read back who are done with": {
    file: "src/run/sync-run.ts",
    within: "SyncRun.#note",
    find: "this.#troubled.delete($key);",
    replace:
      'this.#troubled.delete(key); if (result.kind !== "finished" || result.operations === 0) this.#touched.delete(key);',
    test: "cli/canary.test.ts",
    title:
      "run --canary > reads back whose amendment was bought while the old form is held, and stops where something else of it is gone",
  },
  "what was approved and then rejected counts as approved": {
    file: "src/ledger/approvals/approvals.ts",
    within: "Approvals.decide",
    skips: "takeBack",
    test: "cli/limits.test.ts",
    title:
      "more than a limit allows > is not carried out where a person rejects what was approved before a run came to it",
  },
  "what a person rejects while a run is on is taken away all the same": {
    file: "src/ledger/journal/journal.ts",
    within: "Journal.intend",
    skips: "requireNotRejected",
    test: "run/decisions.test.ts",
    title: "a person who rejects what was approved before > is heard right before it is sent",
  },
  "what a person rejects while a run is on is bought all the same": {
    file: "src/ledger/journal/uniqueness.ts",
    within: "UniquenessChecks.requireNotRejected",
    find: 'if (takesAway === 0 && stage === "requests") return;',
    replace: "if (takesAway === 0) return;",
    test: "run/decisions.test.ts",
    title:
      "a person who rejects what was approved before > is heard of a purchase that has not begun, and another customer's goes on",
  },
  "a hold of which each operation was approved by itself goes on asking": {
    file: "src/ledger/approvals/holds.ts",
    within: "HoldTables.openHolds",
    find: "row.waits === 1",
    replace: "true",
    test: "scenarios/life/approved-in-part.test.ts",
    title:
      "a hold of which each operation was approved by itself asks nobody: a platform that is down is told of as that",
  },
  "a hold asks nobody as soon as one of its operations was approved by itself": {
    file: "src/ledger/approvals/holds.ts",
    within: "waitsForWord",
    find: "and i.ended_at is null and not exists (",
    replace: "and i.ended_at is null and exists (",
    test: "scenarios/life/approved-in-part.test.ts",
    title:
      "a hold of which each operation was approved by itself asks nobody: a platform that is down is told of as that",
  },
  "what an earlier run by shares left unread is forgotten behind runs of other jobs": {
    file: "src/ledger/runs/run-statements.ts",
    within: "runStatements",
    find: "from run where job = +? order by",
    replace: "from (select * from run order by started_at desc limit 100) where job = +? order by",
    test: "cli/canary.test.ts",
    title:
      "run --canary > reads back what an earlier run by shares left unread, however many runs of other jobs were made since",
  },
  "a plan beside an open hold says that a run carries everything out": {
    file: "src/run/plan-run.ts",
    within: "exitCodeOf",
    find: "if ($summary.held.length > 0) return $exitCodes.held;",
    replace: "",
    test: "scenarios/life/cancelled.test.ts",
    title: "plan ends with what is true: changes that nothing holds 2, an open hold 4 with its number, a refused one 0",
  },
};
