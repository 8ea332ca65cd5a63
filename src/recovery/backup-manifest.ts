import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { z } from "zod";
import { canonicalJson, toJson } from "../base/canonical-json.ts";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { openRegular, readRegular } from "../base/regular-file.ts";
import { originOf, signerOf, type SigningPlace } from "../books/audit-record.ts";
import { isSignedBy, signatureOf, verifierKey } from "../ledger/audit/checkpoint.ts";
import { removeAbandoned } from "../ledger/database/lock.ts";

const hex = z.string().regex(/^[0-9a-f]{64}$/u);

export const manifestForm = "crm-sync backup 1";

const manifestSchema = z.strictObject({
  form: z.literal(manifestForm),
  ledger: z.string().nullable(),
  at: z.iso.datetime(),
  program: z.string(),
  schema: z.int(),
  commits: z.int().min(0),
  /** Null before the first audit entry. */
  audit: z.strictObject({ sequence: z.int().min(1), hash: hex, size: z.int().min(0), root: hex }).nullable(),
  file: z.string().regex(/^[^/\\]+\.db$/u),
  bytes: z.int().min(0),
  sha256: hex,
  /** Files of closed periods, by SHA-256, in `periods` beside the manifest. */
  periods: z.array(hex),
  /** Signature by `audit.signKey` over everything above. */
  signature: z.base64().optional(),
});

/** Contains only ids, counts and hashes. */
export type BackupManifest = z.infer<typeof manifestSchema>;

/** Complete, because the manifest is written last. */
interface KeptBackup {
  path: string;
  manifest: BackupManifest;
}

export function manifestPathOf(copy: string): string {
  return copy.replace(/\.db$/u, ".json");
}

/** Throws a Problem (exit code 65) if there is no valid manifest. */
export function readManifest(copy: string): BackupManifest {
  const path = manifestPathOf(copy);
  const none = (why: string, cause?: unknown): Problem =>
    new Problem({
      code: "backup.no-manifest",
      message: `${copy} cannot be restored: ${why}`,
      cure:
        "name a backup that `crm-sync backup` made, with its manifest (.json) in the same folder. Any other copy " +
        "of a ledger may contain only half of a change",
      exitCode: exitCodes.ledgerRefused,
      place: path,
      cause,
    });
  let text: unknown;
  try {
    text = JSON.parse(readRegular(path).toString("utf8"));
  } catch (error) {
    throw none(`its manifest ${path} cannot be read: ${messageOf(error)}`, error);
  }
  const read = manifestSchema.safeParse(text);
  if (!read.success) throw none(`${path} is not the manifest of a backup: ${z.prettifyError(read.error)}`);
  if (read.data.file !== basename(copy)) throw none(`its manifest ${path} belongs to ${read.data.file}`);
  return read.data;
}

function signedText(of: BackupManifest): string {
  const manifest = { ...of, signature: null };
  return `${manifestForm}\n${canonicalJson(toJson(manifest))}\n`;
}

/** Unsigned without a key. Throws a Problem if the key cannot be read. */
export function signedManifest(place: SigningPlace, manifest: BackupManifest): BackupManifest {
  const found = signerOf(place, manifest.ledger);
  if (found instanceof Problem) throw found;
  if (found === undefined) return manifest;
  return { ...manifest, signature: signatureOf(signedText(manifest), found.origin, found.key) };
}

/** `verifiers` empty: the signing key here, if configured. Without any key, everything is trusted. */
function isTrusted(place: SigningPlace, manifest: BackupManifest, verifiers: readonly string[]): boolean {
  const found = verifiers.length > 0 ? undefined : signerOf(place, manifest.ledger);
  if (found instanceof Problem) throw found;
  const own = found === undefined ? [] : [verifierKey(found.origin, found.key)];
  const keys = [...verifiers, ...own];
  const { signature = "" } = manifest;
  const origin = originOf(manifest.ledger);
  return keys.length === 0 || keys.some((key) => isSignedBy(key, origin, signedText(manifest), signature));
}

/** Throws a Problem (exit code 65) if none of the keys signed the manifest. Without a key nothing is checked. */
export function requireSigned(
  place: SigningPlace,
  copy: string,
  manifest: BackupManifest,
  verifiers: readonly string[],
): void {
  if (isTrusted(place, manifest, verifiers)) return;
  throw new Problem({
    code: "backup.not-signed",
    message:
      manifest.signature === undefined
        ? `${copy} cannot be restored: its manifest is not signed although \`audit.signKey\` is configured`
        : `${copy} cannot be restored: its manifest was changed, or another key signed it`,
    cure: "restore another backup. If an earlier key signed this one, name that key with --key. Nothing was restored",
    exitCode: exitCodes.ledgerRefused,
    place: manifestPathOf(copy),
  });
}

/** Complete backups of a ledger, oldest first. Manifests without our signature are skipped. */
export function backupsIn(place: SigningPlace, folder: string, ledger: string | null): KeptBackup[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .flatMap((name): KeptBackup[] => {
      const path = join(folder, name.replace(/\.json$/u, ".db"));
      try {
        const manifest = readManifest(path);
        return manifest.ledger === ledger && isTrusted(place, manifest, []) ? [{ path, manifest }] : [];
      } catch {
        return [];
      }
    })
    .toSorted((one, other) => (one.manifest.at < other.manifest.at ? -1 : 1));
}

/** Removes remains of killed backups. The manifest is moved last, so a copy without it is incomplete. */
export function removeUnfinished(folder: string): void {
  removeAbandoned(folder, (names) => {
    const manifest = names.find((name) => name.endsWith(".json"));
    if (manifest !== undefined && !existsSync(join(folder, manifest)))
      rmSync(join(folder, manifest.replace(/\.json$/u, ".db")), { force: true });
  });
}

export async function digestOf(path: string): Promise<{ sha256: string; bytes: number }> {
  const digest = createHash("sha256");
  let bytes = 0;
  for await (const chunk of createReadStream(path, { fd: openRegular(path) })) {
    if (!Buffer.isBuffer(chunk)) continue;
    digest.update(chunk);
    bytes += chunk.length;
  }
  return { sha256: digest.digest("hex"), bytes };
}
