import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { z } from "zod";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { openRegular, readRegular } from "../base/regular-file.ts";
import { removeAbandoned } from "../ledger/database/held-folder.ts";

const hex = z.string().regex(/^[0-9a-f]{64}$/u);

/** The first words of a manifest, which say how it is to be read. */
export const manifestForm = "crm-sync backup 1";

const manifestSchema = z.strictObject({
  form: z.literal(manifestForm),
  /** The name of the ledger; null where it has none yet. */
  ledger: z.string().nullable(),
  /** When it was copied. */
  at: z.iso.datetime(),
  /** The version of the program that made it. */
  program: z.string(),
  /** The version of its schema. */
  schema: z.int(),
  /** Groups of changes that the ledger had committed. */
  commits: z.int().min(0),
  /** The last entry of the audit record and its Merkle tree; null before the first. */
  audit: z.strictObject({ sequence: z.int().min(1), hash: hex, size: z.int().min(0), root: hex }).nullable(),
  /** The same as a signed text, where there is a key. */
  checkpoint: z.string().optional(),
  /** The copy, beside the manifest. */
  file: z.string().regex(/^[^/\\]+\.db$/u),
  bytes: z.int().min(0),
  sha256: hex,
  /** Files of closed books, under their SHA-256 in `books` beside the manifest. */
  books: z.array(hex),
});

/** What is said of a backup beside it. Ids, counts and hashes only. */
export type BackupManifest = z.infer<typeof manifestSchema>;

/** A backup that is whole: its manifest is written last. */
export interface KeptBackup {
  path: string;
  manifest: BackupManifest;
}

/** The manifest of a copy stands beside it under its name. */
export function manifestPathOf(copy: string): string {
  return copy.replace(/\.db$/u, ".json");
}

/** Throws a Problem with exit code 65 where there is none, or it is none of ours. */
export function readManifest(copy: string): BackupManifest {
  const path = manifestPathOf(copy);
  const none = (why: string, cause?: unknown): Problem =>
    new Problem({
      code: "backup.no-manifest",
      message: `${copy} cannot be restored: ${why}`,
      cure:
        "name the file of a backup that `crm-sync backup` made, with its manifest (.json) beside it; a copy that was " +
        "made otherwise may hold half of a change",
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
  if (!read.success) throw none(`${path} is no manifest of a backup: ${z.prettifyError(read.error)}`);
  if (read.data.file !== basename(copy)) throw none(`its manifest ${path} is of ${read.data.file}`);
  return read.data;
}

/** The whole backups of a ledger in a folder, the oldest first. What is no manifest of it is passed over. */
export function backupsIn(folder: string, ledger: string | null): KeptBackup[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .flatMap((name): KeptBackup[] => {
      const path = join(folder, name.replace(/\.json$/u, ".db"));
      try {
        const manifest = readManifest(path);
        return manifest.ledger === ledger ? [{ path, manifest }] : [];
      } catch {
        return [];
      }
    })
    .toSorted((one, other) => (one.manifest.at < other.manifest.at ? -1 : 1));
}

/**
 * Removes what backups left in a folder whose process died. What was moved out already has no manifest beside it yet:
 * the last thing that is moved is that.
 */
export function removeUnfinished(folder: string): void {
  removeAbandoned(folder, (names) => {
    const manifest = names.find((name) => name.endsWith(".json"));
    if (manifest !== undefined && !existsSync(join(folder, manifest)))
      rmSync(join(folder, manifest.replace(/\.json$/u, ".db")), { force: true });
  });
}

/** The SHA-256 of a file, and its length. */
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
