import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { resolve } from "node:path";
import { exitCodes, Problem } from "../base/errors.ts";
import { keepHeadOutside } from "../operate/head-places.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Application } from "./application.ts";
import { newestHead, ownVerifier, signedHead } from "./audit-record.ts";

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

/** The end of a file of heads that is read: about 2,000 heads. */
const tailBytes = 1024 * 1024;

/**
 * Refuses a ledger that lacks the newest head that a file outside has of it: a snapshot of the whole machine brought it
 * back together with the heads beside it. Throws a Problem with exit code 65. A file that cannot be read says nothing;
 * that it cannot be written either is told after the run.
 */
export async function requireNewestOutside(application: Application, ledger: Ledger): Promise<void> {
  const name = await ledger.identity.name();
  const verifiers = await verifiersOf(application);
  if (verifiers === undefined) return;
  // What a restore lost, and a rebuild read back, is missing for good.
  const filled = ledger.gap.last()?.at ?? "";
  for (const place of application.config.audit.heads) {
    if (place.kind !== "file") continue;
    const path = resolve(application.directory, place.path);
    const newest = newestHead(tailOf(path), name, verifiers);
    if (newest === undefined || newest.at <= filled || ledger.audit.hashAt(newest.sequence) === newest.hash) continue;
    throw new Problem({
      code: "ledger.behind-outside",
      message:
        `the ledger ${ledger.path} is an older copy: ${path} says that on ${newest.at} it had the audit entry ` +
        `${newest.sequence}, and it has another entry or no entry there. Nothing was sent, because the missing ` +
        "changes, also orders, would be made a second time",
      cure:
        "put a newer copy of the ledger back. If you have no newer copy, set ledger.path to a new file and run " +
        "`crm-sync rebuild`. If somebody changed that file of heads, remove it from audit.heads",
      exitCode: exitCodes.ledgerRefused,
      place: ledger.path,
    });
  }
}

/** The key that heads must be signed with; none if none is configured, undefined if it cannot be used. */
async function verifiersOf(application: Application): Promise<string[] | undefined> {
  if (application.config.audit.signKey === undefined) return [];
  try {
    const verifier = await ownVerifier(application);
    return verifier === undefined ? undefined : [verifier];
  } catch {
    return undefined;
  }
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
