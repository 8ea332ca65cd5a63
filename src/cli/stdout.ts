import { finished, writeWhole, type Chunks } from "../operate/written-files.ts";
import type { Output } from "./output.ts";

/** Writes to stdout as fast as it is read there, and no more once its reader has gone, such as `head -1`. */
async function toStdout({ stdout }: Pick<Output, "stdout">, chunks: Chunks): Promise<void> {
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

/** Writes to the file that a person named, or to stdout. */
export async function toFileOrStdout(
  output: Pick<Output, "stdout">,
  path: string | undefined,
  chunks: Chunks,
  options: Parameters<typeof writeWhole>[2],
): Promise<void> {
  if (path === undefined) await toStdout(output, chunks);
  else await writeWhole(path, chunks, options);
}

/**
 * Writes to stdout what is read from one state of the ledger. It is finished in a private file first: whoever reads
 * stdout slowly, or not at all, keeps no state of the ledger open, so that its log can be emptied.
 */
export async function toStdoutFromOneState(
  output: Pick<Output, "stdout">,
  ledgerPath: string,
  chunks: Chunks,
): Promise<void> {
  await toStdout(output, await finished(chunks, ledgerPath));
}
