import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { makePrivateFolder } from "../../base/private-files.ts";

/** Only the owner may read what was answered. */
const ownerOnly = 0o600;

/**
 * Writes secrets and the configuration that names them: all of it, or nothing. A file that is there stays as it is, but
 * for the configuration where a person said so.
 */
export function writeFiles(
  configuration: { path: string; text: string; replaces: boolean },
  secrets: ReadonlyMap<string, string>,
): void {
  const made: string[] = [];
  const { path, text, replaces } = configuration;
  const beside = join(dirname(path), `.crm-sync-init.${process.pid}`);
  try {
    for (const [file, value] of secrets) {
      makePrivateFolder(dirname(file), undefined);
      writeNew(file, value, made);
    }
    writeNew(beside, text, made);
    // A link refuses where a file came up meanwhile.
    if (replaces) renameSync(beside, path);
    else linkSync(beside, path);
  } catch (error) {
    for (const file of made) rmSync(file, { force: true });
    throw error;
  }
  rmSync(beside, { force: true });
}

function writeNew(path: string, text: string, made: string[]): void {
  const file = openSync(path, "wx", ownerOnly);
  made.push(path);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
