import { openReadOnly } from "../ledger/database/database.ts";
import { alerts } from "./alerts.ts";
import { assumptionStandings } from "./assumptions.ts";
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
import { heldByRuns, heldMark, heldOperations, heldSums, standingHolds, waitingOperations } from "./held.ts";
import { find, findEverywhere, findPeople } from "./find.ts";
import { holds } from "./holds.ts";
import { measures } from "./measures.ts";
import { keptAnswer, operationById, operations, unsettled } from "./operations.ts";
import { companyNames, partOfAsset, productNames } from "./names.ts";
import { orderSides } from "./order-sides.ts";
import { privateValues } from "./private-values.ts";
import { quarantine, quarantineById, quarantineGroups, quarantineOfGroup, rawForm } from "./quarantine.ts";
import { paused } from "./paused.ts";
import { ReadOnlyLedger } from "./read-only-ledger.ts";
import { agreement, differences } from "./reconciliation.ts";
import { runFailures, runGlance, runOperations } from "./run-operations.ts";
import { notAttempted, readsOf, runs, runStory } from "./runs.ts";
import { acceptable } from "./statement/exceptions.ts";
import { statement } from "./statement/statement.ts";
import { status } from "./status.ts";
import { subject } from "./subject.ts";
import { taken } from "./taken.ts";
import { knownTimes as timesIn } from "../ledger/time/time.ts";
import type { KnownTimes } from "../ledger/time/time.ts";
import { sql } from "kysely";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { RecordTable } from "../ledger/records/tables.ts";
import type { RecordFacts } from "../report/explain.ts";
import { recordFacts } from "./record-facts.ts";
import type { Problem } from "../base/errors.ts";
import { refusalOf } from "../ledger/database/newest.ts";

/** Named when it is asked, so that a command loads the questions that it asks, and no others. */
type Question<Words extends readonly unknown[], Answer> = () => (ledger: ReadOnlyLedger, ...words: Words) => Answer;

/**
 * Every question to the ledger, each in a file of its own. No private value leaves it but by `rawForm`, `keptAnswer`,
 * `privateValues` and `subject`, which a person has to ask for, and by `companyNames`, which are nobody's; `findPeople`
 * compares with them.
 */
export type Inquiry = ReturnType<typeof questionsTo>;

/** In one piece: a line for each question. */
function questionsTo(ledger: ReadOnlyLedger) {
  /** The whole answer is of one state of the ledger, whatever a run writes meanwhile. */
  const answered =
    <Words extends readonly unknown[], Answer>(question: Question<Words, Promise<Answer>>) =>
    async (...words: Words): Promise<Answer> =>
      await ledger.oneState(() => question()(ledger, ...words));
  /** The same for an answer for which much of the ledger is gone through. */
  const answeredFromAll =
    <Words extends readonly unknown[], Answer>(question: Question<Words, Promise<Answer>>) =>
    async (...words: Words): Promise<Answer> =>
      await ledger.oneStateOfAll(() => question()(ledger, ...words));
  /** The same for an answer that comes in parts. */
  const streamed =
    <Words extends readonly unknown[], Part>(question: Question<Words, AsyncIterable<Part>>) =>
    (...words: Words): AsyncGenerator<Part, void, void> =>
      ledger.streamed(question()(ledger, ...words));
  /** Rows as SQLite finds them. */
  const rows =
    <Words extends readonly unknown[], Rows>(question: Question<Words, Rows>) =>
    (...words: Words): Rows =>
      question()(ledger, ...words);
  return {
    /** Several questions whose answers are of one state of the ledger together. */
    ofOneState: async <T>(work: () => Promise<T>): Promise<T> => await ledger.oneState(work),
    status: answered(() => status),
    paused: rows(() => paused),
    refusal: rows(() => refusal),
    alerts: answered(() => alerts),
    taken: answered(() => taken),
    explain: answered(() => explain),
    find: answered(() => find),
    findEverywhere: answered(() => findEverywhere),
    findPeople: answered(() => findPeople),
    recordsOfCustomer: answered(() => recordsOfCustomer),
    orderSides: answered(() => orderSides),
    privateValues: answered(() => privateValues),
    companyNames: answered(() => companyNames),
    productNames: answered(() => productNames),
    partOfAsset: answered(() => partOfAsset),
    quarantine: rows(() => quarantine),
    quarantineGroups: answered(() => quarantineGroups),
    quarantineOfGroup: answered(() => quarantineOfGroup),
    quarantineById: answered(() => quarantineById),
    rawForm: answered(() => rawForm),
    operations: rows(() => operations),
    unsettled: rows(() => unsettled),
    operation: answered(() => operationById),
    keptAnswer: answered(() => keptAnswer),
    holds: answered(() => holds),
    measures: answered(() => measures),
    standingHolds: answered(() => standingHolds),
    heldOperations: answered(() => heldOperations),
    waitingOperations: answered(() => waitingOperations),
    heldSums: answered(() => heldSums),
    heldMark: answered(() => heldMark),
    heldByRuns: answered(() => heldByRuns),
    runs: answered(() => runs),
    run: answered(() => runStory),
    notAttempted: answered(() => notAttempted),
    readsOf: answered(() => readsOf),
    runGlance: answered(() => runGlance),
    runOperations: answered(() => runOperations),
    runFailures: answered(() => runFailures),
    subject: answered(() => subject),
    agreement: answered(() => agreement),
    differences: streamed(() => differences),
    assumptions: answered(() => assumptionStandings),
    auditHead: answered(() => auditHead),
    auditEntries: answered(() => auditEntries),
    headPlaces: answered(() => headPlaces),
    began: answered(() => began),
    ledgerName: answered(() => ledgerName),
    auditProof: answered(() => auditProof),
    auditVerdicts: answeredFromAll(() => auditVerdicts),
    auditExport: rows(() => auditExport),
    statement: streamed(() => statement),
    closings: answered(() => closings),
    closedFiles: answered(() => closedFiles),
    closingEntry: answered(() => closingEntry),
    knownTimes: answered(() => knownTimes),
    frozenDigests: answered(() => frozenDigests),
    joinedPeriod: answered(() => joinedPeriod),
    blockers: answeredFromAll(() => blockers),
    acceptable: answeredFromAll(() => acceptable),
    close: () => ledger.close(),
  };
}

/**
 * Opens the ledger for reading. Throws a Problem with exit code 65 where there is none, or it is older or newer than
 * the program. With a moment in the past (ISO instant in UTC) it is read as it stood then; throws a usage Problem for
 * one that cannot be asked for.
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

/** The newest stamp, and what the services said last. */
export async function knownTimes(ledger: ReadOnlyLedger): Promise<KnownTimes> {
  return ledger.reading((database) => {
    const value = database.prepare<[string], string>("select value from meta where key = ?").pluck();
    return timesIn((key) => value.get(key));
  });
}

/** So many records of a customer are listed at once. */
const recordsInPage = 25;

/**
 * Orders or staff of a customer in key order, as many as a page holds; `after` goes on behind a record. SQLite would
 * rather go through the whole stream in the order that is asked for, so it is told by which index.
 */
export async function recordsOfCustomer(
  { db }: ReadOnlyLedger,
  customer: RecordKey,
  stream: Exclude<Stream, "customers">,
  after: RecordKey = { namespace: "", id: "" },
): Promise<{ records: RecordFacts[]; goesOn: boolean }> {
  const { rows } = await sql<RecordTable>`select * from record indexed by record_by_customer
    where customer_namespace = ${customer.namespace} and customer_id = ${customer.id} and stream = ${stream}
      and (namespace, id) > (${after.namespace}, ${after.id})
    order by namespace, id limit ${recordsInPage + 1}`.execute(db);
  return { records: rows.slice(0, recordsInPage).map(recordFacts), goesOn: rows.length > recordsInPage };
}

/** Why no run may use this ledger although it can be read: it is an older copy, or its rebuild is not finished. */
export function refusal(ledger: ReadOnlyLedger): Problem | undefined {
  return ledger.reading((database) => refusalOf(database, ledger.path));
}
