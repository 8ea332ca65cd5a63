import { isJsonObject, type Json, type JsonObject } from "../../base/canonical-json.ts";
import { formatRawPath, parsePath } from "../mapping/path.ts";
import { valuesAt } from "../mapping/ways.ts";
import { placeOf, ShapeOfRows } from "../shape.ts";
import { listNames, type ListKind, type Names } from "./names.ts";

export interface ColumnFacts {
  path: string;
  /** Lower-case name without blanks and signs: `customernumber`. */
  plain: string;
  examples: readonly string[];
  /** No two rows have the same value, except a few bad ones. */
  isUnique: boolean;
  /** Each row has a value, except a few bad ones. */
  isFilled: boolean;
}

const usualNullTexts: readonly string[] = ["NULL", "null", "N/A", "n/a", "\\N"];

const mostExamples = 20;

/** From this share of the rows on, a fact holds for a column: an unknown list always has a few bad rows. */
const nearlyAll = 0.95;

/** The scalar fields of rows, not those inside lists, and the usual null texts found in them. */
export function columnsOfRows(rows: readonly JsonObject[]): { columns: ColumnFacts[]; nullTexts: string[] } {
  const found = new Set<string>();
  const seen = new ShapeOfRows([]);
  for (const row of rows) seen.see(row);
  const { places } = seen.shape();
  const columns = Object.entries(places).flatMap(([place, { types }]): ColumnFacts[] => {
    if (types.includes("list") || types.includes("object")) return [];
    const parsed = parsePath(place);
    if (!parsed.ok) return [];
    const { steps } = parsed.value;
    if (steps.some((_, index) => places[placeOf(steps.slice(0, index))]?.types.includes("list") === true)) return [];
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
        path: place,
        plain: plainText(steps.join("")),
        examples: [...different].slice(0, mostExamples),
        isUnique: different.size >= there.length * nearlyAll,
        isFilled: there.length >= rows.length * nearlyAll,
      },
    ];
  });
  return { columns, nullTexts: [...found].sort() };
}

/** The longest list of objects at one place, at most `deepest` names deep. */
export function longestList(
  values: readonly Json[],
  deepest: number,
): { path: string | undefined; rows: JsonObject[] } | undefined {
  const lists = new Map<string, JsonObject[]>();
  const look = (value: Json, steps: readonly string[]): void => {
    if (Array.isArray(value)) {
      const place = formatRawPath(steps);
      lists.set(place, [...(lists.get(place) ?? []), ...value.filter((item) => isJsonObject(item))]);
    } else if (isJsonObject(value) && steps.length < deepest)
      for (const [name, member] of Object.entries(value)) if (member !== undefined) look(member, [...steps, name]);
  };
  for (const value of values) look(value, []);
  const [longest] = [...lists].toSorted(([, one], [, other]) => other.length - one.length);
  if (longest === undefined || longest[1].length === 0) return undefined;
  return { path: longest[0] === "" ? undefined : longest[0], rows: longest[1] };
}

export function plainText(name: string): string {
  return name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "");
}

export interface Found {
  column: ColumnFacts;
  /** Why another column may be right. Undefined if the name is known. */
  doubt: string | undefined;
}

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

/** The column of each known field. Several fields may get the same column. */
export function columnsByField(kind: ListKind, columns: readonly ColumnFacts[]): Map<string, Found> {
  const found = new Map<string, Found>();
  for (const [field, column] of columnsNamed(listNames[kind].fields, columns))
    found.set(field, { column, doubt: undefined });
  const taken = new Set([...found.values()].map(({ column }) => column.path));
  const id = found.has("id") ? undefined : columns.find((item) => !taken.has(item.path) && looksLikeId(item));
  if (id !== undefined && kind !== "lines")
    found.set("id", { column: id, doubt: "no column is named so; this one differs in all rows" });
  return found;
}

function looksLikeId({ isUnique, isFilled, examples }: ColumnFacts): boolean {
  return isUnique && isFilled && examples.length > 1 && examples.every((text) => /^[\p{L}\p{N}_/-]{1,40}$/u.test(text));
}

export function keyOfList(kind: ListKind, columns: readonly ColumnFacts[]): string | undefined {
  const id = columnsByField(kind, columns).get("id")?.column;
  return id !== undefined && id.isUnique && id.isFilled ? id.path : undefined;
}

export function columnsNamed(names: Names, columns: readonly ColumnFacts[]): Map<string, ColumnFacts> {
  const found = new Map<string, ColumnFacts>();
  for (const [field, called] of Object.entries(names)) {
    const column = called.map((name) => columns.find(({ plain }) => plain === name)).find((item) => item !== undefined);
    if (column !== undefined) found.set(field, column);
  }
  return found;
}

interface DateGuess {
  options: JsonObject;
  doubt: string | undefined;
}

const zoneDoubt = "the zone of these times";

const forms: readonly { shape: RegExp; format: string; isLocal: boolean }[] = [
  { shape: /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)$/u, format: "iso", isLocal: false },
  { shape: /^\d{4}-\d\d-\d\dT[\d:.]+$/u, format: "iso", isLocal: true },
  { shape: /^\d{4}-\d\d-\d\d$/u, format: "yyyy-MM-dd", isLocal: true },
  { shape: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/u, format: "yyyy-MM-dd HH:mm:ss.SSS", isLocal: true },
  { shape: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/u, format: "yyyy-MM-dd HH:mm:ss", isLocal: true },
  { shape: /^\d{4}-\d\d-\d\d \d\d:\d\d$/u, format: "yyyy-MM-dd HH:mm", isLocal: true },
  { shape: /^\d\d\.\d\d\.\d{4}$/u, format: "dd.MM.yyyy", isLocal: true },
  { shape: /^\d\d\.\d\d\.\d{4} \d\d:\d\d$/u, format: "dd.MM.yyyy HH:mm", isLocal: true },
  { shape: /^\d{1,2}\.\d{1,2}\.\d{4}$/u, format: "d.M.yyyy", isLocal: true },
  { shape: /^\d{1,2}\.\d{1,2}\.\d{4} \d{1,2}:\d\d$/u, format: "d.M.yyyy H:mm", isLocal: true },
  { shape: /^\d{8}$/u, format: "yyyyMMdd", isLocal: true },
  { shape: /^1\d{9}$/u, format: "epoch_s", isLocal: false },
  { shape: /^1\d{12}$/u, format: "epoch_ms", isLocal: false },
];

const mostTexts = 0.9;

export function dateForm(texts: readonly string[], zone: string): DateGuess | undefined {
  if (texts.length === 0) return undefined;
  const haveForm = (shape: RegExp): string[] | undefined => {
    const found = texts.filter((text) => shape.test(text));
    return found.length >= texts.length * mostTexts ? found : undefined;
  };
  const form = forms.find(({ shape }) => haveForm(shape) !== undefined);
  if (form !== undefined) {
    const options = { ...(form.format === "iso" ? {} : { format: form.format }), ...(form.isLocal ? { zone } : {}) };
    return { options, doubt: form.isLocal ? zoneDoubt : undefined };
  }
  const examples = haveForm(/^\d{1,2}\/\d{1,2}\/\d{4}$/u);
  if (examples === undefined) return undefined;
  const isDayFirst = examples.some((text) => Number(text.split("/")[0]) > 12);
  const isMonthFirst = examples.some((text) => Number(text.split("/")[1]) > 12);
  const doubt = isDayFirst || isMonthFirst ? zoneDoubt : `whether the day or the month is first, and ${zoneDoubt}`;
  return { options: { format: isMonthFirst ? "M/d/yyyy" : "d/M/yyyy", zone }, doubt };
}

export interface Doubt {
  /** Path inside the field's expression; empty for the field itself. */
  at: readonly (string | number)[];
  text: string;
  notes?: readonly string[];
}

export interface ProposedSkip {
  expression: Json;
  doubt: Doubt;
}

export interface StatesOfSale {
  path: string;
  over: readonly string[];
  /** No order, or not yet one. */
  notYet: readonly string[];
  going: readonly string[];
}

const over = /cancel|void|storn|reject|widerruf/iu;
const yes = /^(?:true|1|y|yes|x|ja)$/iu;
const won = /won\b|gewonnen/iu;
const notYet =
  /draft|quot|proposal|negotiat|prospect|lost|qualif|lead\b|appointment|presentation|decision|angebot|entwurf|verloren|verhandlung|interess|anfrage/iu;
const counts =
  /^(?:open|offen|pending|processing|confirmed|approved|ordered|closed|completed?|done|delivered|shipped|paid|invoiced|fulfilled|active|bestellt|auftrag|bestätigt|bestaetigt|geliefert|bezahlt|abgeschlossen|erledigt|berechnet|fakturiert)$/iu;

const mostStates = 12;

export function looksLikeStates({ examples }: ColumnFacts): boolean {
  if (examples.length === 0 || examples.length > mostStates) return false;
  if (examples.some((word) => /\d/u.test(word))) return false;
  const known = examples.filter((word) => [over, won, notYet, counts].some((pattern) => pattern.test(word)));
  return known.length * 2 >= examples.length;
}

/** If the column has words for "won", only these and later states are orders. */
export function statesOf({ path, plain, examples }: ColumnFacts): StatesOfSale {
  const isAnswer = /cancel|storn/u.test(plain);
  const isOver = (word: string): boolean => over.test(word) || (isAnswer && yes.test(word));
  const isWon = examples.some((word) => won.test(word));
  const isNotYet = (word: string): boolean =>
    isWon ? !won.test(word) && (notYet.test(word) || !finished.test(word)) : notYet.test(word);
  const others = examples.filter((word) => !isOver(word));
  return {
    path,
    over: examples.filter(isOver),
    notYet: others.filter(isNotYet),
    going: others.filter((word) => !isNotYet(word)),
  };
}

const finished = /delivered|shipped|paid|invoiced|fulfilled|geliefert|bezahlt|berechnet|fakturiert/iu;

export function skipOf(columns: readonly StatesOfSale[]): ProposedSkip | undefined {
  const told = columns.filter((states) => states.notYet.length > 0);
  const conditions = told.map(({ path, notYet: words }): Json => ({ path, in: [...words] }));
  const [only] = conditions;
  if (only === undefined) return undefined;
  const means = told.map(({ path, notYet: words }) => `${quoted(words)} in ${path}`).join(", ");
  return {
    expression: conditions.length === 1 ? only : { any: conditions },
    doubt: {
      at: [],
      text: `${means} ${told.flatMap((item) => item.notYet).length === 1 ? "means" : "mean"} no order: such rows are left out`,
    },
  };
}

export function quoted(words: readonly string[]): string {
  return words.map((word) => JSON.stringify(word)).join(" and ");
}
