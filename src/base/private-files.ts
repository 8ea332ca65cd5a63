import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
} from "node:fs";
import { spawnSync } from "node:child_process";
import { dirname, resolve } from "node:path";
import { exitCodes, Problem } from "./errors.ts";

export interface ReadingGroup {
  name: string;
  id: number;
}

const ownerFile = 0o600;
const groupFile = 0o640;
const ownerFolder = 0o700;
/** With the set-group bit, so that new files inside belong to the group. */
const groupFolder = 0o2750;

/** Looks in /etc/group and other sources of groups. Throws a Problem (exit code 78). */
export function groupNamed(name: string): ReadingGroup {
  const isPlain = /^[A-Za-z0-9_.][A-Za-z0-9_.@-]*$/u.test(name);
  const id = isPlain ? (idIn(groupFileText(), name) ?? idIn(askedGroups(name), name)) : undefined;
  if (id !== undefined) return { name, id };
  throw new Problem({
    code: "config.unknown-group",
    message: `ledger.group is ${JSON.stringify(name)}, but this system has no such group`,
    cure:
      "set ledger.group to an existing group (`getent group` lists them), or remove it: then only the owner may " +
      "read",
    exitCode: exitCodes.configuration,
    place: "ledger.group",
  });
}

function groupFileText(): string {
  try {
    return readFileSync("/etc/group", "utf8");
  } catch {
    return "";
  }
}

function askedGroups(name: string): string {
  return spawnSync("getent", ["group", name], { encoding: "utf8", timeout: 5_000 }).stdout ?? "";
}

function idIn(text: string, name: string): number | undefined {
  const found = text.split("\n").find((line) => line.startsWith(`${name}:`));
  const id = found?.split(":")[2];
  return id === undefined || !/^\d+$/u.test(id) ? undefined : Number(id);
}

/** Makes missing folders, for the owner and the group alone. Existing folders are unchanged. */
export function makePrivateFolder(path: string, group: ReadingGroup | undefined): void {
  // One by one: in /proc, making all at once never ends.
  const missing: string[] = [];
  for (let folder = resolve(path); !isFolder(folder); folder = dirname(folder)) missing.unshift(folder);
  for (const folder of missing) {
    try {
      mkdirSync(folder, { mode: ownerFolder });
    } catch (error) {
      // Somebody else made it meanwhile, or it is not a folder.
      if (!isFolder(folder)) throw error;
      continue;
    }
    if (group !== undefined) giveTo(folder, group, groupFolder);
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Restricts one of our own folders to the owner and the group. */
export function keepFolderPrivate(path: string, group: ReadingGroup | undefined): void {
  if (isFolderOf(path, group)) return;
  if (group === undefined) chmodSync(path, ownerFolder);
  else giveTo(path, group, groupFolder);
}

export function isFolderOf(path: string, group: ReadingGroup | undefined): boolean {
  const { mode, gid } = statSync(path);
  if (group === undefined) return (mode & 0o777) === ownerFolder;
  return (mode & 0o7777) === groupFolder && gid === group.id;
}

export function keepReadOnly(path: string, group: ReadingGroup | undefined): void {
  keepPrivate(path, group);
  chmodSync(path, statSync(path).mode & 0o440);
}

const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/** Only the owner and the group may read it. Returns the descriptor. Throws EEXIST, even for a link. */
export function openNew(path: string, group?: ReadingGroup): number {
  const file = openSync(path, newFile, ownerFile);
  if (group === undefined) return file;
  try {
    fchownSync(file, -1, group.id);
    fchmodSync(file, groupFile);
    return file;
  } catch (error) {
    closeSync(file);
    throw groupRefused(path, group, error);
  }
}

/** Nobody else may read it, even before it has content. False if a file exists. */
export function createPrivateFile(path: string): boolean {
  try {
    closeSync(openNew(path));
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/** Restricts a file to the owner and the group. Does nothing if it is missing. */
export function keepPrivate(path: string, group: ReadingGroup | undefined): void {
  const now = statSync(path, { throwIfNoEntry: false });
  if (now === undefined || !now.isFile()) return;
  const mode = now.mode & 0o777;
  if (group !== undefined) {
    if (mode !== groupFile || now.gid !== group.id) giveTo(path, group, groupFile);
  } else if (mode !== ownerFile) closeToOthers(path, mode);
}

function giveTo(path: string, group: ReadingGroup, mode: number): void {
  try {
    if (statSync(path).gid !== group.id) chownSync(path, -1, group.id);
    chmodSync(path, mode);
  } catch (error) {
    throw groupRefused(path, group, error);
  }
}

function groupRefused(path: string, group: ReadingGroup, cause: unknown): Problem {
  return new Problem({
    code: "config.group-refused",
    message:
      `${path} cannot be given to the group ${group.name} of ` +
      "ledger.group: this user does not own it, or is not in that group",
    cure:
      `run crm-sync as the owner of ${path} and as a member of ${group.name}, or set ledger.group to a group that ` +
      "this user is in",
    exitCode: exitCodes.configuration,
    place: "ledger.group",
    cause,
  });
}

function closeToOthers(path: string, mode: number): void {
  try {
    chmodSync(path, ownerFile);
  } catch (error) {
    if ((mode & 0o077) === 0) return;
    throw new Problem({
      code: "config.others-may-read",
      message: `${path} may be read by other users, and crm-sync cannot change that: the file belongs to another user`,
      cure: "run crm-sync as the owner of the file, or set ledger.group to the group that may read the file",
      exitCode: exitCodes.configuration,
      place: "ledger.path",
      cause: error,
    });
  }
}

/** When this returns, a file's content or a folder's names are on disk. */
export function flushFile(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
