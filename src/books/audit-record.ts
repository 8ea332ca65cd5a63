import type { KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import type { JsonObject } from "../base/canonical-json.ts";
import { toInstant } from "../base/clock.ts";
import { durationMs, durationSchema } from "../base/duration.ts";
import { exitCodes, messageOf, Problem, problemOf, usage } from "../base/errors.ts";
import { subjectOf } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { SignHead } from "../inquiry/statement/statement.ts";
import { headsPath, marksIn, readCopiedMarks, readMarks, spoiledLine } from "../ledger/audit/audit-heads.ts";
import type { KeptHead } from "../ledger/audit/audit-log.ts";
import { readNotes, signedNote, signingKey, verifierKey, type KeptCheckpoint } from "../ledger/audit/checkpoint.ts";
import type { AuditFinding, AuditVerdicts } from "../ledger/audit/verify-log.ts";
import type { Application } from "../operate/application.ts";
import type { AuditHeadFacts } from "../report/facts.ts";
import { ageOf, counted, explainCommand } from "../report/text.ts";

/** What exports and proofs say of their own form; `docs/reference/audit/format.md` describes it. */
const recordForm = "crm-sync audit record 2";

/** After so many entries an export says how the tree stands. */
const entriesBetweenCheckpoints = 1_000;

/** The last entry with the tree, and the same as a signed text where there is a key. */
interface SignedHead {
  head: AuditHeadFacts;
  signed: { checkpoint: string; verifier: string } | undefined;
  /** Why there is none, where a key is configured: whoever only reads may not have it. */
  unsigned?: string | undefined;
}

/** The head as it is now; undefined where there is no entry. Throws a Problem where the key cannot sign. */
export async function signedHead(application: Application): Promise<SignedHead | undefined> {
  const head = await (await application.inquiry()).auditHead();
  if (head === undefined) return undefined;
  const found = signerOf(application, head.ledger);
  if (found === undefined) return { head, signed: undefined };
  if (found instanceof Problem) return { head, signed: undefined, unsigned: found.message };
  const { key, origin } = found;
  const at = toInstant(application.clock.now());
  const checkpoint = signedNote({ ...head, origin, at }, key);
  return { head, signed: { checkpoint, verifier: verifierKey(origin, key) } };
}

/** The verifier of the key that signs here; undefined where there is none, or whoever reads may not have it. */
export async function ownVerifier(application: Application): Promise<string | undefined> {
  const found = signerOf(application, await (await application.inquiry()).ledgerName());
  return found === undefined || found instanceof Problem ? undefined : verifierKey(found.origin, found.key);
}

/** Clocks of two machines may differ by so much. */
const mostAheadMs = 300_000;

/** Whether the record is of now; null where it has no entry. */
type Freshness = { good: boolean; why: string } | { good: null; why: string };

type AuditMark = KeptHead & { at: string; ledger?: string | null | undefined };

export interface AuditAnswer extends AuditVerdicts {
  freshness: Freshness;
  /** The file of heads beside the ledger. */
  heads: string;
  /** Whether heads from elsewhere are signed, and nobody checked it: there is no key. */
  isUnchecked: boolean;
}

/**
 * Walks the whole audit log and compares it with the heads kept outside the database: in the file beside it, and in
 * `copies` of that file. It is fresh where its last entry is no older than `within`, and not of a time to come.
 */
export async function verifyAudit(
  application: Application,
  { copies, within, verifiers }: { copies: readonly string[]; within: string; verifiers: readonly string[] },
): Promise<AuditAnswer> {
  if (!durationSchema.safeParse(within).success)
    throw usage(`--within ${within} is no length of time`, "write it as 90m, 26h or 2d");
  const heads = headsPath(application.ledgerPath);
  const own = verifiers.length > 0 ? undefined : await ownVerifier(application);
  const checkedBy = own === undefined ? verifiers : [own];
  const inquiry = await application.inquiry();
  const name = await inquiry.ledgerName();
  const kept = copies.map((path) => headsIn(path, name, checkedBy, verifiers.length > 0));
  const marks = [...readMarks(heads), ...kept.flatMap(({ heads: those }) => those)].filter(
    ({ sequence }) => sequence > 0,
  );
  const verdicts = await inquiry.auditVerdicts(marks);
  const freshness = freshnessOf(verdicts, {
    lastAt: verdicts.lastAt,
    now: toInstant(application.clock.now()),
    within,
    outside: marks.reduce((most, { sequence }) => Math.max(most, sequence), 0),
  });
  const forged = [...spoiledIn(heads), ...kept.flatMap((one) => one.forged ?? [])];
  const isUnchecked = kept.some((one) => one.isUnchecked);
  return { ...withForged(verdicts, forged), freshness, heads, isUnchecked };
}

function freshnessOf(
  { entries }: AuditVerdicts,
  { lastAt, now, within, outside }: { lastAt: string | undefined; now: string; within: string; outside: number },
): Freshness {
  if (lastAt === undefined) return { good: null, why: "there is no entry" };
  const age = ageOf(lastAt, now);
  const ahead = Date.parse(lastAt) - Date.parse(now);
  if (!(ahead <= mostAheadMs))
    return {
      good: false,
      why: `the last entry says that it is of ${lastAt}, which is still to come: a clock was wrong`,
    };
  if (-ahead > durationMs(within))
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

/** The first line of the file of heads beside the ledger that somebody changed. */
function spoiledIn(path: string): AuditFinding[] {
  const line = spoiledLine(path);
  if (line === undefined) return [];
  const why = `line ${line} of ${path} is no head, and no crash leaves such a line: somebody changed it`;
  return [{ code: "head-broken", firstBad: 0, why }];
}

/** A head that somebody changed is as good as none: what is wrong with it is said. */
function withForged(verdicts: AuditVerdicts, [first]: readonly AuditFinding[]): AuditVerdicts {
  if (first === undefined || !verdicts.integrity.good) return verdicts;
  return { ...verdicts, good: false, integrity: { good: false, ...first } };
}

/** Heads of a file that was kept elsewhere. */
interface CopiedHeads {
  heads: AuditMark[];
  /** The first that is not as the key signed it. */
  forged?: AuditFinding;
  /** Whether there are signatures that nobody checked. */
  isUnchecked: boolean;
}

/**
 * The heads in a copy of the file of heads, in a file that a configured place is, or in checkpoints. Throws a Problem
 * where there is none, or where one is not of the ledger of that name. What none of the keys signed is no head; where a
 * signature `isNeeded`, that without one neither.
 */
function headsIn(path: string, name: string | null, verifiers: readonly string[], isNeeded: boolean): CopiedHeads {
  const found = signedHeadsIn(path);
  const other = found.find(({ ledger, note }) => isOfAnother(ledger, name) || isOfAnother(nameIn(note), name));
  if (other !== undefined)
    throw new Problem({
      code: "audit.other-ledger",
      message:
        `${path} belongs to another ledger: its head of entry ${other.sequence} names that ledger. Nothing was ` +
        "verified",
      cure:
        "name the file of heads that was kept for this ledger. If it was kept for the ledger that was here before, " +
        "somebody replaced that ledger: change nothing, and compare the ledger with a backup",
      exitCode: exitCodes.ledgerRefused,
      place: path,
    });
  if (verifiers.length === 0) return { heads: found, isUnchecked: found.some(({ note }) => note !== undefined) };
  const wrong = found.find(({ note, ...head }) => (note === undefined ? isNeeded : !isWhole(head, note, verifiers)));
  if (wrong === undefined) return { heads: found, isUnchecked: false };
  const why =
    `the head of entry ${wrong.sequence} in ${path} is not as the key signed it; where an earlier key signed it, ` +
    "name each key with --key";
  return { heads: [], forged: { code: "head-signature", firstBad: wrong.sequence, why }, isUnchecked: false };
}

/** The name of the ledger in a checkpoint; undefined where it had none when it was signed. */
function nameIn(note: KeptCheckpoint | undefined): string | undefined {
  return note === undefined || note.origin === originOf(null) ? undefined : note.origin.slice(originOf("").length);
}

function isOfAnother(ledger: string | null | undefined, name: string | null): boolean {
  return typeof ledger === "string" && name !== null && ledger !== name;
}

/** The heads in a file, each with what was signed of it. */
function signedHeadsIn(path: string): (AuditMark & { note: KeptCheckpoint | undefined })[] {
  let found;
  try {
    const text = readFileSync(path, "utf8");
    const lines = readCopiedMarks(text).map(({ checkpoint, ...head }) => ({
      ...head,
      note: checkpoint === undefined ? undefined : readNotes(checkpoint)[0],
    }));
    found = [...lines, ...readNotes(text).map((note) => ({ ...note, note }))];
  } catch (error) {
    throw usage(`the heads in ${path} cannot be read: ${messageOf(error)}`, "name a copy of the file of heads");
  }
  if (found.some(({ sequence }) => sequence > 0)) return found;
  throw usage(
    `${path} has no head`,
    "name a copy of the file that lies beside the ledger as NAME.heads, or what `crm-sync audit head` printed",
  );
}

/**
 * The newest head of the ledger of this name in the end of a file of heads. What none of the keys signed is no head;
 * without keys each is one.
 */
export function newestHead(text: string, name: string, verifiers: readonly string[]): AuditMark | undefined {
  const isSigned = ({ checkpoint, ...head }: AuditMark & { checkpoint?: string | undefined }): boolean => {
    try {
      const [note] = checkpoint === undefined ? [] : readNotes(checkpoint);
      return note !== undefined && isWhole(head, note, verifiers);
    } catch {
      return false;
    }
  };
  return marksIn(text).findLast(
    (mark) => mark.ledger === name && mark.sequence > 0 && (verifiers.length === 0 || isSigned(mark)),
  );
}

function isWhole(
  { sequence, hash, root, size }: AuditMark,
  note: KeptCheckpoint,
  verifiers: readonly string[],
): boolean {
  const isSigned = verifiers.some((verifier) => note.isSigned(verifier));
  const isSize = size === undefined || note.size === size;
  return isSigned && isSize && note.sequence === sequence && note.hash === hash && note.root === root;
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
  const { entries, since: grown, size, root } = await inquiry.auditProof(order, since);
  if (since !== undefined && grown === undefined)
    throw usage(`the Merkle tree has no entry ${since}`, "name an entry of which a head was kept");
  if (entries.length === 0)
    throw usage(
      `no audit entry is about the order ${order.namespace}/${order.id}`,
      `\`${explainCommand("orders", order)}\` shows the details`,
    );
  return {
    proof: recordForm,
    about: subjectOf("orders", order),
    tree: { size, root },
    ...(grown === undefined ? {} : { since: { ...grown } }),
    entries: entries.map((entry): JsonObject => ({ ...entry })),
  };
}

/** What of the application signing needs. */
export interface SigningPlace {
  config: { audit: Pick<Application["config"]["audit"], "signKey"> };
  secrets: Pick<Application["secrets"], "reveal">;
}

/** The key that signs, and the name that it signs by; a Problem where whoever asks may not have it. */
export function signerOf(
  { config, secrets }: SigningPlace,
  ledger: string | null,
): { key: KeyObject; origin: string } | Problem | undefined {
  const { signKey } = config.audit;
  if (signKey === undefined) return undefined;
  const secret = revealed(secrets, signKey);
  if (secret instanceof Problem) return secret;
  const key = signingKey(secret);
  if (key === undefined) throw noSigningKey;
  return { key, origin: originOf(ledger) };
}

/**
 * Signs the head that a statement is printed with, as of its last entry: the same head and key give the same bytes. It
 * is printed without a signature where there is no key, or whoever asks may not have it.
 */
export function headSigner(place: SigningPlace): SignHead {
  return (head) => {
    const found = signerOf(place, head.ledger);
    if (found === undefined || found instanceof Problem) return undefined;
    return signedNote({ ...head, origin: found.origin }, found.key);
  };
}

/** Whose record a checkpoint is of. */
export function originOf(ledger: string | null): string {
  return `crm-sync/${ledger ?? "ledger"}`;
}

/** A secret, or why whoever asks does not have it. */
function revealed(secrets: SigningPlace["secrets"], reference: string): string | Problem {
  try {
    return secrets.reveal(reference);
  } catch (error) {
    return problemOf(error);
  }
}

/** What `audit.signKey` names is no key that can sign. */
const noSigningKey = new Problem({
  code: "config.no-signing-key",
  message: "`audit.signKey` does not name an Ed25519 private key in PEM format (PKCS #8)",
  cure: "make a key with `openssl genpkey -algorithm ed25519 -out audit.pem`, or remove the setting",
  exitCode: exitCodes.configuration,
});
