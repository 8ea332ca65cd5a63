import { appendFileSync, closeSync, constants, fstatSync, fsyncSync, openSync, readSync } from "node:fs";
import { resolve } from "node:path";
import type { JsonObject } from "../base/canonical-json.ts";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import type { KnownSecrets } from "../base/known-secrets.ts";
import { UnfitFile } from "../base/regular-file.ts";
import type { HeadPlace } from "../engine/run/run-settings.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Application } from "../operate/application.ts";
import { postJson } from "../operate/notify/channels.ts";
import { newestHead, ownVerifier, signedHead } from "./audit-record.ts";

/** A failing place does not stop the others: the failure is recorded, people get an alert, and the next run retries. */
export async function keepHead(application: Application, ledger: Ledger): Promise<void> {
  const { config, logger } = application;
  const { known } = application.secrets;
  const named = namesOf(config.audit.heads, known);
  await ledger.audit.onlyPlaces(named.map(({ name }) => name));
  let head;
  for (const { place, name } of named) {
    try {
      head ??= await headOf(application);
      if (head === undefined) return;
      await keep(application, place, JSON.stringify(head));
      await ledger.audit.headKept(name, head.sequence);
    } catch (error) {
      if (ledger.broken !== undefined) throw error;
      const problem = known.words(messageOf(error));
      logger.error({ event: "head.not-kept", place: name, problem }, "a head of the audit log could not be kept");
      await ledger.audit.headNotKept(name, problem);
    }
  }
}

async function headOf(application: Application): Promise<(JsonObject & { sequence: number }) | undefined> {
  const found = await signedHead(application);
  if (found === undefined) return undefined;
  const { sequence, hash, size, root, at, ledger } = found.head;
  return { sequence, hash, size, root, at, ledger, checkpoint: found.signed?.checkpoint };
}

/** Equal names get a number, because each place has its own alerts. */
function namesOf(places: readonly HeadPlace[], known: KnownSecrets): { place: HeadPlace; name: string }[] {
  const counts = new Map<string, number>();
  return places.map((place) => {
    const name = known.words(nameOf(place));
    const number = (counts.get(name) ?? 0) + 1;
    counts.set(name, number);
    return { place, name: number === 1 ? name : `${name} (${number})` };
  });
}

/** Without query and user. */
function nameOf(place: HeadPlace): string {
  if (place.kind === "file") return place.path;
  const { origin, pathname } = new URL(place.url);
  return `${origin}${pathname}`;
}

/** Does not follow a link, nor block on a pipe without a reader. */
const appending =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

async function keep({ directory, secrets }: Application, place: HeadPlace, line: string): Promise<void> {
  if (place.kind === "webhook") {
    await postJson(place, line, (reference) => secrets.reveal(reference));
    return;
  }
  // Only appends, so an append-only file works. Lines start with a break, so that a half-written one spoils no other.
  const file = openSync(resolve(directory, place.path), appending, 0o600);
  try {
    if (!fstatSync(file).isFile()) throw new UnfitFile("it is no regular file");
    appendFileSync(file, `\n${line}`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** About 2,000 heads. */
const tailBytes = 1024 * 1024;

/**
 * Refuses a ledger without the newest head that a file outside has. A snapshot of the whole machine restores the ledger
 * and the heads beside it together. Throws a Problem (exit code 65). An unreadable file proves nothing.
 */
export async function requireNewestOutside(application: Application, ledger: Ledger): Promise<void> {
  const name = await ledger.identity.name();
  const verifiers = await verifiersOf(application);
  // Entries that a restore lost, and a rebuild read back, are missing for good.
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
        "put a newer copy of the ledger and its .heads file back. If you have no newer copy, set ledger.path to a new file and run " +
        "`crm-sync rebuild`. If somebody changed that file of heads, remove it from audit.heads",
      exitCode: exitCodes.ledgerRefused,
      place: ledger.path,
    });
  }
}

/** Empty without a configured key. Undefined if the key is unusable: then the signature of a head cannot be checked. */
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
