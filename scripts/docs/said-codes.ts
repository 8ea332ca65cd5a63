import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import type { Argument, Expression, ObjectExpression, ParamPattern } from "oxc-parser";

/** One place of the program that says a code: with what happened and what helps, as far as they are written there. */
export interface SaidCode {
  code: string;
  /** The file, from the root of the project. */
  path: string;
  /** Names of the members, or of the parameters, beside the code. */
  beside: ReadonlySet<string>;
  /** With an ellipsis for each value; undefined where it is made elsewhere. */
  message: string | undefined;
  hint: string | undefined;
}

const root = join(import.meta.dirname, "../..");
const isCode = (text: string): boolean => /^[a-z][a-z0-9]*(?:[.-][a-z0-9]+)*$/u.test(text);
const messages = ["message", "reason", "why", "what", "text"];
const hints = ["cure", "expected"];
/** A text with fewer words says nothing without its values. */
const minWords = 2;

/** Where a function takes a code, and the names of all it takes. */
interface TakesCode {
  index: number;
  names: readonly string[];
}

interface File {
  path: string;
  source: string;
}

/** Every code in the source of the program, once for each place. */
export function saidCodes(files: readonly File[] = filesOfProgram()): SaidCode[] {
  const takers = new Map(files.map((file) => [file.path, new Map(takersIn(file))]));
  return files.flatMap((file) => codesIn(file, takersKnownIn(file, takers)));
}

/** The functions with a code that a file can call by their name: its own, and those that it imports. */
function takersKnownIn(
  { path, source }: File,
  all: ReadonlyMap<string, ReadonlyMap<string, TakesCode>>,
): ReadonlyMap<string, TakesCode> {
  const known = new Map(all.get(path));
  new Visitor({
    ImportDeclaration: ({ source: from, specifiers }) => {
      const there = all.get(join(dirname(path), from.value));
      for (const one of specifiers) {
        const name = one.type === "ImportSpecifier" && "name" in one.imported ? one.imported.name : undefined;
        const taker = name === undefined ? undefined : there?.get(name);
        if (taker !== undefined) known.set(one.local.name, taker);
      }
    },
  }).visit(parseSync(path, source).program);
  return known;
}

function filesOfProgram(): File[] {
  const paths = globSync("src/**/*.ts", { cwd: root }).sort();
  return paths.map((path) => ({ path, source: readFileSync(join(root, path), "utf8") }));
}

/** The functions of a file that have a parameter `code`. */
function takersIn({ path, source }: File): [string, TakesCode][] {
  const found: [string, TakesCode][] = [];
  const take = (name: string | undefined, params: readonly ParamPattern[]): void => {
    const names = params.map((param) => {
      const one = param.type === "AssignmentPattern" ? param.left : param;
      return one.type === "Identifier" ? one.name : "";
    });
    const index = names.indexOf("code");
    if (name !== undefined && index >= 0) found.push([name, { index, names }]);
  };
  new Visitor({
    FunctionDeclaration: (node) => take(node.id?.name, node.params),
    MethodDefinition: (node) => {
      const { key, value } = node;
      if (key.type === "Identifier" || key.type === "PrivateIdentifier") take(key.name, value.params);
    },
    VariableDeclarator: ({ id, init }) => {
      if (id.type === "Identifier" && init?.type === "ArrowFunctionExpression") take(id.name, init.params);
    },
  }).visit(parseSync(path, source).program);
  return found;
}

function codesIn({ path, source }: File, takers: ReadonlyMap<string, TakesCode>): SaidCode[] {
  const said: SaidCode[] = [];
  const values = new Map<string, { start: number; value: Expression }[]>();
  const { program } = parseSync(path, source);
  new Visitor({
    VariableDeclarator: ({ id, init, start }) => {
      if (id.type !== "Identifier" || init === null) return;
      values.set(id.name, [...(values.get(id.name) ?? []), { start, value: init }]);
    },
  }).visit(program);
  const valueOf = (node: Expression): Expression => {
    if (node.type !== "Identifier") return node;
    return values.get(node.name)?.findLast(({ start }) => start < node.start)?.value ?? node;
  };
  const textOf = (node: Expression | undefined): string | undefined =>
    node === undefined ? undefined : joined(valueOf(node));
  const say = (given: Expression, names: readonly string[], at: (name: string) => Expression | undefined): void => {
    const first = (wanted: readonly string[]): string | undefined =>
      wanted.map((name) => textOf(at(name))).find((text) => (text?.match(/[\p{L}\d]+/gu) ?? []).length >= minWords);
    for (const code of literalsOf(valueOf(given)).filter(isCode))
      said.push({ code, path, beside: new Set(names), message: first(messages), hint: first(hints) });
  };
  new Visitor({
    ObjectExpression: (node) => {
      const members = membersOf(node);
      const code = members.get("code");
      if (code !== undefined) say(code, [...members.keys()], (name) => members.get(name));
    },
    CallExpression: ({ callee, arguments: given }) => {
      const called = callee.type === "MemberExpression" ? callee.property : callee;
      const isName = called.type === "Identifier" || called.type === "PrivateIdentifier";
      const taker = isName ? takers.get(called.name) : undefined;
      const code = taker === undefined ? undefined : expressionOf(given[taker.index]);
      if (taker === undefined || code === undefined) return;
      say(code, taker.names, (one) => expressionOf(given[taker.names.indexOf(one)]));
    },
  }).visit(program);
  return said;
}

function expressionOf(given: Argument | undefined): Expression | undefined {
  return given === undefined || given.type === "SpreadElement" ? undefined : given;
}

function membersOf(node: ObjectExpression): Map<string, Expression> {
  const members = new Map<string, Expression>();
  for (const one of node.properties)
    if (one.type === "Property" && one.key.type === "Identifier") members.set(one.key.name, one.value);
  return members;
}

/** The texts that an expression can be. */
function literalsOf(node: Expression): string[] {
  if (node.type === "Literal") return typeof node.value === "string" ? [node.value] : [];
  if (node.type === "ConditionalExpression") return [...literalsOf(node.consequent), ...literalsOf(node.alternate)];
  if (node.type === "LogicalExpression") return [...literalsOf(node.left), ...literalsOf(node.right)];
  if (node.type === "TSSatisfiesExpression" || node.type === "TSAsExpression") return literalsOf(node.expression);
  return [];
}

/** The text that an expression makes, the first one of several; undefined if it makes none. */
function joined(node: Expression): string | undefined {
  if (node.type === "ConditionalExpression") return joined(node.consequent) ?? joined(node.alternate);
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  if (node.type === "TemplateLiteral") return node.quasis.map(({ value }) => value.cooked ?? "").join("…");
  if (node.type !== "BinaryExpression" || node.operator !== "+") return undefined;
  const parts = [joined(node.left), joined(node.right)];
  return parts.every((part) => part === undefined) ? undefined : parts.map((part) => part ?? "…").join("");
}
