import type { Agreement, Comparison } from "./reconciliation/case.ts";

export interface TreeNode {
  kind: "asset" | "package" | "product";
  id: string;
  name: string;
  assetNumber: string | null;
  crm: boolean;
  sent: boolean;
  /** Null: not visible, or never read. */
  shown: boolean | null;
  verdict: Agreement | undefined;
  details: readonly string[];
  children: TreeNode[];
}

export interface OrderSides {
  /** In the order of the CRM. A `parent` outside this list is an asset. */
  things: readonly { kind: TreeNode["kind"]; id: string; item: string; parent: string | null; name: string }[];
  rows: readonly Comparison[];
  assetOf: ReadonlyMap<string, string>;
}

/** An order's merchandise as a tree: each asset under each of its numbers, with its contents. */
export function orderTree({ things, rows, assetOf }: OrderSides): TreeNode[] {
  const parts = rows.filter(({ level }) => level === "product" || level === "package");
  const byAsset = Map.groupBy(parts, (row) => row.assetNumber ?? null);
  const roots: TreeNode[] = [];
  const numbers = new Set<string | null>([...assetOf.keys(), ...byAsset.keys()]);
  for (const number of numbers) {
    const asset = number === null ? undefined : assetOf.get(number);
    const ofAssets = number === null ? unnumbered(things, assetOf) : [asset ?? number];
    for (const id of ofAssets) {
      const inside = things.filter((thing) => rootOf(things, thing.id) === id);
      const own = (byAsset.get(number) ?? []).filter(
        (row) => number !== null || inside.some(({ item }) => item === row.item),
      );
      roots.push(assetNode(id, number, { inside, rows: own, things }));
    }
  }
  return roots.toSorted((one, other) => compared(keyOf(one), keyOf(other)));
}

function keyOf({ id, assetNumber }: TreeNode): string {
  return `${id}\u0000${assetNumber ?? ""}`;
}

function compared(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function unnumbered(things: OrderSides["things"], assetOf: OrderSides["assetOf"]): string[] {
  const numbered = new Set(assetOf.values());
  return things.filter(({ kind, id }) => kind === "asset" && !numbered.has(id)).map(({ id }) => id);
}

function rootOf(things: OrderSides["things"], id: string): string {
  const byId = new Map(things.map((thing) => [thing.id, thing]));
  let at = id;
  for (let depth = 0; depth < 200; depth += 1) {
    const parent = byId.get(at)?.parent ?? null;
    if (parent === null) return at;
    at = parent;
  }
  return at;
}

function assetNode(
  id: string,
  assetNumber: string | null,
  { inside, rows, things }: { inside: OrderSides["things"]; rows: readonly Comparison[]; things: OrderSides["things"] },
): TreeNode {
  const asset = things.find((thing) => thing.kind === "asset" && thing.id === id);
  const left = new Set(rows);
  const nodeOf = (thing: OrderSides["things"][number]): TreeNode => {
    const row = [...left].find(({ level, item }) => level === thing.kind && item === thing.item);
    if (row !== undefined) left.delete(row);
    return {
      ...sidesOf(row, { kind: thing.kind, id: thing.item, name: thing.name, assetNumber }),
      crm: row?.inCrm ?? true,
      children: inside.filter(({ parent }) => parent === thing.id).map(nodeOf),
    };
  };
  const children = inside.filter(({ parent }) => parent === id).map(nodeOf);
  for (const row of left)
    children.push(
      sidesOf(row, {
        kind: row.level === "package" ? "package" : "product",
        id: row.item ?? "",
        name: "",
        assetNumber,
      }),
    );
  const all = children.flatMap(flat);
  return {
    kind: "asset",
    id,
    name: asset?.name ?? "",
    assetNumber,
    crm: asset !== undefined,
    sent: all.some(({ sent }) => sent),
    shown: all.some(({ shown }) => shown === true) ? true : all.every(({ shown }) => shown === false) ? false : null,
    verdict: undefined,
    details: [],
    children,
  };
}

function flat(node: TreeNode): TreeNode[] {
  return [node, ...node.children.flatMap(flat)];
}

function sidesOf(row: Comparison | undefined, of: Pick<TreeNode, "kind" | "id" | "name" | "assetNumber">): TreeNode {
  return {
    ...of,
    crm: row?.inCrm ?? false,
    sent: row?.sent ?? false,
    shown: row?.shown ?? null,
    verdict: row?.verdict,
    details: row?.details ?? [],
    children: [],
  };
}
