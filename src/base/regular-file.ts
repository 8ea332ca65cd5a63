import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, relative, sep } from "node:path";

/** The message says why: "it is no regular file". */
export class UnfitFile extends Error {}

/**
 * Returns the descriptor. Rejects a pipe or a device, because opening it could wait forever. Rejects links that lead
 * out of `folder`, which may itself be a link. Throws UnfitFile or a file system error.
 */
export function openRegular(path: string, folder?: string): number {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const found = fstatSync(file);
    if (!found.isFile()) throw new UnfitFile(found.isDirectory() ? "it is a folder" : "it is no regular file");
    if (folder !== undefined && !isInside(file, path, folder)) throw new UnfitFile("a link leads out of its folder");
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

export function readRegular(path: string, folder?: string): Buffer {
  const file = openRegular(path, folder);
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** A path outside of the folder, such as `../done/x.ok`, must stay in its own folder. */
function isInside(file: number, path: string, folder: string): boolean {
  const real = realpathSync(path);
  const around = realpathSync(isBelow(path, folder) ? folder : dirname(path));
  const [opened, now] = [fstatSync(file, { bigint: true }), statSync(real, { bigint: true })];
  return isBelow(real, around) && opened.ino === now.ino && opened.dev === now.dev;
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
