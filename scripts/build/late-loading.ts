import type { Plugin } from "rolldown";
import { parseAst } from "rolldown/parseAst";

/** A node of the syntax tree, as far as it matters here. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** A piece of text that is put in place of another. */
interface Edit {
  start: number;
  end: number;
  text: string;
}

/**
 * Has each file of the bundle load another file, a package or a part of Node when something of it is used first, and
 * not at its own start: a command loads what it does, and no more. Modules of the program do nothing when they are
 * loaded but say what they hold, so that the order makes no difference.
 *
 * `const a = require("./a.js")` becomes an object whose property `$` requires it once, and `a.b` becomes `a.$.b`. What
 * is used in any other way is left as it is.
 */
export function lateLoading(): Plugin {
  return {
    name: "late-loading",
    renderChunk: (code) => ({ code: withLateLoading(code), map: null }),
  };
}

/** The text of a CommonJS file with its imports loaded late; lines stay where they are. */
export function withLateLoading(code: string): string {
  const program = asNode(parseAst(code));
  const imports = importsOf(program, code);
  const uses = usesIn(program, new Set(imports.map(({ name }) => name)));
  const edits = imports.flatMap((found) => {
    const all = uses.get(found.name) ?? [];
    const members = all.filter((use) => use.isObject && !found.owns(use.start));
    // Bound anew, handed on or assigned: it stays a plain import.
    if (all.some((use) => !use.isObject && !found.owns(use.start))) return [];
    return [...found.edits, ...members.map(({ end }) => ({ start: end, end, text: ".$" }))];
  });
  return edits
    .toSorted((one, other) => other.start - one.start)
    .reduce((text, { start, end, text: put }) => text.slice(0, start) + put + text.slice(end), code);
}

interface Import {
  name: string;
  /** What makes it late. */
  edits: Edit[];
  /** Whether the place is within its own statements. */
  owns(place: number): boolean;
}

function importsOf(program: Node, code: string): Import[] {
  const statements = nodesIn(program["body"]);
  return statements.flatMap((statement, at) => {
    const name = requiredName(statement);
    if (name === undefined) return [];
    const [declaration] = nodesIn(statement["declarations"]);
    const init = declaration === undefined ? undefined : nodeIn(declaration["init"]);
    if (init === undefined) return [];
    const required = code.slice(init.start, init.end);
    // What the bundler's own few lines need stays at hand.
    if (required.includes("rolldown-runtime")) return [];
    const next = statements[at + 1];
    // A package is followed by what makes a module of it: `a = __toESM(a)`.
    const wrapping = next === undefined ? undefined : wrapped(next, name, code, required);
    const own = wrapping === undefined || next === undefined ? [statement] : [statement, next];
    const value = wrapping ?? required;
    const text =
      `const ${name} = { get $() { const loaded = ${value}; ` +
      `Object.defineProperty(this, "$", { value: loaded }); return loaded; } };`;
    return [
      {
        name,
        edits: own.map(({ start, end }, index) => ({ start, end, text: index === 0 ? text : "" })),
        owns: (place) => own.some(({ start, end }) => start <= place && place < end),
      },
    ];
  });
}

/** The name in `const NAME = require("…");`; undefined for any other statement. */
function requiredName(statement: Node): string | undefined {
  const declarations = nodesIn(statement["declarations"]);
  const [declaration] = declarations;
  if (statement.type !== "VariableDeclaration" || declaration === undefined || declarations.length > 1)
    return undefined;
  const id = nodeIn(declaration["id"]);
  const init = nodeIn(declaration["init"]);
  const callee = init?.type === "CallExpression" ? nodeIn(init["callee"]) : undefined;
  if (id?.type !== "Identifier" || callee?.type !== "Identifier" || callee["name"] !== "require") return undefined;
  return String(id["name"]);
}

/** The right side of `NAME = f(NAME, …)` with what is required in place of NAME; undefined for any other statement. */
function wrapped(statement: Node, name: string, code: string, required: string): string | undefined {
  const assignment = nodeIn(statement["expression"]);
  if (statement.type !== "ExpressionStatement" || assignment?.type !== "AssignmentExpression") return undefined;
  const left = nodeIn(assignment["left"]);
  const right = nodeIn(assignment["right"]);
  if (left?.type !== "Identifier" || left["name"] !== name || right?.type !== "CallExpression") return undefined;
  const [first] = nodesIn(right["arguments"]);
  if (first?.type !== "Identifier" || first["name"] !== name) return undefined;
  return code.slice(right.start, first.start) + required + code.slice(first.end, right.end);
}

interface Use {
  start: number;
  end: number;
  /** It stands before a point or a bracket: `NAME.x`. */
  isObject: boolean;
}

/** Every place where one of these names stands, but for keys and properties that are called so. */
function usesIn(program: Node, names: ReadonlySet<string>): Map<string, Use[]> {
  const found = new Map<string, Use[]>();
  const walk = (node: Node, parent: Node | undefined, role: string): void => {
    const name = node["name"];
    if (node.type === "Identifier" && typeof name === "string" && names.has(name) && !isLabel(parent, role)) {
      const isObject = parent?.type === "MemberExpression" && role === "object";
      const uses = found.get(name) ?? [];
      uses.push({ start: node.start, end: node.end, isObject });
      found.set(name, uses);
    }
    for (const [key, value] of Object.entries(node)) {
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, node, key);
    }
  };
  walk(program, undefined, "");
  return found;
}

/** Whether what stands there in a node is a mere name: `x.NAME`, `{ NAME: 1 }`, `NAME() {}` of a class. */
function isLabel(parent: Node | undefined, role: string): boolean {
  if (parent === undefined || parent["computed"] === true || parent["shorthand"] === true) return false;
  return (parent.type === "MemberExpression" && role === "property") || role === "key";
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function asNode(value: unknown): Node {
  if (isNode(value)) return value;
  throw new TypeError("it is no syntax tree");
}

function nodeIn(value: unknown): Node | undefined {
  return isNode(value) ? value : undefined;
}

function nodesIn(value: unknown): Node[] {
  return Array.isArray(value) ? value.filter((one) => isNode(one)) : [];
}
