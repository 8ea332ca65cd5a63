import type { Breaks } from "../break.ts";

/** A whole run: sources, limits, what blocks what, and how it ends. */
export const running: Breaks = {
  "assets are taken away before the limits are judged": {
    file: "src/run/reconcile.ts",
    within: "CustomerAttemptRun.#judge",
    find: "isReleased($plan.operations, $released)",
    replace: "count > 0",
    test: "run/sync-run.test.ts",
    title: "what takes something away > is judged before the first of it is sent, and held whole beyond the limit",
  },
  "what a person approved stands for another set": {
    file: "src/run/reconcile.ts",
    within: "CustomerAttemptRun.#judge",
    find: `if ($hold?.state === "approved" && $hold.setHash === $setHash) {`,
    replace: `if ($hold?.state === "approved") {`,
    test: "run/sync-run.test.ts",
    title: "what takes something away > is carried out once a person approved this very set, and no other",
  },
  "an approval is used for ever": {
    file: "src/run/reconcile.ts",
    within: "CustomerAttemptRun.#finish",
    skips: "decide",

    test: "run/decisions.test.ts",
    title: "a person who decides on a hold while a run is on > is heard: approved right before openHold",
  },
  "an operation that waits for a person does not block its customer": {
    file: "src/run/reconcile.ts",
    within: "CustomerAttemptRun.#settleOpen",
    find: `if (["done", "dropped", "rejected"].includes($settled.kind)) continue;`,
    replace: `if (["done", "dropped", "rejected", "parked"].includes($settled.kind)) continue;`,
    test: "run/sync-run.test.ts",
    title: "an operation that waits for a person > blocks everything else of its customer, and of no other",
  },
  "what is in doubt is not settled before a customer is planned": {
    file: "src/run/reconcile.ts",
    within: "CustomerAttemptRun.run",
    find: "if (open !== undefined) return open;",
    replace: "",
    test: "run/sync-run.test.ts",
    title: "an operation that waits for a person > blocks everything else of its customer, and of no other",
  },
  "another value of an E4 goes out while the one before may still land": {
    file: "src/run/customer-attempt.ts",
    within: "earlierMayStillLand",
    find: "return $since > 0 && (await settleTimeLeft($deps, $operation.subject, $since)) > 0;",
    replace: "return $since < 0;",
    test: "run/sync-run.test.ts",
    title:
      "a change (E4) that may still land > keeps another value of the same customer waiting for the settle time, and no longer",
  },
  "a source that was not read whole makes its records gone": {
    file: "src/run/ingest.ts",
    within: "ingestStream",
    find: "if ($outcome.complete && $outcome.full && $tally.shrunk === undefined) {",
    replace: "if ($outcome.full && $tally.shrunk === undefined) {",
    test: "run/sync-run.test.ts",
    title: "a source > that broke off takes nothing away, however often it is read",
  },
  "something is taken away although a source was not read whole": {
    file: "src/run/read-doubts.ts",
    within: "doubtOf",
    find: "if ($read.shrunk === 1)",
    replace: "if ($read.shrunk === 0) return undefined; if ($read.shrunk === 1)",
    test: "run/sync-run.test.ts",
    title: "a source > that broke off takes nothing away, however often it is read",
  },
  "a source that shrank is believed": {
    file: "src/run/ingest.ts",
    within: "shrinkage",
    find: "if ($before === 0) return undefined;",
    replace: "if ($before >= 0) return undefined;",
    test: "run/sync-run.test.ts",
    title: "a source > that shrank takes nothing away, however often it is read",
  },
  "what was read before the first whole read may be lost unseen": {
    file: "src/ledger/records/records.ts",
    within: "Records.readsToCompare",
    find: "const $rows = this.#records.kept($source, $stream);",
    replace: "const $rows = 0;",
    test: "cli/shrunk.test.ts",
    title:
      "what a broken off first read has shown is not lost unseen: nothing is taken away for a file that is empty afterwards",
  },
  "what a plan alone has read whole may be lost unseen": {
    file: "src/ledger/records/records.ts",
    within: "Records.readsToCompare",
    find: "$newest.number === $ofRun?.number ? undefined : $newest",
    replace: "$newest.number === $ofRun?.number ? undefined : $ofRun",
    test: "cli/shrunk.test.ts",
    title:
      "what only a plan has read whole is not lost unseen: nothing is taken away for orders that the first run does not find",
  },
  "orders that are on the platform already are placed once more": {
    file: "src/apply/adopt-orders.ts",
    within: "OrderAdoption.seek",
    find: `if ($link === undefined || $link.origin === "created" || $orders.length === 0)`,
    replace: "if ($link === undefined || $orders.length >= 0)",
    test: "run/sync-run.test.ts",
    title:
      "a customer > whose enterprise, orders and people are on the platform already gets none of them a second time",
  },
  "a customer that cannot be looked at ends the run": {
    file: "src/run/reconcile.ts",
    within: "reconcile",
    find: "if ($deps.ledger.broken !== undefined) throw $error;",
    replace: "throw $error;",
    test: "run/sync-run.test.ts",
    title: "a customer > that cannot be looked at stops no other",
  },
  "records that a run did not come to have no outcome": {
    file: "src/run/run.ts",
    within: "runSync",
    skips: "deferUntouched",

    test: "run/sync-run.test.ts",
    title: "a customer > that a run was not asked for is left to the next one, with a reason",
  },
  "a run whose process died stays running": {
    file: "src/run/interrupted.ts",
    within: "endInterruptedRuns",
    find: "const $runs = await $deps.ledger.runs.interrupted();",
    replace: "const $runs = [];",
    test: "run/sync-run.test.ts",
    title: "a run whose process died > is ended by the next one, which names what was in doubt",
  },
  "what a dead process was sending is overlooked": {
    file: "src/run/sync-run.ts",
    within: "SyncRun.markInterrupted",
    find: `else if ($row.state === "sending") await this.#settling.foundSending($row);`,
    replace: "",
    test: "run/sync-run.test.ts",
    title:
      "a run whose process died > leaves what it was sending in doubt, also where the next run works on another customer",
  },
  "the balance leaves out what is held": {
    file: "src/run/balance.ts",
    within: "balanceOf",
    find: `held: $of("held"),`,
    replace: "held: 0,",
    test: "run/sync-run.test.ts",
    title: "what takes something away > is judged before the first of it is sent, and held whole beyond the limit",
  },
  "a record without an outcome balances": {
    file: "src/run/balance.ts",
    within: "balanceOf",
    find: "$extracted + $takenUpAgain === $unchanged + $planned + $quarantined + $deferred + $rejected && $changed === ($count?.changed ?? 0),",
    replace: "true,",
    test: "run/balance.test.ts",
    title: "the balance of a run > does not add up where a record was read and has no outcome",
  },
  "only the sources of the job that runs keep it from taking things away": {
    file: "src/run/read-doubts.ts",
    within: "doubtOf",
    find: "if ($read.complete === 1) return undefined;",
    replace: "return undefined;",
    test: "cli/half-knowledge.test.ts",
    title:
      "while one of two sources is down, no job, plan, saved plan or resync takes anything away, whichever job read it",
  },
  "a read whose process died is no doubt": {
    file: "src/run/read-doubts.ts",
    within: "doubtOf",
    find: "if ($read.finished_at === null)",
    replace: "if ($read.finished_at === null) return undefined; if ($read.finished_at === undefined)",
    test: "cli/half-knowledge.test.ts",
    title: "a source that was cut off blocks every job's revokes until it is read, or is configured no longer",
  },
  "a plan's read counts as one that lacks a record": {
    file: "src/run/plan-run.ts",
    within: "planRun",
    find: "countsAbsence: false",
    replace: "countsAbsence: true",
    test: "cli/half-knowledge.test.ts",
    title:
      "what is missing counts as gone after several whole reads of runs, and not before some time has passed; a plan does not count",
  },
  "what is missing counts as gone however short it is missing": {
    file: "src/ledger/records/absence.ts",
    within: "prepareStatements",
    find: "missed_since <= ? and",
    replace: "(missed_since <= ? or 1) and",
    test: "cli/half-knowledge.test.ts",
    title:
      "what is missing counts as gone after several whole reads of runs, and not before some time has passed; a plan does not count",
  },
  "a row of which nobody can tell whose it is blocks nothing": {
    file: "src/plan/assignments.ts",
    within: "quarantineBlock",
    find: "if ($stray === undefined) return undefined;",
    replace: "if ($stray !== null) return undefined;",
    test: "cli/half-knowledge.test.ts",
    title:
      "a person whose row cannot be used takes nothing from the one who held the asset, nor where nobody can tell whose person it is",
  },
  "our own clock says where the next reading of changes begins": {
    file: "src/source/http/newest-change.ts",
    within: "NewestChange.see",
    find: "this.#serviceTime = $page.answer.date;",
    replace: "this.#serviceTime = Date.now();",
    test: "cli/incremental.test.ts",
    title:
      "a source of changes loses nothing to a clock of ours that is an hour ahead of it, by its Date header, and who is gone is noticed by whole reads",
  },
  "a source that gives changes is never read whole again": {
    file: "src/run/source-reading.ts",
    within: "SourceReading.#sinceOf",
    find: "if (!($age >= 0 && $age < $wholeEvery)) return undefined;",
    replace: "",
    test: "cli/incremental.test.ts",
    title:
      "a source of changes loses nothing to a clock of ours that is an hour ahead of it, by its Date header, and who is gone is noticed by whole reads",
  },
  "a record that is mapped anew counts as a second form of itself": {
    file: "src/ledger/records/record-tables.ts",
    within: "RecordTables.ingest",
    find: "!$options.retried &&",
    replace: "",
    test: "cli/incremental.test.ts",
    title:
      "a retry maps the stored raw form with the mapping of now, also where the source of changes does not give the record again",
  },
  "a job that says some limits has the defaults for the rest": {
    file: "src/run/run-settings.ts",
    within: "limitsOfJobSchema",
    find: "sourceShrink: sourceShrink.optional(),",
    replace: "sourceShrink: sourceShrink.default(0.2),",
    test: "run/job.test.ts",
    title: "a job > has its own limits where it says some, and those of the configuration for the rest",
  },
  "an approval that comes while limits are judged lapses": {
    file: "src/ledger/approvals/approvals.ts",
    within: "Approvals.open",
    never: "setHash",

    test: "run/decisions.test.ts",
    title: "a person who decides on a hold while a run is on > is heard: approved right before openHold",
  },
  "an approval that comes at the end of a run is forgotten": {
    file: "src/ledger/records/records.ts",
    within: "Records.setOutcomes",
    find: `if ($held?.state === "approved")`,
    replace: `if ($held?.state === "used")`,
    test: "run/decisions.test.ts",
    title: "a person who decides on a hold while a run is on > is heard: approved right before recordOutcomes",
  },
  "a hold whose revokes are only blocked lapses": {
    file: "src/run/customer-attempt.ts",
    within: "lapseNeedlessHold",
    never: "waits",

    test: "run/decisions.test.ts",
    title: "a hold that the CRM has made needless > stays where its revokes are only blocked for now",
  },
  "the plan of now is carried out in place of a saved one, after waiting": {
    file: "src/run/customer-attempt.ts",
    within: "isStale",
    find: "if ($expected === undefined) return false;",
    replace: "if ($expected === undefined || !$expected.begun) return false;",
    test: "run/decisions.test.ts",
    title:
      "a saved plan of which one answer was lost > is refused where the customer changed since: nothing is done that does not stand in it",
  },
  "an order that an adopted enterprise showed is placed again when the CRM gives it later": {
    file: "src/apply/adopt-orders.ts",
    within: "OrderAdoption.#shown",
    find: "return await this.#deps.ledger.state.shownOrder($loaded.customer, $channelOrderId);",
    replace: "return undefined;",
    test: "run/adopted.test.ts",
    title:
      "an enterprise that another program has worked for > an order that is placed there and comes into the CRM later is not placed again",
  },
  "what an earlier run left undone is all well": {
    file: "src/run/summary.ts",
    within: "exitCodeOf",
    find: "if (openCount($summary.open) > 0 || $summary.customers.rejected > 0",
    replace: "if ($summary.customers.rejected > 0",
    test: "cli/telling.test.ts",
    title:
      "what is not done > counts in every run, plan, status, health and alert until it is done, whichever run met it first",
  },
  "records that a clean stop left are told as undone": {
    file: "src/plan/owner.ts",
    within: "counts",
    find: "return !settled.has($code) && !leftToNextRun.has($code);",
    replace: "return !settled.has($code);",
    test: "plan/owner.test.ts",
    title: "what a person decided, and what the next run does by itself, is shown and not counted",
  },
  "a run that is stopped forgets what was not done before it": {
    file: "src/ledger/records/work.ts",
    within: "WorkTables.recordOutcomes",
    find: "keeps: $item.code !== undefined && waitsForNextRun($item.code) ? 1 : 0,",
    replace: "keeps: 0,",
    test: "cli/agreement.test.ts",
    title: "a run that is stopped takes no age, no alert and no place in status from what was not done before it",
  },
  "what verify found is told by its exit code alone": {
    file: "src/report/last-runs.ts",
    within: "troubleOf",
    find: "if (different > 0)",
    replace: "if (different < 0)",
    test: "cli/agreement.test.ts",
    title: "what verify found stands in exit code, status, health and alerts until a whole verify finds it no more",
  },
  "work that is not done counts in no exit code": {
    file: "src/run/summary.ts",
    within: "exitCodeOf",
    find: "if (openCount($summary.open) > 0 || $summary.customers.rejected > 0",
    replace: "if ($summary.customers.rejected > 0",
    test: "simulation/simulation.test.ts",
    title:
      "the program in virtual time, with faults, kills, edits and a clock that jumps > no longer happens: a run ends with 0 although a record is not done",
  },
  "what a service keeps from being sent stays planned without a word": {
    file: "src/run/record-outcomes.ts",
    within: "deferredUnsent",
    find: `return deferredRecords($outcomes, $waiting, { $code, reason: \`\${$endpoint}: \${$reason}\`, again: true });`,
    replace: "void [$waiting, $code, $endpoint, $reason]; return $outcomes;",
    test: "simulation/simulation.test.ts",
    title:
      "the program in virtual time, with faults, kills, edits and a clock that jumps > no longer happens: what a service keeps from being sent is told of nowhere",
  },
  "a copy of the ledger is newest where its chain is not another one": {
    file: "src/ledger/audit/audit-heads.ts",
    within: "refuseOlderLedger",
    find: "if ($chained && $commits >= $last.commit) return;",
    replace: "if ($chained || $commits >= $last.commit) return;",
    test: "simulation/simulation.test.ts",
    title:
      "the program in virtual time, with faults, kills, edits and a clock that jumps > no longer happens: an older ledger that was put back is used",
  },
  "what a half-read list would have said counts for nothing": {
    file: "src/run/read-doubts.ts",
    within: "revokesBlockedBy",
    find: "if ($first === undefined) return undefined;",
    replace: "return undefined;",
    test: "simulation/simulation.test.ts",
    title:
      "the program in virtual time, with faults, kills, edits and a clock that jumps > no longer happens: something is taken away while a list that could want it kept was read half",
  },
  "what somebody who moved still holds is the matter of nobody": {
    file: "src/run/record-outcomes.ts",
    within: "mattersOf",
    find: `? $record : { stream: "customers", ...customer },`,
    replace: "? record : $record,",
    test: "run/moved-people.test.ts",
    title:
      "what somebody who moved still holds at the old customer, and was not sent, waits there and is told of, until it is taken away",
  },
};
