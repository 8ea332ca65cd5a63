import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { resolve } from "node:path";
import { keepNewerHead } from "../ledger/audit/audit-heads.ts";
import { ledgerName } from "../ledger/identity.ts";
import { keepHeadOutside } from "../run/head-places.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Application } from "./application.ts";
import { signedHead } from "./audit-record.ts";

/** Writes the head of the audit log to each configured place, signed where there is a key. */
export async function keepHead(application: Application, ledger: Ledger): Promise<void> {
  await keepHeadOutside({
    places: application.config.audit.heads,
    head: async () => {
      const found = await signedHead(application);
      if (found === undefined) return undefined;
      const { sequence, hash, size, root, at, ledger: name } = found.head;
      return { sequence, hash, size, root, at, ledger: name, checkpoint: found.signed?.checkpoint };
    },
    ledger,
    logger: application.logger,
    directory: application.directory,
    secret: (reference) => application.secrets.reveal(reference),
    known: application.secrets.known,
  });
}

/** So much of the end of a file of heads holds the newest of them. */
const tailBytes = 64 * 1024;

/**
 * Looks at the files outside that heads are kept in, before the ledger is opened for writing: only they know of what a
 * snapshot of the whole machine took back. A place that cannot be read says nothing; that it cannot be written either
 * is told after the run.
 */
export function compareHeadPlaces({
  config,
  directory,
  ledgerPath,
}: Pick<Application, "config" | "directory" | "ledgerPath">): void {
  const files = config.audit.heads.flatMap((place) => (place.kind === "file" ? [resolve(directory, place.path)] : []));
  const name = files.length === 0 ? undefined : ledgerName(ledgerPath);
  if (name === undefined) return;
  for (const path of files) keepNewerHead(ledgerPath, name, tailOf(path));
}

function tailOf(path: string): string {
  let file;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    if (!stat.isFile()) return "";
    const tail = Buffer.alloc(Math.min(tailBytes, stat.size));
    return tail.toString("utf8", 0, readSync(file, tail, 0, tail.length, stat.size - tail.length));
  } catch {
    return "";
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
