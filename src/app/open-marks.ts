import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { counted } from "../report/text.ts";
import { toChoose } from "../source/problems.ts";
import type { Finding } from "./check.ts";

/** What `init` left to a person in a configuration file and nobody has done yet. */
export function openMarks(file: string): Finding[] {
  const lines = readFileSync(file, "utf8").split("\n");
  const linesOf = (isMeant: (line: string) => boolean): number[] =>
    lines.flatMap((line, index) => (isMeant(line) ? [index + 1] : []));
  const chosen = linesOf((line) => !/^ *#/u.test(line) && line.includes(toChoose));
  const doubts = linesOf((line) => /^ *# DOUBT: /u.test(line));
  const what = basename(file);
  return [
    ...(chosen.length === 0
      ? []
      : [
          {
            what,
            good: false,
            kind: "records" as const,
            detail: `${counted(chosen.length, "column")} ${chosen.length === 1 ? "is" : "are"} still to be chosen: ${toChoose} (${linesText(chosen)})`,
            cure: "write a column in each place; `crm-sync schema SOURCE STREAM` lists those of a list",
          },
        ]),
    ...(doubts.length === 0
      ? []
      : [
          {
            what,
            good: true,
            warning: true as const,
            kind: "configuration" as const,
            detail: `${counted(doubts.length, "guess", "guesses")} of init ${doubts.length === 1 ? "is" : "are"} still marked DOUBT (${linesText(doubts)})`,
            cure: "correct each, and delete its comment",
          },
        ]),
  ];
}

/** Most lines that are named. */
const mostLines = 20;

function linesText(lines: readonly number[]): string {
  const more = lines.length > mostLines ? ", …" : "";
  return `${lines.length === 1 ? "line" : "lines"} ${lines.slice(0, mostLines).join(", ")}${more}`;
}
