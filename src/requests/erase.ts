import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { formatKey } from "../crm/keys.ts";
import { isHeldFolder, removeAbandoned } from "../ledger/database/lock.ts";
import type { Erasable, Erased } from "../ledger/private/erasure.ts";
import { leftToPeopleBeside } from "../ledger/private/places.ts";
import { pathFrom, type Application } from "../operate/application.ts";
import { databaseMark, startOf } from "../operate/written-files.ts";
import { backupsIn } from "../recovery/backup-manifest.ts";

interface LeftToPeople {
  what: string;
  where: string;
}

export interface ErasedByHand extends Erased {
  /** Why bytes may remain in the ledger file; undefined if none do. */
  bytesLeft: string | undefined;
  byHand: LeftToPeople[];
}

/** Throws a Problem if the data must not be erased yet (64), or during a run (75). */
export async function eraseByHand(
  application: Application,
  whose: Erasable,
  decided: { by: string; reason: string },
): Promise<ErasedByHand> {
  const ledger = await application.existingLedger();
  ledger.runs.takeLock();
  try {
    const erased = await ledger.private.erase(whose, decided);
    const bytesLeft = await ledger.private.overwriteErased();
    const older = olderBackups(application, await ledger.identity.name(), erased);
    return { ...erased, bytesLeft, byHand: [...older, ...leftToPeople(application.ledgerPath, erased)] };
  } finally {
    ledger.runs.releaseLock();
  }
}

function olderBackups(application: Application, ledger: string, { entry }: Erased): LeftToPeople[] {
  const folders = application.jobs().flatMap(({ backup }) => {
    const folder = backup === undefined ? undefined : pathFrom(application.directory, backup.to);
    return folder !== undefined && existsSync(folder) ? [folder] : [];
  });
  return [...new Set(folders)]
    .flatMap((folder) => backupsIn(application, folder, ledger))
    .filter(({ manifest }) => entry !== undefined && manifest.at <= entry.at)
    .map(({ path }) => ({ what: "a backup from before now; make another one, and delete it", where: path }));
}

const ownEndings = /^(?:|-wal|-shm|\.heads|\.(?:lock|handing-out|sessions)(?:-journal)?)$/u;

function leftToPeople(ledgerPath: string, erased: Erased): LeftToPeople[] {
  const { standing, shown, stillCurrent, namedBy, unreadableRows } = erased;
  const folder = dirname(ledgerPath);
  const ledger = basename(ledgerPath);
  const isOwn = (name: string): boolean => name.startsWith(ledger) && ownEndings.test(name.slice(ledger.length));
  removeAbandoned(folder);
  const there = readdirSync(folder, { withFileTypes: true });
  const held = there.filter(({ name }) => isHeldFolder(name));
  const inUse = held.map(({ name }) => ({ what: "files of a command that is in progress", where: join(folder, name) }));
  const names = there.filter((file) => file.isFile() && !isOwn(file.name));
  const files = names.flatMap(({ name }): LeftToPeople[] => {
    const where = join(folder, name);
    if (startOf(where, databaseMark.length) === databaseMark) return [{ what: "a copy of a ledger", where }];
    return name.startsWith(ledger) ? [{ what: "files beside the ledger", where }] : [];
  });
  const onPlatform = standing.map(({ what, id, of }) => ({ what: `the ${what} of ${of} on the platform`, where: id }));
  const inSources = stillCurrent.map(({ stream, key, source }) => ({
    what: `the record of ${stream} ${formatKey(key)}, which comes with a new raw form once it changes`,
    where: `source ${source}`,
  }));
  const named = namedBy.map(({ stream, key, source }) => ({
    what: `the record of ${stream} ${formatKey(key)}, which the CRM gives with the name, number or address`,
    where: `source ${source}`,
  }));
  const rows = unreadableRows.map((where) => ({ what: "a row that cannot be read as a record", where }));
  const entries = shown.map(({ sequence, at, by }) => ({
    what: `outputs that ${by} saw, if they hold an erased value`,
    where: `entry ${sequence} of ${at}`,
  }));
  return [...files, ...inUse, ...onPlatform, ...inSources, ...named, ...rows, ...entries, ...leftToPeopleBeside];
}
