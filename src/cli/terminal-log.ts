import type { DestinationStream } from "pino";
import { z } from "zod";
import { printable } from "../report/text.ts";

const logLine = z.looseObject({ level: z.int(), time: z.string(), msg: z.string().optional() });

const levels: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};

/** Log lines for a terminal: `2026-10-01 05:00:00 warn  held by a limit (hold h-1, count 7)`, with times in `zone`. */
export function terminalLog(write: (text: string) => void, zone: string): DestinationStream {
  return { write: (line) => write(textOfLine(line, zone)) };
}

function textOfLine(line: string, zone: string): string {
  const parsed = logLine.safeParse(JSON.parse(line));
  if (!parsed.success) return printable(line.trimEnd());
  const { level, time, msg = "", ...fields } = parsed.data;
  const at = Temporal.Instant.from(time).toZonedDateTimeISO(zone).toPlainDateTime();
  const details = Object.entries(fields).map(([name, value]) => `${name} ${wordsOf(value)}`);
  const text =
    `${at.toString({ smallestUnit: "second" }).replace("T", " ")} ` +
    `${(levels[level] ?? String(level)).padEnd(5)} ${msg}`;
  return printable(details.length === 0 ? text : `${text} (${details.join(", ")})`);
}

function wordsOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
