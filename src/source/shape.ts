import { z } from "zod";
import { isJsonObject, type Json, type JsonObject } from "../base/canonical-json.ts";
import { formatRawPath } from "./mapping/path.ts";

const valueType = z.enum(["text", "number", "boolean", "object", "list"]);
type ValueType = z.infer<typeof valueType>;

/** `filled`: number of rows with a value here. Null, blank texts and the stream's `nullTexts` are no value. */
const placeShapeSchema = z.strictObject({ filled: z.int(), types: z.array(valueType) });
export type PlaceShape = z.infer<typeof placeShapeSchema>;

/** The shape of a stream's first rows, by place such as `lines.product`. List positions are left out. */
export const rowShapeSchema = z.strictObject({ rows: z.int(), places: z.record(z.string(), placeShapeSchema) });
export type RowShape = z.infer<typeof rowShapeSchema>;

const mostPlaces = 500;
const deepest = 8;

/** A path without list positions, so that one object and a list of objects have the same place. */
export function placeOf(steps: readonly (string | number)[]): string {
  return formatRawPath(steps.filter((step) => typeof step === "string"));
}

/** Never keeps a value. */
export class ShapeOfRows {
  readonly #nullTexts: ReadonlySet<string>;
  readonly #wanted: ReadonlySet<string> | undefined;
  readonly #places = new Map<string, { filled: number; types: Set<ValueType> }>();
  #rows = 0;

  /** `wanted`: only these places. Default: all. */
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

interface Drift {
  place: string;
  /** `empty`: filled in most earlier rows, in no row now. `type`: no value has a type that it had before. */
  what: "empty" | "type";
  before: PlaceShape;
  now: PlaceShape | undefined;
}

interface Judged {
  leastRows: number;
  /** Share of earlier rows that had a value; a place above it is not empty by chance. */
  filled: number;
  /** Enough rows if every earlier row had a value and no more rows follow. */
  leastRowsOfAll: number;
}

/** `changes` needs more rows, because changed rows may all be of one kind. */
export const judgedOf: Readonly<Record<"everything" | "changes", Judged>> = {
  everything: { leastRows: 10, filled: 0.5, leastRowsOfAll: 3 },
  changes: { leastRows: 20, filled: 0.9, leastRowsOfAll: 20 },
};

/** Finds places that are suddenly empty or of another type. Few rows prove nothing. `isAll`: no more rows follow. */
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

/** For example `licences was filled in 40 of 41 rows and is in none of 39`. */
export function driftText({ place, what, before, now }: Drift, rows: { before: number; now: number }): string {
  return what === "empty"
    ? `${place} was filled in ${before.filled} of ${rows.before} rows and is in none of ${rows.now}`
    : `${place} was ${before.types.join(" or ")} and is ${now?.types.join(" or ") ?? "nothing"}`;
}

const anyName = "*";

const leastObjects = 3;
const mostNames = 500;

/** Names as programs write them: no address, no long number, no name of a person. */
const fieldName = /^[\p{L}_$@#][\p{L}\p{N}_$#:-]{0,59}$/u;
const longNumber = /\d{5}/;

interface Objects {
  count: number;
  members: Map<string, number>;
  tooMany: boolean;
}

/**
 * Tells field names from names that are data, such as a member per e-mail address. Fields are names at the top of a
 * row, and names that the mapping reads. Also names without blank, `@` or long number that all of at least three
 * objects have, if they share half of their names. Everything else, and everything below it, is shown as `*`.
 */
export class MemberNames {
  readonly #objects = new Map<string, Objects>();
  readonly #read: ReadonlySet<string>;
  readonly #fields = new Map<string, ReadonlySet<string>>();

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

  shown(row: JsonObject): JsonObject {
    const shown = this.#shown(row, []);
    return isJsonObject(shown) ? shown : {};
  }

  /** `steps` is undefined below a name that is not a field. */
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
