import { isJsonObject } from "../../base/canonical-json.ts";
import type { JsonObject } from "../../base/canonical-json.ts";
import { valuesAt } from "../mapping/ways.ts";
import { parsePath } from "../mapping/path.ts";
import { formatRawPath } from "../mapping/path.ts";
import { placeOf, ShapeOfRows } from "../shape.ts";

/** A field of a list as its first rows show it. */
export interface ColumnFacts {
  /** Its place as a mapping writes it. */
  path: string;
  /** Its name without case, blanks and signs: `customernumber`. */
  plain: string;
  /** Different values as text, a few of them. */
  examples: readonly string[];
  /** Whether no two rows have the same value, but for a few that are bad. */
  isUnique: boolean;
  /** Whether each row has a value, but for a few that are bad. */
  isFilled: boolean;
  /** It is a field of the first element of a list. */
  isOfList: boolean;
}

/** Texts that exports write where there is nothing. */
const usualNullTexts: readonly string[] = ["NULL", "null", "N/A", "n/a", "\\N"];

const mostExamples = 20;

/** From this share of the rows on, something holds for a column: a few rows of a stranger's list are always bad. */
const nearlyAll = 0.95;

/**
 * The scalar fields of rows, and of the first elements of their lists; `nullTexts` are those of the usual ones that
 * stand in them.
 */
export function columnsOfRows(rows: readonly JsonObject[]): { columns: ColumnFacts[]; nullTexts: string[] } {
  const found = new Set<string>();
  const seen = new ShapeOfRows([]);
  for (const row of rows) seen.see(row);
  const { places } = seen.shape();
  const columns = Object.entries(places).flatMap(([place, { types }]): ColumnFacts[] => {
    if (types.includes("list") || types.includes("object")) return [];
    const parsed = parsePath(place);
    if (!parsed.ok) return [];
    const steps = parsed.value.steps.flatMap((step, index, all) => {
      const isList = places[placeOf(all.slice(0, index + 1))]?.types.includes("list") === true;
      return isList ? [step, 0] : [step];
    });
    const texts = rows.flatMap((row) =>
      valuesAt(row, steps)
        .filter((value) => value !== null)
        .map(String),
    );
    for (const text of texts) if (usualNullTexts.includes(text)) found.add(text);
    const there = texts.filter((text) => text.trim() !== "" && !usualNullTexts.includes(text));
    const different = new Set(there);
    return [
      {
        path: formatRawPath(steps),
        plain: plainName(steps),
        examples: [...different].slice(0, mostExamples),
        isUnique: different.size >= there.length * nearlyAll,
        isFilled: there.length >= rows.length * nearlyAll,
        isOfList: steps.includes(0),
      },
    ];
  });
  return { columns, nullTexts: [...found].sort() };
}

/** How deep lists are looked for in objects of a row. */
const deepestList = 2;

/** The lists of objects in rows and in their objects, by their place; the longest first. */
export function listsOfRows(rows: readonly JsonObject[]): { path: string; rows: JsonObject[] }[] {
  const lists = new Map<string, JsonObject[]>();
  const look = (value: JsonObject, steps: readonly string[]): void => {
    for (const [name, member] of Object.entries(value)) {
      const here = [...steps, name];
      if (Array.isArray(member)) {
        const items = member.filter((item): item is JsonObject => isJsonObject(item));
        const place = formatRawPath(here);
        if (items.length > 0) lists.set(place, [...(lists.get(place) ?? []), ...items]);
      } else if (member !== undefined && isJsonObject(member) && here.length < deepestList) look(member, here);
    }
  };
  for (const row of rows) look(row, []);
  const found = [...lists].map(([path, items]) => ({ path, rows: items }));
  return found.sort((one, other) => other.rows.length - one.rows.length);
}

/** What is in a list is called as one of it is: `contacts[0].email` is `contactemail`. */
function plainName(steps: readonly (string | number)[]): string {
  const names = steps.map((step, index) => (steps[index + 1] === 0 ? String(step).replace(/s$/u, "") : step));
  return plainText(names.filter((name) => typeof name === "string").join(""));
}

/** A name without case, blanks, signs and the dots of umlauts. */
export function plainText(name: string): string {
  return name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "");
}
