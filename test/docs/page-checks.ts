import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { CommanderError } from "@commander-js/extra-typings";
import { parse } from "yaml";
import { z } from "zod";
import { anchorOf } from "../../scripts/docs/markdown.ts";
import { listedCodes } from "../../scripts/docs/codes-page.ts";
import { settingsOf } from "../../scripts/docs/settings.ts";
import { isJsonObject, type Json, type JsonObject } from "../../src/base/canonical-json.ts";
import { createProgram } from "../../src/cli/command-line.ts";
import { registerAll } from "../../src/cli/program.ts";
import { configSchema } from "../../src/config/config.ts";
import { jsonSchemaOf } from "../../src/config/schema.ts";
import { streams } from "../../src/crm/model.ts";
import { recordExamples } from "../../scripts/docs/record-examples.ts";

/** What is wrong with a page, as text of a page in its folder: links, commands, settings. Each gives what it found. */

export const project = join(import.meta.dirname, "../..");

/** The blocks of a language, without the indentation that they have inside a list. */
export function blocksOf(text: string, language: string): string[] {
  const fence = new RegExp(`^( *)\`\`\`${language}\\n([^]*?)^ *\`\`\`$`, "gmu");
  return [...text.matchAll(fence)].map(([, indent = "", body = ""]) =>
    body.replaceAll(new RegExp(`^${indent}`, "gmu"), ""),
  );
}

function withoutBlocks(text: string): string {
  return text.replaceAll(/^ *```[^]*?^ *```$/gmu, "");
}

const inlineCode = (text: string): string[] =>
  [...withoutBlocks(text).matchAll(/(?<!`)`([^`\n]+)`(?!`)/gu)].map(([, code = ""]) => code);

function anchorsOf(text: string): Set<string> {
  return new Set([...withoutBlocks(text).matchAll(/^#+ (.+)$/gmu)].map(([, heading = ""]) => anchorOf(heading)));
}

/** Links that lead nowhere: to no file, to a file outside the project, or to no heading of a page. `name`: of the page. */
export function deadLinks(name: string, text: string): string[] {
  const links = [...withoutBlocks(text).matchAll(/\]\((?!https?:)([^)\s]*)\)/gu)].map(([, target = ""]) => target);
  return links.filter((link) => {
    const [file = "", anchor] = link.split("#");
    const path = join(project, dirname(name), file);
    if (file !== "" && (!existsSync(path) || relative(project, path).startsWith(".."))) return true;
    if (anchor === undefined) return false;
    return !anchorsOf(file === "" ? text : readFileSync(path, "utf8")).has(anchor);
  });
}

/** What a sentence may leave out of a command. */
const incomplete = new Set([
  "commander.missingArgument",
  "commander.missingMandatoryOptionValue",
  "commander.optionMissingArgument",
  "commander.invalidArgument",
  "commander.help",
]);

/** Command lines that the program does not understand: in blocks for a shell as a whole, in sentences also in part. */
export async function wrongCommands(text: string): Promise<string[]> {
  const lines = blocksOf(text, "sh").flatMap((block) => block.split("\n"));
  const wrong: string[] = [];
  for (const [line, isWhole] of [
    ...lines.map((one) => [one, true] as const),
    ...inlineCode(text).map((one) => [one, false] as const),
  ]) {
    const typed = /(?:^|[\s"])(?:bin\/)?crm-sync (?!COMMAND|crm-sync|…)([^#|]+)/u.exec(line)?.[1];
    const isCommand = isWhole
      ? !/^(?:docker|kubectl|useradd|mkdir|systemctl|scripts\/)/u.test(line)
      : /^(?:bin\/)?crm-sync /u.test(line);
    if (typed === undefined || !isCommand) continue;
    const problem = await problemOf(typed);
    if (problem !== undefined && (isWhole || !incomplete.has(problem.code))) wrong.push(`${line}: ${problem.message}`);
  }
  return wrong;
}

/** Reads a command line as the program does, and carries nothing out. */
async function problemOf(line: string): Promise<CommanderError | undefined> {
  const words = [...line.matchAll(/"[^"]*"|'[^']*'|\S+/gu)]
    .map(([word]) => word.replaceAll(/^["']|["']$/gu, ""))
    .map((word) => (word === "--sandbox" ? "--sandbox=" : word));
  const program = createProgram("").configureOutput({ writeOut: () => {}, writeErr: () => {} });
  registerAll(program, async () => {});
  try {
    await program.parseAsync(words, { from: "user" });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError)
      return error.code === "commander.helpDisplayed" || error.code === "commander.version" ? undefined : error;
    throw error;
  }
}

const settings = new Set(
  settingsOf(jsonSchemaOf(configSchema)).flatMap(({ key }) => {
    const words = key.replaceAll(/<\w+>|\[\]/gu, "").split(".");
    return words.map((_, index) => words.slice(0, index + 1).join("."));
  }),
);
const codes = new Set([...listedCodes().values()].flat().map(({ code }) => code));
const isFile = /\.(?:csv|db|heads|html|json|md|sessions|yaml)$/u;
const topLevel = new Set(Object.keys(configSchema.shape));

/** Whether these words lead to a setting or to a map of settings; any word may be a name that one gives. */
function isSetting([first = "", ...rest]: readonly string[], before = ""): boolean {
  return [first, "*"].some((word) => {
    const key = before === "" ? word : `${before}.${word}`;
    return settings.has(key) && (rest.length === 0 || isSetting(rest, key));
  });
}

/** Settings that a page names in its sentences (`limits.newIds`) and that do not exist. */
export function unknownSettings(text: string): string[] {
  const named = inlineCode(text).flatMap((code) => /^([a-z]\w*(?:\.[\w*-]+)+)(?::.*)?$/u.exec(code)?.[1] ?? []);
  return named.filter(
    (key) =>
      topLevel.has(key.split(".")[0] ?? "") && !isSetting(key.split(".")) && !codes.has(key) && !isFile.test(key),
  );
}

/** What does not fit in the examples of a configuration: each is a part of one, from the top. */
export function wrongExamples(text: string): string[] {
  return blocksOf(text, "yaml").flatMap((block) => {
    const example = z.json().parse(parse(block));
    if (!isJsonObject(example)) return [`no map: ${block}`];
    return Object.entries(example).flatMap(([key, value]) =>
      problemsAt(key, key === "sources" ? mapped(value) : value),
    );
  });
}

function problemsAt(key: string, value: Json | undefined): string[] {
  const schema = Object.entries(configSchema.shape).find(([name]) => name === key)?.[1];
  if (schema === undefined) return [`${key} is no key of a configuration`];
  const parsed = schema.safeParse(value);
  return parsed.success
    ? []
    : parsed.error.issues.map(({ path, message }) => `${[key, ...path].join(".")}: ${message}`);
}

/** Sources in which each stream without a mapping has one. */
function mapped(sources: Json | undefined): JsonObject {
  const all: JsonObject = {};
  for (const [name, source] of Object.entries(isJsonObject(sources) ? sources : {})) {
    const streamsOf = isJsonObject(source) && isJsonObject(source["streams"]) ? source["streams"] : undefined;
    if (!isJsonObject(source) || streamsOf === undefined) {
      all[name] = source ?? null;
      continue;
    }
    const complete: JsonObject = { ...streamsOf };
    for (const stream of streams) {
      const settings = streamsOf[stream];
      if (isJsonObject(settings)) complete[stream] = { mapping: recordExamples[stream].mapping, ...settings };
    }
    const tables = isJsonObject(source["tables"]) ? source["tables"] : {};
    all[name] = { ...source, tables: { regions: { inline: { DE: "EMEA" } }, ...tables }, streams: complete };
  }
  return all;
}
