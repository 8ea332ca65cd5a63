import { parseAst } from "vitest/node";
import { isJsonObject } from "../../src/base/canonical-json.ts";

/** A part of a file: a function, a method (`Class.#method`), a constant or another declaration at its top level. */
export interface Declaration {
  name: string;
  start: number;
  end: number;
  /** Everything in it. */
  nodes: () => readonly Node[];
}

/** A node of the syntax tree. */
export interface Node extends Readonly<Record<string, unknown>> {
  type: string;
  start: number;
  end: number;
}

export function isNode(value: unknown): value is Node {
  return isJsonObject(value) && typeof value["type"] === "string" && typeof value["start"] === "number";
}

/** The nodes right under a node. */
function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flatMap((value: unknown) => (Array.isArray(value) ? value : [value]))
    .filter((value) => isNode(value));
}

/** A node and all under it. */
function allOf(node: Node): Node[] {
  const all = [node];
  for (const found of all) all.push(...childrenOf(found));
  return all;
}

function nameOf(key: unknown): string {
  if (!isNode(key)) return "default";
  const name = String(key["name"] ?? key["value"]);
  return key.type === "PrivateIdentifier" ? `#${name}` : name;
}

const parsed = new Map<string, Declaration[]>();

/** What a file of the program declares, by names that stay when lines and local names change. */
export function declarationsOf(text: string): Declaration[] {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const found: Declaration[] = [];
  const add = (name: string, { start, end }: Node, node: Node): void =>
    void found.push({ name, start, end, nodes: () => allOf(node) });
  const program: unknown = parseAst(text, { lang: "ts" });
  for (const statement of isNode(program) ? childrenOf(program) : []) {
    const { declaration } = statement;
    const node = isNode(declaration) ? declaration : statement;
    if (node.type === "ClassDeclaration") {
      const body = childrenOf(node).find(({ type }) => type === "ClassBody");
      for (const member of body === undefined ? [] : childrenOf(body))
        add(`${nameOf(node["id"])}.${nameOf(member["key"])}`, member, member);
    } else if (node.type === "VariableDeclaration") {
      const one = childrenOf(node);
      for (const item of one) add(nameOf(item["id"]), one.length === 1 ? statement : item, item);
    } else add(nameOf(node["id"]), statement, node);
  }
  parsed.set(text, found);
  return found;
}
