import { finished, writeWhole, type Chunks } from "../operate/written-files.ts";
import type { Output } from "./output.ts";

/** Writes as fast as the reader reads, and stops when the reader leaves, such as `head -1`. */
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

export async function toFileOrStdout(
  output: Pick<Output, "stdout">,
  path: string | undefined,
  chunks: Chunks,
  options: Parameters<typeof writeWhole>[2],
): Promise<void> {
  if (path === undefined) await toStdout(output, chunks);
  else await writeWhole(path, chunks, options);
}

/** Through a private file: a slow reader then keeps no state open, so that the write-ahead log can be emptied. */
export async function toStdoutFromOneState(
  output: Pick<Output, "stdout">,
  ledgerPath: string,
  chunks: Chunks,
): Promise<void> {
  await toStdout(output, await finished(chunks, ledgerPath));
}
