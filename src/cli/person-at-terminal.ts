import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { cancelled } from "../app/guided/person.ts";
import type { Person, Question } from "../app/guided/person.ts";
import { describeProblem, safeLines } from "./output.ts";
import type { Output } from "./output.ts";

/** What a person types at. */
export type Keyboard = NodeJS.ReadableStream & { isTTY?: boolean | undefined };

/**
 * A person at a terminal, question by question and line by line: the libraries that draw boxes write a letter a line on
 * a terminal that says it has no columns, and readers of screens repeat what they draw.
 */
export function personAtTerminal(
  keyboard: Keyboard,
  output: Output,
  signal: AbortSignal,
): { person: Person; leave: () => void } {
  const shown = { isHidden: false };
  // What is typed before it is asked for waits for its question; nothing typed is kept to be shown again.
  const lines = createInterface({ input: keyboard, output: echo(output, shown), terminal: true, historySize: 0 });
  const typed: string[] = [];
  let hasLeft = false;
  let wake = (): void => undefined;
  const leave = (): void => {
    hasLeft = true;
    wake();
  };
  lines.on("line", (line) => {
    typed.push(line);
    wake();
  });
  for (const end of ["SIGINT", "close"] as const) lines.on(end, leave);
  signal.addEventListener("abort", leave);
  const nextLine = async (): Promise<string> => {
    while (typed.length === 0) {
      if (hasLeft || signal.aborted) throw cancelled();
      await new Promise<void>((resolve) => (wake = resolve));
    }
    return typed.shift() ?? "";
  };
  const person: Person = {
    async ask(question) {
      for (;;) {
        if (hasLeft || signal.aborted) throw cancelled();
        output.stderr.write(safeLines(questionText(question)));
        lines.setPrompt("> ");
        lines.prompt();
        shown.isHidden = question.hidden === true;
        const line = await nextLine();
        if (shown.isHidden) output.stderr.write("\n");
        shown.isHidden = false;
        const answer = answerOf(question, line.trim());
        if (answer.ok) return answer.value;
        output.stderr.write(`  ${safeLines(answer.error)}\n`);
      }
    },
    tell: (text) => output.note(safeLines(text)),
    hear: (problem) => output.note(describeProblem(problem)),
    end: () => undefined,
  };
  return {
    person,
    leave: () => {
      signal.removeEventListener("abort", leave);
      lines.close();
    },
  };
}

/** Shows what is typed, but for what is hidden. */
function echo(output: Output, shown: { isHidden: boolean }): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (!shown.isHidden) output.stderr.write(chunk.toString("utf8"));
      done();
    },
  });
}

function questionText({ text, usual, choices }: Question): string {
  const words = (choices ?? []).map(({ word, means }) => (means === "" ? word : `${word}: ${means}`));
  const listed = words.length === 0 ? "" : `\n  ${words.join("\n  ")}`;
  const hint = usual === undefined || usual === "" ? "" : ` [${usual}]`;
  return `\n${text}${hint}${listed}\n`;
}

/** What an answer comes to, or why it cannot be taken. A word may be shortened as long as it is clear. */
export function answerOf(
  { usual, choices, refusal }: Question,
  said: string,
): { ok: true; value: string } | { ok: false; error: string } {
  if (said === "" && usual === undefined) return { ok: false, error: "it is needed" };
  const value = said === "" ? (usual ?? "") : said;
  if (choices !== undefined) {
    const exact = choices.find(({ word }) => word === value.toLowerCase());
    const like = choices.filter(({ word }) => word.startsWith(value.toLowerCase()));
    const word = exact?.word ?? (like.length === 1 ? like[0]?.word : undefined);
    if (word === undefined) return { ok: false, error: `write ${choices.map((one) => one.word).join(" or ")}` };
    return { ok: true, value: word };
  }
  const error = refusal?.(value);
  return error === undefined ? { ok: true, value } : { ok: false, error };
}
