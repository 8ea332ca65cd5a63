import { z } from "zod";
import { isJsonObject, type Json, type JsonObject } from "../base/canonical-json.ts";
import { formatRawPath } from "./mapping/path.ts";

/** What kind of value stands somewhere in a raw record. */
const valueType = z.enum(["text", "number", "boolean", "object", "list"]);
type ValueType = z.infer<typeof valueType>;

/**
 * What stands at one place of the rows of a stream. `filled`: in how many rows there is something; null, blank texts
 * and the stream's `nullTexts` are nothing.
 */
const placeShapeSchema = z.strictObject({ filled: z.int(), types: z.array(valueType) });
export type PlaceShape = z.infer<typeof placeShapeSchema>;

/** What the first rows of a stream look like, by place: `lines.product`. Positions in lists are left out. */
export const rowShapeSchema = z.strictObject({ rows: z.int(), places: z.record(z.string(), placeShapeSchema) });
export type RowShape = z.infer<typeof rowShapeSchema>;

/** Most places of a stream that are told apart, and how deep they are looked for. */
const mostPlaces = 500;
const deepest = 8;

/** The place of a path whatever list it goes through: one object in place of a list is read the same. */
export function placeOf(steps: readonly (string | number)[]): string {
  return formatRawPath(steps.filter((step) => typeof step === "string"));
}

/** Gathers the shape of rows, one by one. Holds places and types, never a value. */
export class ShapeOfRows {
  readonly #nullTexts: ReadonlySet<string>;
  readonly #wanted: ReadonlySet<string> | undefined;
  readonly #places = new Map<string, { filled: number; types: Set<ValueType> }>();
  #rows = 0;

  /** `wanted`: the only places that are of interest; all of them by default. */
  constructor(nullTexts: readonly string[], wanted?: ReadonlySet<string>) {
    this.#nullTexts = new Set(nullTexts);
    this.#wanted = wanted;
  }

  get rows(): number {
    return this.#rows;
  }

  see(row: JsonObject): void {
    this.#rows += 1;
    const found = new Map<string, Set<ValueType>>();
    this.#walk(row, [], 0, found);
    for (const [place, types] of found) {
      const known = this.#places.get(place);
      if (known === undefined) {
        if (this.#places.size < mostPlaces) this.#places.set(place, { filled: 1, types });
        continue;
      }
      known.filled += 1;
      for (const type of types) known.types.add(type);
    }
  }

  shape(): RowShape {
    const places = [...this.#places].map(([place, { filled, types }]): [string, PlaceShape] => [
      place,
      { filled, types: [...types].sort() },
    ]);
    return { rows: this.#rows, places: Object.fromEntries(places) };
  }

  #walk(value: Json, steps: readonly string[], depth: number, found: Map<string, Set<ValueType>>): void {
    const type = this.#typeOf(value);
    if (type === undefined) return;
    const place = placeOf(steps);
    if (steps.length > 0 && (this.#wanted === undefined || this.#wanted.has(place))) {
      const types = found.get(place) ?? new Set();
      types.add(type);
      found.set(place, types);
    }
    if (depth >= deepest) return;
    if (Array.isArray(value)) for (const item of value) this.#walk(item, steps, depth + 1, found);
    else if (isJsonObject(value)) {
      for (const [name, member] of Object.entries(value)) {
        if (member !== undefined) this.#walk(member, [...steps, name], depth + 1, found);
      }
    }
  }

  #typeOf(value: Json): ValueType | undefined {
    if (value === null) return undefined;
    if (typeof value === "number") return "number";
    if (typeof value === "boolean") return "boolean";
    if (typeof value === "string") return value.trim() === "" || this.#nullTexts.has(value) ? undefined : "text";
    return Array.isArray(value) ? "list" : "object";
  }
}

/** How the rows of a stream differ from those of its last whole reading, at a place that the mapping reads. */
interface Drift {
  place: string;
  /** `empty`: it was filled in most rows and is in none now; `type`: no value is of a type that it had. */
  what: "empty" | "type";
  before: PlaceShape;
  now: PlaceShape | undefined;
}

/** How sure one has to be that nothing is empty by chance. */
interface Judged {
  /** Rows that are needed before anything is said of all of them. */
  leastRows: number;
  /** The share of the rows that had a place filled which is not empty by chance. */
  filled: number;
  /** Rows that are enough where each of the earlier rows had a place filled, and no row comes after those of now. */
  leastRowsOfAll: number;
}

/** Of everything that a list has; of what changed, which may be of one kind. */
export const judgedOf: Readonly<Record<"everything" | "changes", Judged>> = {
  everything: { leastRows: 10, filled: 0.5, leastRowsOfAll: 3 },
  changes: { leastRows: 20, filled: 0.9, leastRowsOfAll: 20 },
};

/**
 * What is suddenly empty or of another type in `now`, at the places that are read now as they were before. Nothing is
 * said of few rows. `isAll`: no more rows come.
 */
export function driftOf(
  before: RowShape,
  now: RowShape & { isAll: boolean },
  places: ReadonlySet<string>,
  { leastRows, filled, leastRowsOfAll }: Judged,
): Drift[] {
  const leastNow = now.isAll ? leastRowsOfAll : leastRows;
  return Object.entries(before.places).flatMap(([place, was]): Drift[] => {
    if (!places.has(place)) return [];
    const is = now.places[place];
    if (is === undefined) {
      const wasInAll = was.filled === before.rows && before.rows >= leastRowsOfAll && now.rows >= leastNow;
      const wasInMost = was.filled >= before.rows * filled && before.rows >= leastRows && now.rows >= leastRows;
      return wasInAll || wasInMost ? [{ place, what: "empty", before: was, now: undefined }] : [];
    }
    if (is.filled < leastRows || was.filled < leastRows) return [];
    return is.types.some((type) => was.types.includes(type)) ? [] : [{ place, what: "type", before: was, now: is }];
  });
}

/** One difference in words: `the field licences was filled in 40 of 41 rows and is empty in all of 39`. */
export function driftText({ place, what, before, now }: Drift, rows: { before: number; now: number }): string {
  return what === "empty"
    ? `${place} was filled in ${before.filled} of ${rows.before} rows and is in none of ${rows.now}`
    : `${place} was ${before.types.join(" or ")} and is ${now?.types.join(" or ") ?? "nothing"}`;
}

/** What stands for names that may be data. */
const anyName = "*";

/** Objects that are needed before names count as fields, and most names of one place. */
const leastObjects = 3;
const mostNames = 500;

/** As programs name fields: no address, no number, no name of a person. */
const fieldName = /^[\p{L}_$@#][\p{L}\p{N}_$#:-]{0,59}$/u;
const longNumber = /\d{5}/;

/** The objects that stand at one place. */
interface Objects {
  count: number;
  /** By name in how many of them it is. */
  members: Map<string, number>;
  /** More names than are told apart. */
  tooMany: boolean;
}

/**
 * Tells field names from names that are data, such as the addresses in an object with a member for each person. The
 * names of a row are fields. A name in an object inside the row is a field if the mapping reads it. It is also a field
 * if every object at its place has it, they are three at least, and they share half of their names; a name with a blank,
 * an `@` or a long number is no field by this rule. Any other name, and every name behind it, is shown as `*`.
 */
export class MemberNames {
  readonly #objects = new Map<string, Objects>();
  readonly #read: ReadonlySet<string>;
  readonly #fields = new Map<string, ReadonlySet<string>>();

  /** `reads`: the raw places that the mapping reads. */
  constructor(reads: readonly (readonly (string | number)[])[]) {
    const read = new Set<string>();
    for (const steps of reads) {
      const names = steps.filter((step) => typeof step === "string");
      for (let length = 1; length <= names.length; length += 1) read.add(placeOf(names.slice(0, length)));
    }
    this.#read = read;
  }

  see(row: JsonObject): void {
    this.#fields.clear();
    this.#gather(row, []);
  }

  /** A row as anybody may see its names: what stands behind those that are no fields is listed at `*`. */
  shown(row: JsonObject): JsonObject {
    const shown = this.#shown(row, []);
    return isJsonObject(shown) ? shown : {};
  }

  /** Without `steps`, a value behind a name that is no field. */
  #shown(value: Json, steps: readonly string[] | undefined): Json {
    if (Array.isArray(value)) return value.map((item) => this.#shown(item, steps));
    if (!isJsonObject(value)) return value;
    const hidden: Json[] = [];
    const shown: JsonObject = {};
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      if (steps !== undefined && this.#fieldsAt(steps).has(name)) shown[name] = this.#shown(member, [...steps, name]);
      else hidden.push(this.#shown(member, undefined));
    }
    return hidden.length === 0 ? shown : { ...shown, [anyName]: hidden };
  }

  #fieldsAt(steps: readonly string[]): ReadonlySet<string> {
    const place = placeOf(steps);
    const known = this.#fields.get(place);
    if (known !== undefined) return known;
    const { count, members, tooMany } = this.#objects.get(place) ?? noObjects();
    const names = [...members.keys()];
    const constant = new Set(
      names.filter((name) => members.get(name) === count && fieldName.test(name) && !longNumber.test(name)),
    );
    const isTold = count >= leastObjects && !tooMany && constant.size * 2 >= names.length;
    const fields = new Set(
      names.filter(
        (name) => steps.length === 0 || (isTold && constant.has(name)) || this.#read.has(placeOf([...steps, name])),
      ),
    );
    this.#fields.set(place, fields);
    return fields;
  }

  #gather(value: Json, steps: readonly string[]): void {
    if (steps.length > deepest) return;
    if (Array.isArray(value)) for (const item of value) this.#gather(item, steps);
    if (!isJsonObject(value)) return;
    const place = placeOf(steps);
    const at = this.#objects.get(place) ?? noObjects();
    this.#objects.set(place, at);
    at.count += 1;
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      const known = at.members.get(name);
      if (known === undefined && at.members.size >= mostNames && steps.length > 0) {
        at.tooMany = true;
        continue;
      }
      at.members.set(name, (known ?? 0) + 1);
      this.#gather(member, [...steps, name]);
    }
  }
}

const noObjects = (): Objects => ({ count: 0, members: new Map(), tooMany: false });
