import { RE2JS, RE2JSException } from "re2js";
import type { Json } from "../../base/canonical-json.ts";
import { mistake, refuse, type KeyPath, type MappingContext } from "./context.ts";

/** Limits of a pattern. RE2 takes time proportional to text × pattern. */
const most = { characters: 500, steps: 1_000, repeats: 200, text: 10_000 };

/** Undefined, with a mistake, if the pattern is invalid or too large. */
export function compilePattern(written: Json | undefined, at: KeyPath, context: MappingContext): RE2JS | undefined {
  const wrong = (message: string): undefined => {
    mistake(context, at, message);
    return undefined;
  };
  if (typeof written !== "string" || written === "")
    return wrong(
      `${written === undefined ? "missing" : `found ${JSON.stringify(written)}`}; expected a pattern as text`,
    );
  if (written.length > most.characters || !written.isWellFormed())
    return wrong(`the pattern has ${written.length} characters; expected at most ${most.characters}`);
  const tooOften = [...written.matchAll(/\{(\d*),?(\d*)\}/g)].find((found) =>
    found.slice(1).some((times) => Number(times) > most.repeats),
  );
  if (tooOften !== undefined)
    return wrong(`the pattern repeats something ${tooOften[0]} times; expected at most ${most.repeats}`);
  try {
    const pattern = RE2JS.compile(written);
    if (pattern.programSize() <= most.steps) return pattern;
    return wrong(`the pattern has ${pattern.programSize()} steps; expected at most ${most.steps}: repeat less`);
  } catch (thrown) {
    if (!(thrown instanceof RE2JSException)) throw thrown;
    return wrong(`the pattern cannot be used: ${said(thrown.message)}`);
  }
}

function said(message: string): string {
  const [reason = ""] = /(?<=regexp: ).*/.exec(message) ?? [message];
  return /`\(\?(?:[=!]|<[=!])/.test(reason) || /escape sequence: `\\\d/.test(reason)
    ? `${reason}; look-arounds and backreferences can run away and are not taken`
    : reason;
}

export function searchable(text: string | undefined, context: MappingContext): string | undefined {
  return text === undefined || text.length <= most.text
    ? text
    : refuse(context, "too-long", text, `text of at most ${most.text} characters to search`);
}
