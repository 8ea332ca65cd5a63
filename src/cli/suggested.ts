import type { Suggested } from "../operate/application.ts";
import type { Json } from "../base/canonical-json.ts";

/** The options that each command line has, as the program understood them. */
interface GlobalOptions {
  config?: string | undefined;
  sandbox?: string | true | undefined;
}

/** Members of a document in which commands are suggested. */
const suggesting: ReadonlySet<string> = new Set(["cure", "next"]);

/**
 * Gives each command that a text suggests the options that this command line had, so that it can be copied. What is
 * complete stays as it is. `written`: how a page writes them.
 */
export function suggestedWith({ config, sandbox }: GlobalOptions, commands: readonly string[]): Suggested {
  const options = [
    ...(config === undefined ? [] : [`--config ${typed(config)}`]),
    ...(sandbox === undefined ? [] : [sandbox === true ? "--sandbox" : `--sandbox=${typed(sandbox)}`]),
  ];
  if (options.length === 0) return (text) => text;
  const command = new RegExp(
    String.raw`\bcrm-sync (?=(?:${commands.map((name) => RegExp.escape(name)).join("|")})\b)`,
    "gu",
  );
  return (text, written = (plain) => plain) =>
    text.replaceAll(command, () => `crm-sync ${written(options.join(" "))} `);
}

/** A document as JSON, with what it suggests as `complete` gives it; nothing else in it is changed. */
export function jsonWithSuggestions(value: Json, complete: (text: string) => string): string {
  const completed = (item: unknown): unknown => (typeof item === "string" ? complete(item) : item);
  return JSON.stringify(value, (key, item: unknown) => {
    if (!suggesting.has(key)) return item;
    return Array.isArray(item) ? item.map(completed) : completed(item);
  });
}

/** A word as it is typed in a terminal. */
export function typed(word: string): string {
  return /^[\w./:@%+=,-]+$/u.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
