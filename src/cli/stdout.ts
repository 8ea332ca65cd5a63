import { createReadStream, mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeWhole } from "../app/written-files.ts";
import type { Chunks } from "../app/written-files.ts";
import type { Output } from "./output.ts";

/** Writes to stdout as fast as it is read there, and no more once its reader has gone, such as `head -1`. */
export async function toStdout({ stdout }: Pick<Output, "stdout">, chunks: Chunks): Promise<void> {
  for await (const chunk of chunks) {
    const isRead = await new Promise<boolean>((resolve, reject) => {
      const done = (error?: NodeJS.ErrnoException | null): void => {
        if (error === undefined || error === null) resolve(true);
        else if (error.code === "EPIPE") resolve(false);
        else reject(error);
      };
      if (stdout.write(chunk, done)) resolve(true);
    });
    if (!isRead) return;
  }
}

/**
 * Writes to stdout what is read from one state of the ledger. It is finished in a private file first: whoever reads
 * stdout slowly, or not at all, keeps no state of the ledger open, so that its log can be emptied.
 */
export async function toStdoutFromOneState(output: Pick<Output, "stdout">, chunks: Chunks): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "crm-sync-out-"));
  let file;
  try {
    const path = join(folder, "out");
    await writeWhole(path, chunks, { what: "result", group: undefined });
    file = createReadStream(path);
    await once(file, "open");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  await toStdout(output, file);
}
