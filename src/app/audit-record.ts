import { readFileSync } from "node:fs";
import { messageOf, usage } from "../base/errors.ts";
import { durationMs, durationSchema } from "../base/duration.ts";
import type { RecordKey } from "../crm/model.ts";
import { subjectOf } from "../crm/keys.ts";
import type { JsonObject } from "../base/canonical-json.ts";
import { headsPath, readMarks } from "../ledger/audit/audit-heads.ts";
import type { LedgerMark } from "../ledger/audit/audit-heads.ts";
import type { AuditVerdicts } from "../ledger/audit/verify-log.ts";
import { ageOf, counted } from "../report/text.ts";
import { toInstant } from "../base/clock.ts";
import type { Application } from "./application.ts";

/** What exports and proofs say of their own form; `docs/audit-record.md` describes it. */
const recordForm = "crm-sync audit record 2";

/** After so many entries an export says how the tree stands. */
const entriesBetweenCheckpoints = 1_000;

/** Whether the record is of now; null where it has no entry. */
export type Freshness = { good: boolean; why: string } | { good: null; why: string };

export interface AuditAnswer extends AuditVerdicts {
  freshness: Freshness;
  /** The file of heads beside the ledger. */
  heads: string;
}

/**
 * Walks the whole audit record and compares it with the heads kept outside the database: in the file beside it, and in
 * `copies` of that file. It is fresh where its last entry is no older than `within` and stands in a head outside.
 */
export async function verifyAudit(
  application: Application,
  { copies, within }: { copies: readonly string[]; within: string },
): Promise<AuditAnswer> {
  if (!durationSchema.safeParse(within).success)
    throw usage(`--within ${within} is no length of time`, "write it as 90m, 26h or 2d");
  const heads = headsPath(application.ledgerPath);
  const marks = [...readMarks(heads), ...copies.flatMap(marksOf)].filter(({ sequence }) => sequence > 0);
  const inquiry = await application.inquiry();
  const verdicts = await inquiry.auditVerdicts(marks);
  const newest = await inquiry.auditHead();
  const freshness = freshnessOf(verdicts, {
    lastAt: newest?.at,
    now: toInstant(application.clock.now()),
    within,
    outside: marks.reduce((most, { sequence }) => Math.max(most, sequence), 0),
  });
  return { ...verdicts, freshness, heads };
}

function freshnessOf(
  { entries }: AuditVerdicts,
  { lastAt, now, within, outside }: { lastAt: string | undefined; now: string; within: string; outside: number },
): Freshness {
  if (lastAt === undefined) return { good: null, why: "there is no entry" };
  const age = ageOf(lastAt, now);
  if (Date.parse(now) - Date.parse(lastAt) > durationMs(within))
    return {
      good: false,
      why:
        `the last entry is ${age} old, which is more than ${within}: the service stands still, or this is an ` +
        "older copy",
    };
  const uncovered = entries - outside;
  const after = uncovered > 0 ? `; ${counted(uncovered, "entry", "entries")} after the newest head outside` : "";
  return { good: true, why: `the last entry is ${age} old${after}` };
}

/** The heads in a copy of the file of heads. Throws a Problem where there is none. */
function marksOf(path: string): (LedgerMark & { at: string })[] {
  try {
    readFileSync(path);
  } catch (error) {
    throw usage(`the heads in ${path} cannot be read: ${messageOf(error)}`, "name a copy of the file of heads");
  }
  const marks = readMarks(path);
  if (marks.length === 0)
    throw usage(`no head stands in ${path}`, "name a copy of the file that lies beside the ledger as NAME.heads");
  return marks;
}

/** The record as lines of JSON: what it is, each entry, how the tree stands now and then, and at the end. */
export async function exportLines(application: Application): Promise<AsyncGenerator<string, void, void>> {
  return (await application.inquiry()).auditExport(recordForm, entriesBetweenCheckpoints);
}

/**
 * What proves that the entries about an order are in the record, and shows no other one; and that the record has grown
 * alone since it ended with the entry `since`.
 */
export async function orderProof(
  application: Application,
  order: RecordKey,
  since: number | undefined,
): Promise<JsonObject> {
  const inquiry = await application.inquiry();
  const { entries, before, since: grown, ...tree } = await inquiry.auditProof(order, since);
  if (since !== undefined && grown === undefined)
    throw usage(
      `the Merkle tree has no entry ${since}`,
      `name an entry of which a head was kept, from ${tree.chainEntries + 1} on`,
    );
  if (entries.length === 0 && before === 0)
    throw usage(
      `no audit entry is about the order ${order.namespace}/${order.id}`,
      "`crm-sync explain order ID` says what is known of it",
    );
  return {
    proof: recordForm,
    about: subjectOf("orders", order),
    tree: { ...tree },
    ...(grown === undefined ? {} : { since: { ...grown } }),
    entriesBeforeTheTree: before,
    entries: entries.map((entry): JsonObject => ({ ...entry })),
  };
}
