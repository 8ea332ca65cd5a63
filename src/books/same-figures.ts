import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Tolerances } from "../report/statement/shape.ts";
import { toleratedSchema } from "../report/statement/tolerances.ts";

type Bytes = AsyncIterable<string | Uint8Array>;

/** Of the header, only members of the frozen one count. Statements of different versions are not compared. */
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
    if (kept === made) continue;
    const [before, after] = line === 1 ? [headerIn(kept), headerIn(made)] : [];
    if (before === undefined || after === undefined) return { line, frozen: kept, now: made };
    if (before["version"] !== after["version"]) return "another version";
    if (!holds(before, after)) return { line, frozen: kept, now: made };
  }
}

/** Header members that may differ: the program, and the signature of the head. */
const uncompared = ["program", "auditHead.checkpoint"];

/** Header members compared as a whole: a missing tolerance means none. */
const comparedWhole = ["tolerances"];

function holds(frozen: unknown, now: unknown, place: readonly string[] = []): boolean {
  const [before, after] = [objectSchema.safeParse(frozen), objectSchema.safeParse(now)];
  if (!before.success || !after.success || comparedWhole.includes(place.join(".")))
    return isDeepStrictEqual(frozen, now);
  return Object.entries(before.data).every(([name, value]) => {
    const inside = [...place, name];
    if (uncompared.includes(inside.join("."))) return true;
    return Object.hasOwn(after.data, name) && holds(value, after.data[name], inside);
  });
}

const objectSchema = z.record(z.string(), z.unknown());
const firstLine = z.looseObject({ header: objectSchema });

function headerIn(line: string): Record<string, unknown> | undefined {
  try {
    return firstLine.parse(JSON.parse(`${line.replace(/,$/u, "")}}`)).header;
  } catch {
    return undefined;
  }
}

const headerSchema = z.looseObject({ tolerances: toleratedSchema.optional() });

/** The tolerances that a JSON statement used. Undefined if its header has none. */
export async function toleratedIn(statement: Bytes): Promise<Tolerances | undefined> {
  for await (const line of linesOf(statement)) {
    return headerSchema.parse(headerIn(line)).tolerances;
  }
  return undefined;
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
