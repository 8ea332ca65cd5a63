import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import { messageOf, usage } from "../base/errors.ts";
import type { Person } from "../app/guided/person.ts";
import { safeLines } from "./output.ts";
import type { Output } from "./output.ts";
import { answerOf } from "./person-at-terminal.ts";

const answersSchema = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

/**
 * Somebody who wrote the answers into a file before: YAML, an answer or a list of answers for each id of a question.
 * What the file does not say is answered as usual, and an answer that cannot be taken ends it.
 */
export function personByFile(path: string, output: Output): Person {
  const answers = readAnswers(path);
  return {
    ask: async (question) => {
      const { id } = question;
      const said = answers.get(id)?.shift();
      if (said === undefined && question.usual === undefined)
        throw usage(`${path} does not answer ${id}: ${question.text}`, `add \`${id}: ANSWER\` to it`);
      if (said !== undefined && question.hidden === true)
        throw usage(`${path} holds a secret under ${id}`, "name it as env:NAME or file:/path instead");
      const answer = answerOf(question, said?.trim() ?? "");
      if (answer.ok) return await Promise.resolve(answer.value);
      throw usage(`${path}, ${id}: ${answer.error}`, "correct the answer");
    },
    tell: (text) => output.note(safeLines(text)),
    hear: (problem) => {
      throw problem;
    },
    end: () => {
      const [id] = [...answers].find(([, left]) => left.length > 0) ?? [];
      if (id !== undefined)
        throw usage(`${path} answers ${id}, which was not asked`, "take it out, or correct its name");
    },
  };
}

function readAnswers(path: string): Map<string, string[]> {
  let text: unknown;
  try {
    // Words such as 0012 and no stay as they are written.
    text = parse(readFileSync(path, "utf8"), { schema: "failsafe", maxAliasCount: 0, uniqueKeys: true });
  } catch (error) {
    throw usage(
      `the answers cannot be read from ${path}: ${messageOf(error).split("\n")[0] ?? ""}`,
      "write them as YAML",
    );
  }
  const parsed = answersSchema.safeParse(text ?? {});
  if (!parsed.success)
    throw usage(`${path} holds no answers`, "write `ID: ANSWER` for each, or `ID: [ANSWER, ANSWER]`");
  return new Map(Object.entries(parsed.data).map(([id, said]) => [id, Array.isArray(said) ? [...said] : [said]]));
}
