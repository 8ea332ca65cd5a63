import { z } from "zod";
import type { Tolerances } from "../report/statement/shape.ts";
import { toleratedSchema } from "../report/statement/tolerances.ts";

type Bytes = AsyncIterable<string | Uint8Array>;

/**
 * The first line in which two statements as JSON differ, but for the version of the program that their headers name. A
 * row stands on a line of its own. Undefined where the figures are the same; statements of different versions have
 * different columns, and are not compared.
 */
export async function firstDifference(
  frozen: Bytes,
  now: Bytes,
): Promise<{ line: number; frozen: string; now: string } | "another version" | undefined> {
  const one = linesOf(frozen);
  const other = linesOf(now);
  for (let line = 1; ; line += 1) {
    const [left, right] = [await one.next(), await other.next()];
    if (left.done === true && right.done === true) return undefined;
    const [kept, made] = [left.done === true ? "" : left.value, right.done === true ? "" : right.value];
    if (line === 1 && versionOf(kept) !== versionOf(made)) return "another version";
    if (kept !== made && (line > 1 || headerOf(kept) !== headerOf(made))) return { line, frozen: kept, now: made };
  }
}

const headerSchema = z.looseObject({ tolerances: toleratedSchema.optional() });

/** What the header of a statement as JSON says that it took for equal; undefined where it says nothing of that. */
export async function toleratedIn(statement: Bytes): Promise<Tolerances | undefined> {
  for await (const line of linesOf(statement)) {
    const text = line.replace(/^\{"header":/u, "").replace(/,$/u, "");
    return headerSchema.parse(JSON.parse(text)).tolerances;
  }
  return undefined;
}

/** The version of the statement, as its first line names it last. */
function versionOf(line: string): string | undefined {
  return /"version":(\d+)\},?$/u.exec(line)?.[1];
}

/** The first line of a statement without the version of the program. */
function headerOf(line: string): string {
  return line.replace(/"program":"[^"]*"/u, "");
}

async function* linesOf(chunks: Bytes): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let waiting = "";
  for await (const chunk of chunks) {
    waiting += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    const lines = waiting.split("\n");
    waiting = lines.pop() ?? "";
    yield* lines;
  }
  waiting += decoder.decode();
  if (waiting !== "") yield waiting;
}
