import { createInterface } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import { Writable } from "node:stream";
import { usage } from "../base/errors.ts";

/** Asks for a password on a terminal, twice and unseen; from a pipe it takes the first line. */
export async function askedTwice(
  input: ReadStream | (NodeJS.ReadableStream & { isTTY?: boolean }),
  terminal: Pick<WriteStream, "write">,
): Promise<string> {
  if (input.isTTY !== true) return await lineOf(input, undefined);
  terminal.write("Password: ");
  const first = await lineOf(input, terminal);
  terminal.write("Once more: ");
  const second = await lineOf(input, terminal);
  if (first !== second) throw usage("the two passwords are not the same", "run it again");
  return first;
}

/** What is typed is written nowhere; only the end of the line is. */
async function lineOf(input: NodeJS.ReadableStream, terminal: Pick<WriteStream, "write"> | undefined): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: terminal !== undefined });
  try {
    return await new Promise((resolve, reject) => {
      lines.once("line", resolve);
      lines.once("SIGINT", () => reject(usage("no password was given", "run it again")));
      lines.once("close", () => reject(usage("no password was given", "type it, or pipe it in as one line")));
    });
  } finally {
    lines.close();
    terminal?.write("\n");
  }
}
