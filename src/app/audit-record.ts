import { readFileSync } from "node:fs";
import { exitCodes, messageOf, Problem, usage } from "../base/errors.ts";
import { durationMs, durationSchema } from "../base/duration.ts";
import type { RecordKey } from "../crm/model.ts";
import { subjectOf } from "../crm/keys.ts";
import type { JsonObject } from "../base/canonical-json.ts";
import { headsPath, readMarks } from "../ledger/audit/audit-heads.ts";
import type { AuditHead } from "../ledger/audit/audit-log.ts";
import { readNote, signedNote, signingKey, verifierKey } from "../ledger/audit/checkpoint.ts";
import type { KeptCheckpoint } from "../ledger/audit/checkpoint.ts";
import type { AuditFinding, AuditVerdicts } from "../ledger/audit/verify-log.ts";
import type { AuditHeadFacts } from "../report/facts.ts";
import { ageOf, counted } from "../report/text.ts";
import { toInstant } from "../base/clock.ts";
import type { Application } from "./application.ts";

/** What exports and proofs say of their own form; `docs/audit-record.md` describes it. */
const recordForm = "crm-sync audit record 2";

/** After so many entries an export says how the tree stands. */
const entriesBetweenCheckpoints = 1_000;

/** The last entry with the tree, and the same as a signed text where there is a key. */
export interface SignedHead {
  head: AuditHeadFacts;
  signed: { checkpoint: string; verifier: string } | undefined;
}

/** The head as it is now; undefined where there is no entry. Throws a Problem where the key cannot sign. */
export async function signedHead(application: Application): Promise<SignedHead | undefined> {
  const head = await (await application.inquiry()).auditHead();
  if (head === undefined) return undefined;
  const { signKey } = application.config.audit;
  if (signKey === undefined) return { head, signed: undefined };
  const key = signingKey(application.secrets.reveal(signKey));
  if (key === undefined) throw noSigningKey;
  const origin = `crm-sync/${head.ledger ?? "ledger"}`;
  const at = toInstant(application.clock.now());
  return {
    head,
    signed: { checkpoint: signedNote({ ...head, origin, at }, key), verifier: verifierKey(origin, key) },
  };
}

/** The verifier of the key that signs here; undefined where there is none, or whoever reads may not have it. */
async function ownVerifier(application: Application): Promise<string | undefined> {
  try {
    return (await signedHead(application))?.signed?.verifier;
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

/** What `audit.signKey` names is no key that can sign. */
const noSigningKey = new Problem({
  code: "config.no-signing-key",
  message: "`audit.signKey` names no Ed25519 private key in PEM (PKCS #8)",
  cure: "make one with `openssl genpkey -algorithm ed25519 -out audit.pem`, or take the setting away",
  exitCode: exitCodes.configuration,
});

/** Whether the record is of now; null where it has no entry. */
export type Freshness = { good: boolean; why: string } | { good: null; why: string };

type AuditMark = AuditHead & { at: string };

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
  { copies, within, verifier }: { copies: readonly string[]; within: string; verifier?: string | undefined },
): Promise<AuditAnswer> {
  if (!durationSchema.safeParse(within).success)
    throw usage(`--within ${within} is no length of time`, "write it as 90m, 26h or 2d");
  const heads = headsPath(application.ledgerPath);
  const checkedBy = verifier ?? (await ownVerifier(application));
  const kept = copies.map((path) => headsIn(path, checkedBy, verifier !== undefined));
  const marks = [...readMarks(heads), ...kept.flatMap(({ heads: those }) => those)].filter(
    ({ sequence }) => sequence > 0,
  );
  const inquiry = await application.inquiry();
  const verdicts = await inquiry.auditVerdicts(marks);
  const newest = await inquiry.auditHead();
  const freshness = freshnessOf(verdicts, {
    lastAt: newest?.at,
    now: toInstant(application.clock.now()),
    within,
    outside: marks.reduce((most, { sequence }) => Math.max(most, sequence), 0),
  });
  const forged = kept.flatMap((one) => one.forged ?? []);
  return { ...withForged(verdicts, forged), freshness, heads };
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

/** A head that somebody changed is as good as none: what is wrong with it is said. */
function withForged(verdicts: AuditVerdicts, [first]: readonly AuditFinding[]): AuditVerdicts {
  if (first === undefined || !verdicts.integrity.good) return verdicts;
  return { ...verdicts, good: false, integrity: { good: false, ...first } };
}

/**
 * The heads in a copy of the file of heads, in a file that a configured place is, or in a checkpoint. Throws a Problem
 * where there is none. What the key did not sign is no head; where a signature `isNeeded`, that without one neither.
 */
function headsIn(
  path: string,
  verifier: string | undefined,
  isNeeded: boolean,
): { heads: AuditMark[]; forged?: AuditFinding } {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw usage(`the heads in ${path} cannot be read: ${messageOf(error)}`, "name a copy of the file of heads");
  }
  const found = signedHeadsIn(path, text);
  if (found.length === 0)
    throw usage(
      `no head stands in ${path}`,
      "name a copy of the file that lies beside the ledger as NAME.heads, or what `crm-sync audit head` signed",
    );
  if (verifier === undefined) return { heads: found };
  const wrong = found.find(({ note, ...head }) => (note === undefined ? isNeeded : !isWhole(head, note, verifier)));
  if (wrong === undefined) return { heads: found };
  const why = `the head of entry ${wrong.sequence} in ${path} is not as the key signed it`;
  return { heads: [], forged: { code: "head-signature", firstBad: wrong.sequence, why } };
}

/** The heads in a text, each with what was signed of it. */
function signedHeadsIn(path: string, text: string): (AuditMark & { note: KeptCheckpoint | undefined })[] {
  const lines = readMarks(path);
  if (lines.length > 0)
    return lines.map(({ checkpoint, ...head }) => ({
      ...head,
      note: checkpoint === undefined ? undefined : readNote(checkpoint),
    }));
  const note = readNote(text);
  return note === undefined ? [] : [{ ...note, note }];
}

function isWhole({ sequence, hash, root }: AuditMark, note: KeptCheckpoint, verifier: string): boolean {
  return note.isSigned(verifier) && note.sequence === sequence && note.hash === hash && note.root === root;
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
