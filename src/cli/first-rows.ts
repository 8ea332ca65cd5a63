import type { Chunks } from "../operate/written-files.ts";
import { printable } from "../report/text.ts";

/** The header and the first rows of a CSV text (RFC 4180), safe on a terminal, and how many rows it has in all. */
export async function firstRows(chunks: Chunks, most: number): Promise<{ lines: string[]; rows: number }> {
  const lines: string[] = [];
  let count = 0;
  let record = "";
  for await (const chunk of chunks) {
    const parts = `${record}${String(chunk)}`.split("\r\n");
    record = parts.pop() ?? "";
    let open = "";
    for (const part of parts) {
      const whole = open === "" ? part : `${open}\r\n${part}`;
      // A line end within quotation marks belongs to the cell.
      if ((whole.split('"').length - 1) % 2 === 1) {
        open = whole;
        continue;
      }
      open = "";
      count += 1;
      if (count <= most + 1) lines.push(printable(whole));
    }
    if (open !== "") record = `${open}\r\n${record}`;
  }
  return { lines, rows: Math.max(0, count - 1) };
}
