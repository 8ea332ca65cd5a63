import { appendFileSync, closeSync, constants, fstatSync, fsyncSync, openSync } from "node:fs";
import { resolve } from "node:path";
import type { JsonObject } from "../base/canonical-json.ts";
import { messageOf } from "../base/errors.ts";
import type { KnownSecrets } from "../base/known-secrets.ts";
import { UnfitFile } from "../base/regular-file.ts";
import type { Logger } from "../base/logger.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { HeadPlace } from "../engine/run/run-settings.ts";
import { postJson } from "./webhook.ts";

export interface HeadPlaceDependencies {
  places: readonly HeadPlace[];
  /** The head of the audit log, as a line of the file of heads; undefined if there is no head. */
  head: () => Promise<(JsonObject & { sequence: number }) | undefined>;
  ledger: Ledger;
  logger: Logger;
  /** The start of relative paths. */
  directory: string;
  /** Resolves a reference such as `env:NAME`. */
  secret: (reference: string) => string;
  known: KnownSecrets;
}

/**
 * Writes the head of the audit log to each configured place outside the database. A failing place does not stop the
 * others: the ledger records since when, people get an alert, and the next run tries again.
 */
export async function keepHeadOutside(deps: HeadPlaceDependencies): Promise<void> {
  const { places, ledger, logger } = deps;
  const named = namesOf(places, deps.known);
  await ledger.audit.onlyPlaces(named.map(({ name }) => name));
  if (places.length === 0) return;
  let head;
  for (const { place, name } of named) {
    try {
      head ??= await deps.head();
      if (head === undefined) return;
      await keep(place, JSON.stringify(head), deps);
      await ledger.audit.headKept(name, head.sequence);
    } catch (error) {
      if (ledger.broken !== undefined) throw error;
      const problem = deps.known.words(messageOf(error));
      logger.error({ event: "head.not-kept", place: name, problem }, "a head of the audit log could not be kept");
      await ledger.audit.headNotKept(name, problem);
    }
  }
}

/** The places with their names. Equal names get a number, because each place has its own alerts. */
function namesOf(places: readonly HeadPlace[], known: KnownSecrets): { place: HeadPlace; name: string }[] {
  const counts = new Map<string, number>();
  return places.map((place) => {
    const name = known.words(nameOf(place));
    const number = (counts.get(name) ?? 0) + 1;
    counts.set(name, number);
    return { place, name: number === 1 ? name : `${name} (${number})` };
  });
}

/** A place for display, without query and user. */
function nameOf(place: HeadPlace): string {
  if (place.kind === "file") return place.path;
  const { origin, pathname } = new URL(place.url);
  return `${origin}${pathname}`;
}

/** Writes to the file itself: not through a link, nor into a pipe without a reader. */
const appending =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

async function keep(place: HeadPlace, line: string, { directory, secret }: HeadPlaceDependencies): Promise<void> {
  if (place.kind === "webhook") {
    await postJson(place, line, secret);
    return;
  }
  // The file is only appended to, so an append-only file works. Each line starts with a line break, so that a
  // half-written line after a crash does not damage the next one.
  const file = openSync(resolve(directory, place.path), appending, 0o600);
  try {
    if (!fstatSync(file).isFile()) throw new UnfitFile("it is no regular file");
    appendFileSync(file, `\n${line}`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
