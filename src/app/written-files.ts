import { createWriteStream, renameSync, rmSync, statSync } from "node:fs";
import { once } from "node:events";
import { dirname } from "node:path";
import { finished } from "node:stream/promises";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { keepPrivate } from "../base/private-files.ts";
import type { ReadingGroup } from "../base/private-files.ts";

export type Chunks = Iterable<string | Buffer> | AsyncIterable<string | Buffer>;

/**
 * Writes a file for the owner, and for the group if there is one. It appears whole or not at all, in a folder that is
 * there. Not write-file-atomic: it wants the whole content in memory, and reports are streamed.
 */
export async function writeWhole(
  path: string,
  chunks: Chunks,
  options: { what: string; group: ReadingGroup | undefined },
): Promise<void> {
  const unfinished = `${path}.part`;
  try {
    const file = createWriteStream(unfinished, { mode: 0o600, flush: true });
    await once(file, "open");
    for await (const chunk of chunks) if (!file.write(chunk)) await once(file, "drain");
    file.end();
    await finished(file);
    keepPrivate(unfinished, options.group);
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    if (!(error instanceof Error && "syscall" in error)) throw error;
    throw cannotWrite(path, options.what, error);
  }
}

function cannotWrite(path: string, what: string, error: Error): Problem {
  const folder = dirname(path);
  const isMissing = statSync(folder, { throwIfNoEntry: false }) === undefined;
  return new Problem({
    code: "file.cannot-write",
    message: isMissing
      ? `the ${what} cannot be written to ${path}: there is no folder ${folder}`
      : `the ${what} cannot be written to ${path}: ${messageOf(error)}`,
    cure: isMissing
      ? `make the folder (\`mkdir -p ${folder}\`), or name a file in one that is there`
      : "check that the folder can be written to and has room",
    exitCode: isMissing ? exitCodes.usage : exitCodes.other,
    cause: error,
  });
}
