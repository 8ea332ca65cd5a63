import type { ColumnFacts } from "./columns.ts";
import { plainText } from "./columns.ts";
import { listNames } from "./names.ts";
import type { ListKind, Names } from "./names.ts";

/** A column that holds a field. */
export interface Found {
  column: ColumnFacts;
  /** Why it may be another one; undefined: its name is known. */
  doubt: string | undefined;
}

/** What a list most likely holds, by its own name and the names of its columns; undefined: nothing fits. */
export function kindOfList(name: string, columns: readonly ColumnFacts[]): ListKind | undefined {
  const plain = plainText(name);
  const kinds: ListKind[] = ["lines", "staff", "orders", "customers"];
  const called = kinds.filter((kind) => listNames[kind].called.some((word) => plain.includes(word)));
  if (called[0] !== undefined) return called[0];
  const scores = kinds.map((kind) => {
    const fields = Object.entries(listNames[kind].fields).filter(([field]) => field !== "order");
    return { kind, score: fields.filter(([, names]) => columns.some(({ plain: own }) => names.includes(own))).length };
  });
  const [best] = scores.sort((one, other) => other.score - one.score);
  return best === undefined || best.score < 2 ? undefined : best.kind;
}

/** The column of each known field of a list. A column is given to one field, but for ids, which several may read. */
export function columnsByField(kind: ListKind, columns: readonly ColumnFacts[]): Map<string, Found> {
  // Of what a list holds, the first contact of a customer says something of all of it.
  const mayRead = (field: string, { isOfList }: ColumnFacts): boolean =>
    !isOfList || (kind === "customers" && field.startsWith("admin"));
  const found = new Map<string, Found>();
  for (const [field, names] of Object.entries(listNames[kind].fields)) {
    for (const name of names) {
      const column = columns.find((item) => item.plain === name && mayRead(field, item));
      if (column === undefined) continue;
      found.set(field, { column, doubt: column.isOfList ? "it is taken from the first of a list" : undefined });
      break;
    }
  }
  const taken = new Set([...found.values()].map(({ column }) => column.path));
  for (const [field, names] of Object.entries(listNames[kind].fields)) {
    if (found.has(field)) continue;
    const like = names
      .map((name) => columns.find((item) => !taken.has(item.path) && mayRead(field, item) && isLike(item, name)))
      .find((column) => column !== undefined);
    if (like === undefined) continue;
    found.set(field, { column: like, doubt: "the name of the column only resembles it" });
    taken.add(like.path);
  }
  const id = found.has("id") ? undefined : columns.find((item) => !taken.has(item.path) && looksLikeId(item));
  if (id !== undefined && kind !== "lines")
    found.set("id", { column: id, doubt: "no column is named so; this one differs in all rows" });
  return found;
}

/** Ends of names that say something else of a thing than the thing. */
const ofAnotherKind = /(?:type|typ|art|id|date|datum|count|status|url|at)$/u;

function isLike({ plain, path }: ColumnFacts, name: string): boolean {
  if (name.length > 2 && path.includes(".") && plainText(path.slice(path.lastIndexOf(".") + 1)) === name)
    return name !== "name" && name !== "number" && name !== "code";
  if (name.length <= 3) return false;
  return plain.endsWith(name) || (plain.startsWith(name) && (!ofAnotherKind.test(plain) || ofAnotherKind.test(name)));
}

function looksLikeId({ isOfList, isUnique, isFilled, examples }: ColumnFacts): boolean {
  if (isOfList) return false;
  return isUnique && isFilled && examples.length > 1 && examples.every((text) => /^[\p{L}\p{N}_/-]{1,40}$/u.test(text));
}

/** The path of the field that tells the rows of a list apart, where one does. */
export function keyOfList(kind: ListKind, columns: readonly ColumnFacts[]): string | undefined {
  const id = columnsByField(kind, columns).get("id")?.column;
  return id !== undefined && id.isUnique && id.isFilled ? id.path : undefined;
}

/** The columns whose whole name is one of those of a field; one column may be several fields. */
export function columnsNamed(names: Names, columns: readonly ColumnFacts[]): Map<string, ColumnFacts> {
  const found = new Map<string, ColumnFacts>();
  for (const [field, called] of Object.entries(names)) {
    const column = called.map((name) => columns.find(({ plain }) => plain === name)).find((item) => item !== undefined);
    if (column !== undefined) found.set(field, column);
  }
  return found;
}
