import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  parseSync,
  Visitor,
  type Argument,
  type Expression,
  type ObjectExpression,
  type ParamPattern,
  type Program,
} from "oxc-parser";

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

/** A file with what another one may import of it: functions that take a code, and constants. */
interface ParsedFile {
  path: string;
  program: Program;
  takers: Map<string, TakesCode>;
  values: Map<string, { start: number; value: Expression }[]>;
}

/** Every code in the source of the program, once for each place; that of its own resource comes first. */
export function saidCodes(files: readonly File[] = filesOfProgram()): SaidCode[] {
  const parsed = new Map(files.map((file) => [file.path, parsedFile(file)]));
  const methods = new Map([...parsed.values()].flatMap(({ takers }) => [...takers]));
  const isAtHome = ({ code, path }: SaidCode): boolean => path.startsWith(`src/resources/${code.split(".")[0]}/`);
  const said = [...parsed.values()].flatMap((file) => {
    const imported = importedBy(file, parsed);
    const takerOf = (name: string, isMember: boolean): TakesCode | undefined =>
      file.takers.get(name) ?? imported.takers.get(name) ?? (isMember ? methods.get(name) : undefined);
    return codesIn(file, takerOf, imported.values);
  });
  return said.toSorted((one, other) => Number(isAtHome(other)) - Number(isAtHome(one)));
}

function filesOfProgram(): File[] {
  const paths = globSync("src/**/*.ts", { cwd: root }).sort();
  return paths.map((path) => ({ path, source: readFileSync(join(root, path), "utf8") }));
}

/** The functions with a parameter `code`, and the values of all constants and variables. */
function parsedFile({ path, source }: File): ParsedFile {
  const { program } = parseSync(path, source);
  const file: ParsedFile = { path, program, takers: new Map(), values: new Map() };
  const take = (name: string | undefined, params: readonly ParamPattern[]): void => {
    const names = params.map((param) => {
      const one = param.type === "AssignmentPattern" ? param.left : param;
      return one.type === "Identifier" ? one.name : "";
    });
    const index = names.indexOf("code");
    if (name !== undefined && index >= 0) file.takers.set(name, { index, names });
  };
  new Visitor({
    FunctionDeclaration: (node) => take(node.id?.name, node.params),
    MethodDefinition: ({ key, value }) => {
      if (key.type === "Identifier" || key.type === "PrivateIdentifier") take(key.name, value.params);
    },
    VariableDeclarator: ({ id, init, start }) => {
      if (id.type !== "Identifier" || init === null) return;
      if (init.type === "ArrowFunctionExpression") take(id.name, init.params);
      file.values.set(id.name, [...(file.values.get(id.name) ?? []), { start, value: init }]);
    },
  }).visit(program);
  return file;
}

/** What a file can call by its name because it imports it. */
function importedBy(
  { path, program }: ParsedFile,
  all: ReadonlyMap<string, ParsedFile>,
): { takers: Map<string, TakesCode>; values: Map<string, Expression> } {
  const imported = { takers: new Map<string, TakesCode>(), values: new Map<string, Expression>() };
  new Visitor({
    ImportDeclaration: ({ source: from, specifiers }) => {
      const there = all.get(join(dirname(path), from.value));
      for (const one of specifiers) {
        const name = one.type === "ImportSpecifier" && "name" in one.imported ? one.imported.name : "";
        const taker = there?.takers.get(name);
        if (taker !== undefined) imported.takers.set(one.local.name, taker);
        const value = there?.values.get(name)?.[0]?.value;
        if (value !== undefined) imported.values.set(one.local.name, value);
      }
    },
  }).visit(program);
  return imported;
}

function codesIn(
  { path, program, values }: ParsedFile,
  takerOf: (name: string, isMember: boolean) => TakesCode | undefined,
  imported: ReadonlyMap<string, Expression>,
): SaidCode[] {
  const said: SaidCode[] = [];
  const valueOf = (node: Expression): Expression => {
    if (node.type !== "Identifier") return node;
    const own = values.get(node.name)?.findLast(({ start }) => start < node.start)?.value;
    return own ?? imported.get(node.name) ?? node;
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
      const isMember = callee.type === "MemberExpression";
      const called = isMember ? callee.property : callee;
      const isName = called.type === "Identifier" || called.type === "PrivateIdentifier";
      const taker = isName ? takerOf(called.name, isMember) : undefined;
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
