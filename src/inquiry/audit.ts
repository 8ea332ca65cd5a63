import { type JsonObject, type Json, canonicalJson } from "../base/canonical-json.ts";
import { subjectOf } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import {
  auditHash,
  exportedEntry,
  type AuditRow,
  type KeptHead,
  consistencyPath,
  inclusionPath,
  isGrown,
  rootBy,
} from "../ledger/audit/audit-log.ts";
import { ledgerBegan } from "../ledger/database/read-together.ts";
import { refused, unreadableRow, stored } from "../ledger/database/damage.ts";
import { entriesOf } from "../ledger/audit/tables.ts";
import { keptOf, provenTree, RecordTree } from "../ledger/audit/kept-tree.ts";
import { verifyRecord, type AuditVerdicts, type AuditFinding } from "../ledger/audit/verify-log.ts";
import type { AuditFacts, AuditHeadFacts, HeadPlaceFacts } from "../report/facts.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";
import { unsaidLink, type UnsaidLink } from "../ledger/state/said-links.ts";
import { z } from "zod";
import { closingFactsOf, type ClosedPeriodTable, type SignOffTable } from "../ledger/books/tables.ts";

const pageSize = 500;

interface AuditProofFacts {
  size: number;
  root: string;
  entries: (ReturnType<typeof exportedEntry> & { leaf: number; path: string[] })[];
  since?: { sequence: number; size: number; root: string; path: string[] } | undefined;
}

/** The newest entry and its tree; undefined if the ledger was never written. */
export async function auditHead(ledger: ReadOnlyLedger): Promise<AuditHeadFacts | undefined> {
  const newest = ledger.db.selectFrom("audit").select(["sequence", "hash", "at"]).orderBy("sequence", "desc").limit(1);
  const entry = await newest.executeTakeFirst();
  if (entry === undefined) return undefined;
  const { size, root } = ledger.reading(provenTree);
  if (size !== entry.sequence) throw unreadableRow("audit_tree", "1", "size");
  return { ...entry, size, root, ledger: await ledgerName(ledger) };
}

export async function auditEntries(
  ledger: ReadOnlyLedger,
  { before = Number.MAX_SAFE_INTEGER, limit }: { before?: number | undefined; limit: number },
): Promise<AuditFacts[]> {
  const rows = await ledger.db
    .selectFrom("audit")
    .select(["sequence", "at", "kind", "subject", "body", "hash"])
    .where("sequence", "<", before)
    .orderBy("sequence", "desc")
    .limit(limit)
    .execute();
  return rows.map(({ body, ...row }) => ({ ...row, body: stored<JsonObject>(body) }));
}

export async function headPlaces({ db }: ReadOnlyLedger): Promise<HeadPlaceFacts[]> {
  return await db
    .selectFrom("head_place")
    .select(["place", "sequence", "kept_at as keptAt", "problem", "failing_since as failingSince"])
    .orderBy("place")
    .execute();
}

/** Undefined if the ledger has learned nothing yet. */
export async function began(ledger: ReadOnlyLedger): Promise<string | undefined> {
  return await Promise.resolve(ledger.reading(ledgerBegan));
}

export async function ledgerName({ db }: ReadOnlyLedger): Promise<string | null> {
  const identity = await db.selectFrom("meta").select("value").where("key", "=", "ledger").executeTakeFirst();
  return identity?.value ?? null;
}

/** Verifies the audit log with its tree, guards and outside heads, then compares closed periods and links with it. */
export async function auditVerdicts(ledger: ReadOnlyLedger, heads: readonly KeptHead[]): Promise<AuditVerdicts> {
  const verdicts = ledger.reading((database) =>
    verifyRecord({ rows: entriesOf(database), heads, ...keptOf(database) }),
  );
  const changed = verdicts.integrity.good ? (closedBooksFinding(ledger) ?? linksFinding(ledger)) : undefined;
  return await Promise.resolve(
    changed === undefined ? verdicts : { ...verdicts, good: false, integrity: { good: false, ...changed } },
  );
}

/**
 * The entries about an order, each with its proof, without other orders. `since`: an entry whose head was kept; the
 * proof shows that the log has only grown since. Throws a Problem with exit code 65 if the proof would fail.
 */
export async function auditProof(
  ledger: ReadOnlyLedger,
  order: RecordKey,
  since: number | undefined,
): Promise<AuditProofFacts> {
  const subject = subjectOf("orders", order);
  const rows = await ledger.db
    .selectFrom("audit")
    .selectAll()
    .where("subject", "=", subject)
    .orderBy("sequence")
    .execute();
  return ledger.reading((database) => {
    const { size, root, rootOf } = provenTree(database);
    const entries = rows.map((row) => {
      const leaf = row.sequence - 1;
      return { ...exportedEntry(row), leaf, path: inclusionPath(leaf, size, rootOf) };
    });
    const grown =
      since === undefined || since > size
        ? {}
        : {
            since: { sequence: since, size: since, root: rootOf(0, since), path: consistencyPath(since, size, rootOf) },
          };
    const proof = { size, root, entries, ...grown };
    requireProven(subject, proof);
    return proof;
  });
}

/** Never hands out a proof that its reader would reject. */
function requireProven(subject: string, { size, root, entries, since }: AuditProofFacts): void {
  const unproven = entries.find(
    (entry) => auditHash(entry) !== entry.hash || rootBy(entry.hash, { leaf: entry.leaf, size }, entry.path) !== root,
  );
  if (unproven === undefined && (since === undefined || isGrown(since, { size, root }, since.path))) return;
  const what = unproven === undefined ? "the Merkle tree" : `entry ${unproven.sequence}`;
  throw refused(
    "audit.not-proven",
    subject,
    `somebody changed the audit log: ${what} does not match its root. No proof about ${subject} was made`,
    "`crm-sync audit verify` names the first problem. Do not change the ledger; compare it with a backup",
  );
}

/** The newest instant at which the ledger learned something; null if never. */
export async function asOf({ db }: ReadOnlyLedger): Promise<string | null> {
  const entry = await db.selectFrom("audit").select("at").orderBy("sequence", "desc").limit(1).executeTakeFirst();
  const read = await db
    .selectFrom("observation_read")
    .select(({ fn }) => fn.max("seen_at").as("at"))
    .executeTakeFirst();
  const instants = [entry?.at, read?.at].filter((at) => typeof at === "string").sort();
  return instants.at(-1) ?? null;
}

/** The audit log up to an entry, in pages: a slow reader keeps no state of the ledger open. */
function* auditRows(ledger: ReadOnlyLedger, upTo: number): Generator<AuditRow, void, void> {
  for (let after = Number.MIN_SAFE_INTEGER; ;) {
    const page = [
      ...ledger.rows(
        ledger.db
          .selectFrom("audit")
          .select(["sequence", "format", "at", "kind", "subject", "body", "previous", "hash", "salt"])
          .where("sequence", ">", after)
          .where("sequence", "<=", upTo)
          .orderBy("sequence")
          .limit(pageSize),
      ),
    ];
    yield* page;
    const last = page.at(-1);
    // Larger numbers are not exact, so the next page would begin with this entry again.
    if (last === undefined || last.sequence > Number.MAX_SAFE_INTEGER) return;
    after = last.sequence;
  }
}

export async function* auditExport(
  ledger: ReadOnlyLedger,
  form: string,
  between: number,
): AsyncGenerator<string, void, void> {
  const line = (value: object): string => `${JSON.stringify(value)}\n`;
  // Entry and tree are from one state; earlier entries never change.
  const head = await ledger.oneState(() => auditHead(ledger));
  const tree = new RecordTree();
  yield line({ export: form, entries: head?.sequence ?? 0 });
  if (head !== undefined)
    for (const row of auditRows(ledger, head.sequence)) {
      tree.take(row);
      yield line(exportedEntry(row));
      if (row.sequence % between === 0 && row.sequence < head.sequence) yield line({ checkpoint: tree.checkpoint() });
    }
  yield line({ end: tree.checkpoint() });
}

/** The first customer or person whose link differs from the last entry about it: calls would reach somebody else. */
function linksFinding(ledger: ReadOnlyLedger): AuditFinding | undefined {
  const found = ledger.reading((database) => database.prepare<[], UnsaidLink>(unsaidLink).get());
  if (found === undefined) return undefined;
  const { subject, id, said, sequence } = found;
  const why = sequence === null ? "no entry says so" : `entry ${sequence} says ${said ?? "that it is no more"}`;
  return { code: "links-changed", firstBad: sequence ?? 0, why: `${subject} is linked with ${id}, and ${why}` };
}

const fileSchema = z.object({ name: z.string(), sha256: z.string(), bytes: z.int() });
const closedSchema = z.looseObject({ closing: z.int(), files: z.array(fileSchema) });
const reopenedSchema = z.object({ closing: z.int(), by: z.string(), reason: z.string() });
const signedSchema = z.looseObject({ blocker: z.string(), facts: z.string(), by: z.string(), reason: z.string() });

interface Said {
  sequence: number;
  what: string;
  facts: string;
}

/** The first row of closed periods that differs from its entry, is missing, or has no entry. */
function closedBooksFinding(ledger: ReadOnlyLedger): AuditFinding | undefined {
  const said = new Map<string, Said>();
  for (const entry of entriesOfBooks(ledger)) for (const [row, fact] of saidBy(entry)) said.set(row, fact);
  const found = new Map<string, string>();
  for (const [row, facts] of rowsOfBooks(ledger)) found.set(row, facts);
  for (const [row, { sequence, what, facts }] of said) {
    const now = found.get(row);
    if (now === facts) continue;
    const why =
      now === undefined ? `is gone from the tables: entry ${sequence} says it` : `is not as entry ${sequence} says`;
    return { code: "books-changed", firstBad: sequence, why: `${what} ${why}` };
  }
  const more = [...found.keys()].find((row) => !said.has(row));
  if (more === undefined) return undefined;
  return { code: "books-changed", firstBad: 0, why: `${more} is in the tables, and no entry is about it` };
}

interface EntryOfBooks {
  sequence: number;
  at: string;
  kind: string;
  subject: string;
  body: string;
}

function entriesOfBooks(ledger: ReadOnlyLedger): Iterable<EntryOfBooks> {
  return ledger.rows(
    ledger.db
      .selectFrom("audit")
      .select(["sequence", "at", "kind", "subject", "body"])
      .where("subject", ">=", "period:")
      .where("subject", "<", "period;")
      .orderBy("sequence"),
  );
}

function* saidBy({
  sequence,
  at,
  kind,
  subject,
  body,
}: EntryOfBooks): Generator<[row: string, said: Said], void, void> {
  const period = subject.slice("period:".length);
  const words = stored<JsonObject>(body);
  if (kind === "period-closed") {
    const { closing, files } = closedSchema.parse(words);
    // Only the entry says how the person was identified.
    const { closing: _closing, files: _files, signedOff: _signed, who: _who, ...rest } = words;
    const what = `closing ${closing} of ${period}`;
    yield [what, { sequence, what, facts: canonicalJson({ ...rest, at }) }];
    for (const { name, ...file } of files)
      yield [`${name} of ${what}`, { sequence, what: `${name} of ${what}`, facts: canonicalJson(file) }];
  } else if (kind === "period-reopened") {
    const { closing, by, reason } = reopenedSchema.parse(words);
    const what = `that closing ${closing} of ${period} was opened again`;
    yield [what, { sequence, what, facts: canonicalJson({ at, by, reason }) }];
  } else if (kind === "signed-off") {
    const { blocker, facts, by, reason } = signedSchema.parse(words);
    const what = `the sign-off of ${blocker} for ${period} (${facts.slice(0, 8)})`;
    yield [what, { sequence, what, facts: canonicalJson({ at, by, reason, facts }) }];
  }
}

function* rowsOfBooks(ledger: ReadOnlyLedger): Generator<[row: string, facts: string], void, void> {
  const { db } = ledger;
  for (const row of ledger.rows(db.selectFrom("closed_period").selectAll().orderBy("period").orderBy("closing"))) {
    yield [`closing ${row.closing} of ${row.period}`, canonicalJson(closedFacts(row))];
    if (row.reopened_at !== null)
      yield [
        `that closing ${row.closing} of ${row.period} was opened again`,
        canonicalJson({ at: row.reopened_at, by: row.reopened_by, reason: row.reopened_reason }),
      ];
  }
  for (const { period, closing, name, sha256, bytes } of ledger.rows(
    db.selectFrom("closed_file").selectAll().orderBy("period").orderBy("closing").orderBy("name"),
  ))
    yield [`${name} of closing ${closing} of ${period}`, canonicalJson({ sha256, bytes })];
  for (const row of ledger.rows(db.selectFrom("sign_off").selectAll().orderBy("period").orderBy("blocker")))
    yield [signedName(row), canonicalJson({ at: row.at, by: row.by, reason: row.reason, facts: row.facts })];
}

function signedName({ blocker, period, facts }: SignOffTable): string {
  return `the sign-off of ${blocker} for ${period} (${facts.slice(0, 8)})`;
}

function closedFacts(row: ClosedPeriodTable): Record<string, Json> {
  return { ...closingFactsOf(row), by: row.closed_by, at: row.closed_at };
}
