import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, relative, sep } from "node:path";

/** A file that is there and is not read; the message says why: "it is no regular file". */
export class UnfitFile extends Error {}

/**
 * Opens a regular file for reading and gives its descriptor. A pipe or a device is refused at once: opening it could
 * wait for ever. With a `folder`, a link that leads out of it is refused; the folder itself may be a link. Throws
 * UnfitFile or the error of the file system.
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

/** The bytes of a regular file. Throws as `openRegular` does. */
export function readRegular(path: string, folder?: string): Buffer {
  const file = openRegular(path, folder);
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** A path that names a file outside of the folder, as `../done/x.ok` does, may name it in that place alone. */
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
