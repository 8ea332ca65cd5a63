import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { declarationsOf, isNode } from "./declarations.ts";
import type { Declaration, Node } from "./declarations.ts";
import { filled, matchesOf, unknownIn } from "./match.ts";

/** Root of the project. */
export const project = join(import.meta.dirname, "../..");

/**
 * What is broken in a declaration. Each has to fit in it exactly once:
 * - `find`: code, of which white space, comments and line breaks do not count; `$row` in it stands for any variable,
 *   and in what replaces it for the same one; another one there would stand for nothing.
 * - `skips`: the statement that calls this function or method is left out, whatever it is called with.
 * - `never`, `always`: the condition that asks about this name is taken for false, or for true.
 */
type Change = { find: string; replace: string } | { skips: string } | { never: string } | { always: string };

/** One deliberate break of the program: where, what is broken there, and the test that has to turn red for it. */
export type Break = Change & {
  /** From the root of the project. */
  file: string;
  /** A function, `Class.method` or constant of the file. */
  within: string;
  /** Under `test/`. */
  test: string;
  /** Names of the test's groups and its own, with " > " between them. */
  title: string;
};

/** Breaks by what the broken program does, in words. */
export type Breaks = Readonly<Record<string, Break>>;

interface Place {
  start: number;
  end: number;
  replacement: string;
}

/** The last name of what is called: `f`, `a.f`, `this.#f`. */
function calledName(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === "MemberExpression") return calledName(node["property"]);
  if (node.type === "ChainExpression") return calledName(node["expression"]);
  return node.type === "PrivateIdentifier" ? `#${String(node["name"])}` : String(node["name"]);
}

function callsOf(statement: Node): string | undefined {
  let call = statement["expression"];
  while (isNode(call) && /^(?:Await|Unary|Chain)Expression$/u.test(call.type))
    call = call["argument"] ?? call["expression"];
  return isNode(call) && call.type === "CallExpression" ? calledName(call["callee"]) : undefined;
}

/** Whether a name stands in the condition. */
function asksAbout(nodes: readonly Node[], condition: Node, name: string): boolean {
  const names = nodes.filter(({ type }) => type === "Identifier" || type === "PrivateIdentifier");
  return names.some((node) => node.start >= condition.start && node.end <= condition.end && calledName(node) === name);
}

/** Where a break fits in a declaration. */
function placesIn(item: Break, text: string, { nodes: nodesOf, start, end }: Declaration): Place[] {
  if ("find" in item) {
    // The last item of a list has a comma behind it or not.
    const isItem = item.find.endsWith(",") && item.replace.endsWith(",");
    const [find, replace] = isItem ? [item.find.slice(0, -1), item.replace.slice(0, -1)] : [item.find, item.replace];
    const matches = matchesOf(find, text, { start, end });
    return matches.map((match) => ({ ...match, replacement: filled(replace, match.names) }));
  }
  const nodes = nodesOf();
  if ("skips" in item) {
    const statements = nodes.filter((node) => node.type === "ExpressionStatement" && callsOf(node) === item.skips);
    return statements.map((node) => ({ start: node.start, end: node.end, replacement: ";" }));
  }
  const [name, replacement] = "never" in item ? [item.never, "false"] : [item.always, "true"];
  const conditions = nodes
    .filter(({ type }) => type === "IfStatement" || type === "ConditionalExpression")
    .flatMap(({ test }) => (isNode(test) && asksAbout(nodes, test, name) ? [test] : []));
  return conditions.map((node) => ({ start: node.start, end: node.end, replacement }));
}

function placesOf(item: Break, text: string): Place[] {
  const within = declarationsOf(text).filter(({ name }) => name === item.within);
  return within.flatMap((part) => placesIn(item, text, part));
}

/** The text of the file, broken. */
export function broken(item: Break, text: string): string {
  const [place] = placesOf(item, text);
  return place === undefined ? text : `${text.slice(0, place.start)}${place.replacement}${text.slice(place.end)}`;
}

function textOf(file: string): string {
  const path = join(project, file);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

/** Every declaration of the program that a break fits in exactly once; first those of its own name. */
export function placesNow(item: Break): { file: string; within: string }[] {
  const files = ["src", "migrations"].flatMap((folder) =>
    readdirSync(join(project, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => `${folder}/${name}`),
  );
  const found = files.flatMap((file) => {
    const text = textOf(file);
    const parts = declarationsOf(text).filter((part) => placesIn(item, text, part).length === 1);
    return parts.map(({ name }) => ({ file, within: name }));
  });
  const same = found.filter(({ within }) => within === item.within);
  return same.length > 0 ? same : found;
}

function whatOf(item: Break): string {
  if ("find" in item) return item.find;
  if ("skips" in item) return item.skips;
  return "never" in item ? item.never : item.always;
}

/** What is wrong with a row that no longer fits; undefined for one that does. */
export function staleness(item: Break): string | undefined {
  const unknown = "find" in item ? unknownIn(item.replace, item.find) : [];
  if (unknown.length > 0) return `${unknown.join(", ")} of what replaces it is not in what is found`;
  const text = textOf(item.file);
  const count = placesOf(item, text).length;
  if (count === 1) return broken(item, text) === text ? "it changes nothing" : undefined;
  const now = placesNow(item).map((other) => `${other.within} of ${other.file}`);
  const hint = now.length === 0 ? "nothing of the program fits" : `it fits ${now.join(", ")}`;
  return `${count} × ${JSON.stringify(whatOf(item))} in ${item.within} of ${item.file}; ${hint}`;
}
