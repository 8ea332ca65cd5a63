import { openReadOnly } from "../ledger/database/database.ts";
import { alerts, assumptionStandings, knownTimes, paused, refusal, status } from "./status.ts";
import {
  auditEntries,
  auditExport,
  auditHead,
  auditProof,
  auditVerdicts,
  began,
  headPlaces,
  ledgerName,
} from "./audit.ts";
import { standAsOf } from "./as-of/as-of.ts";
import { blockers, closedFiles, closingEntry, closings, frozenDigests, joinedPeriod } from "./books.ts";
import { explain } from "./explain.ts";
import {
  heldByRuns,
  heldMark,
  heldOperations,
  heldSums,
  holds,
  standingHolds,
  taken,
  waitingOperations,
} from "./holds.ts";
import { find, findEverywhere, findPeople, recordsOfCustomer } from "./find.ts";
import { measures } from "./measures.ts";
import { keptAnswer, operationById, operations, unsettled } from "./operations.ts";
import { companyNames, partOfAsset, privateValues, productNames } from "./names.ts";
import { agreement, differences, orderSides } from "./reconciliation.ts";
import { quarantine, quarantineById, quarantineGroups, quarantineOfGroup, rawForm } from "./quarantine.ts";
import { ReadOnlyLedger } from "./read-only-ledger.ts";
import { notAttempted, readsOf, runFailures, runGlance, runOperations, runs, runStory } from "./runs.ts";
import { acceptable } from "./statement/exceptions.ts";
import { statement } from "./statement/statement.ts";
import { subject } from "./subject.ts";

type Question<Words extends readonly unknown[], Answer> = (ledger: ReadOnlyLedger, ...words: Words) => Answer;

/**
 * Every question to the ledger. Private values leave it only by `rawForm`, `keptAnswer`, `privateValues` and `subject`,
 * which a person must ask for. `companyNames` returns no personal data; `findPeople` compares private values but
 * returns keys.
 */
export type Inquiry = ReturnType<typeof questionsTo>;

function questionsTo(ledger: ReadOnlyLedger) {
  /** The whole answer is from one state of the ledger, also while a run writes. */
  const answered =
    <Words extends readonly unknown[], Answer>(question: Question<Words, Promise<Answer>>) =>
    async (...words: Words): Promise<Answer> =>
      await ledger.oneState(() => question(ledger, ...words));
  /** For answers that read much of the ledger. */
  const answeredFromAll =
    <Words extends readonly unknown[], Answer>(question: Question<Words, Promise<Answer>>) =>
    async (...words: Words): Promise<Answer> =>
      await ledger.oneStateOfAll(() => question(ledger, ...words));
  const streamed =
    <Words extends readonly unknown[], Part>(question: Question<Words, AsyncIterable<Part>>) =>
    (...words: Words): AsyncGenerator<Part, void, void> =>
      ledger.streamed(question(ledger, ...words));
  const rows =
    <Words extends readonly unknown[], Rows>(question: Question<Words, Rows>) =>
    (...words: Words): Rows =>
      question(ledger, ...words);
  return {
    /** Several questions about one state of the ledger. */
    ofOneState: async <T>(work: () => Promise<T>): Promise<T> => await ledger.oneState(work),
    status: answered(status),
    paused: rows(paused),
    refusal: rows(refusal),
    alerts: answered(alerts),
    taken: answered(taken),
    explain: answered(explain),
    find: answered(find),
    findEverywhere: answered(findEverywhere),
    findPeople: answered(findPeople),
    recordsOfCustomer: answered(recordsOfCustomer),
    orderSides: answered(orderSides),
    privateValues: answered(privateValues),
    companyNames: answered(companyNames),
    productNames: answered(productNames),
    partOfAsset: answered(partOfAsset),
    quarantine: rows(quarantine),
    quarantineGroups: answered(quarantineGroups),
    quarantineOfGroup: answered(quarantineOfGroup),
    quarantineById: answered(quarantineById),
    rawForm: answered(rawForm),
    operations: rows(operations),
    unsettled: rows(unsettled),
    operation: answered(operationById),
    keptAnswer: answered(keptAnswer),
    holds: answered(holds),
    measures: answered(measures),
    standingHolds: answered(standingHolds),
    heldOperations: answered(heldOperations),
    waitingOperations: answered(waitingOperations),
    heldSums: answered(heldSums),
    heldMark: answered(heldMark),
    heldByRuns: answered(heldByRuns),
    runs: answered(runs),
    run: answered(runStory),
    notAttempted: answered(notAttempted),
    readsOf: answered(readsOf),
    runGlance: answered(runGlance),
    runOperations: answered(runOperations),
    runFailures: answered(runFailures),
    subject: answered(subject),
    agreement: answered(agreement),
    differences: streamed(differences),
    assumptions: answered(assumptionStandings),
    auditHead: answered(auditHead),
    auditEntries: answered(auditEntries),
    headPlaces: answered(headPlaces),
    began: answered(began),
    ledgerName: answered(ledgerName),
    auditProof: answered(auditProof),
    auditVerdicts: answeredFromAll(auditVerdicts),
    auditExport: rows(auditExport),
    statement: streamed(statement),
    closings: answered(closings),
    closedFiles: answered(closedFiles),
    closingEntry: answered(closingEntry),
    knownTimes: answered(knownTimes),
    frozenDigests: answered(frozenDigests),
    joinedPeriod: answered(joinedPeriod),
    blockers: answeredFromAll(blockers),
    acceptable: answeredFromAll(acceptable),
    close: () => ledger.close(),
  };
}

/**
 * Opens the ledger for reading, optionally as of a past moment (ISO instant in UTC). Throws a Problem with exit code 65
 * if it is missing or of another version, and a usage Problem for an impossible moment.
 */
export function openInquiry(path: string, asOf?: string): Inquiry {
  const ledger = new ReadOnlyLedger(path, openReadOnly(path));
  try {
    if (asOf !== undefined) standAsOf(ledger, asOf);
    return questionsTo(ledger);
  } catch (error) {
    ledger.close();
    throw error;
  }
}
