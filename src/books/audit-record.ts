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

/** Name of the form of exports and proofs; see `docs/reference/audit/format.md`. */
const recordForm = "crm-sync audit record 2";

const entriesBetweenCheckpoints = 1_000;

interface SignedHead {
  head: AuditHeadFacts;
  signed: { checkpoint: string; verifier: string } | undefined;
  /** Why it is unsigned although a key is configured: a reader may lack the key. */
  unsigned?: string | undefined;
}

/** Undefined without an entry. Throws a Problem if the key cannot sign. */
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

/** The verifier of the signing key. Undefined if there is no key, or the caller may not read it. */
export async function ownVerifier(application: Application): Promise<string | undefined> {
  const found = signerOf(application, await (await application.inquiry()).ledgerName());
  return found === undefined || found instanceof Problem ? undefined : verifierKey(found.origin, found.key);
}

/** Tolerated clock difference of two machines. */
const mostAheadMs = 300_000;

/** `good` is null if the log has no entry. */
type Freshness = { good: boolean; why: string } | { good: null; why: string };

type AuditMark = KeptHead & { at: string; ledger?: string | null | undefined };

export interface AuditAnswer extends AuditVerdicts {
  freshness: Freshness;
  heads: string;
  /** Heads from elsewhere have signatures, but there is no key to check them. */
  isUnchecked: boolean;
}

/** The log is fresh if its last entry is at most `within` old and not in the future. */
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

function spoiledIn(path: string): AuditFinding[] {
  const line = spoiledLine(path);
  if (line === undefined) return [];
  const why = `line ${line} of ${path} is no head, and no crash leaves such a line: somebody changed it`;
  return [{ code: "head-broken", firstBad: 0, why }];
}

function withForged(verdicts: AuditVerdicts, [first]: readonly AuditFinding[]): AuditVerdicts {
  if (first === undefined || !verdicts.integrity.good) return verdicts;
  return { ...verdicts, good: false, integrity: { good: false, ...first } };
}

interface CopiedHeads {
  heads: AuditMark[];
  forged?: AuditFinding;
  isUnchecked: boolean;
}

/**
 * Throws a Problem if there are no heads, or one belongs to another ledger. A head that none of the keys signed does
 * not count; if `isNeeded`, neither does one without a signature.
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

function nameIn(note: KeptCheckpoint | undefined): string | undefined {
  return note === undefined || note.origin === originOf(null) ? undefined : note.origin.slice(originOf("").length);
}

function isOfAnother(ledger: string | null | undefined, name: string | null): boolean {
  return typeof ledger === "string" && name !== null && ledger !== name;
}

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
 * The newest head of this ledger in the text. With keys, only signed heads count. If the keys are unknown, a head counts
 * if its checkpoint fits it: to refuse too much is better than to send an order again.
 */
export function newestHead(
  text: string,
  name: string,
  verifiers: readonly string[] | undefined,
): AuditMark | undefined {
  const isSigned = ({ checkpoint, ...head }: AuditMark & { checkpoint?: string | undefined }): boolean => {
    try {
      const [note] = checkpoint === undefined ? [] : readNotes(checkpoint);
      return note !== undefined && isWhole(head, note, verifiers);
    } catch {
      return false;
    }
  };
  return marksIn(text).findLast(
    (mark) => mark.ledger === name && mark.sequence > 0 && (verifiers?.length === 0 || isSigned(mark)),
  );
}

function isWhole(
  { sequence, hash, root, size }: AuditMark,
  note: KeptCheckpoint,
  verifiers: readonly string[] | undefined,
): boolean {
  const isSigned = verifiers === undefined || verifiers.some((verifier) => note.isSigned(verifier));
  const isSize = size === undefined || note.size === size;
  return isSigned && isSize && note.sequence === sequence && note.hash === hash && note.root === root;
}

export async function exportLines(application: Application): Promise<AsyncGenerator<string, void, void>> {
  return (await application.inquiry()).auditExport(recordForm, entriesBetweenCheckpoints);
}

/** Shows no other entries. With `since`, also proves that the log only grew after that entry. */
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

export interface SigningPlace {
  config: { audit: Pick<Application["config"]["audit"], "signKey"> };
  secrets: Pick<Application["secrets"], "reveal">;
}

/** The signing key and its name. A Problem if the caller may not read the key. */
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

/** Signs as of the last entry, so the same head and key give the same bytes. Undefined without a usable key. */
export function headSigner(place: SigningPlace): SignHead {
  return (head) => {
    const found = signerOf(place, head.ledger);
    if (found === undefined || found instanceof Problem) return undefined;
    return signedNote({ ...head, origin: found.origin }, found.key);
  };
}

/** Name of the log in checkpoints. */
export function originOf(ledger: string | null): string {
  return `crm-sync/${ledger ?? "ledger"}`;
}

function revealed(secrets: SigningPlace["secrets"], reference: string): string | Problem {
  try {
    return secrets.reveal(reference);
  } catch (error) {
    return problemOf(error);
  }
}

const noSigningKey = new Problem({
  code: "config.no-signing-key",
  message: "`audit.signKey` does not name an Ed25519 private key in PEM format (PKCS #8)",
  cure: "make a key with `openssl genpkey -algorithm ed25519 -out audit.pem`, or remove the setting",
  exitCode: exitCodes.configuration,
});
