import type { Json, JsonObject } from "../base/canonical-json.ts";
import type { Problem } from "../base/errors.ts";
import type { Stream } from "../crm/model.ts";
import { describeValue } from "../source/mapping/context.ts";
import { openPlaces } from "../source/mapping/ways.ts";
import { blankSecrets } from "../source/mapping/path.ts";
import type { Way } from "../source/mapping/ways.ts";
import { MemberNames } from "../source/shape.ts";
import { readSample } from "../source/reader.ts";
import { placeOf, ShapeOfRows } from "../source/shape.ts";
import type { PlaceShape } from "../source/shape.ts";
import type { Source } from "../source/source.ts";

/** One field of a stream as its first rows show it. */
interface SchemaField extends PlaceShape {
  place: string;
  /** A value, or its type, length and shape where it may be personal data. */
  example: string;
  /** The target fields whose mapping reads it. */
  fields: string[];
}

export interface StreamSchema {
  rows: number;
  isAll: boolean;
  fields: SchemaField[];
  problem: Problem | undefined;
}

/**
 * The fields of a stream, with types, examples and how often they are filled, from its first `limit` rows. What the
 * mapping reads for fields that are not private is shown as it is; all else is described unless `showPrivate`, and
 * names in objects that may be data are `*`.
 */
export async function streamSchema(
  source: Source,
  stream: Stream,
  options: { limit: number; showPrivate: boolean; signal: AbortSignal },
): Promise<StreamSchema> {
  const mapping = await source.mapping(stream, options.signal);
  const readers = new Map<string, Set<string>>();
  const ways = mapping.ways();
  for (const { field, reads } of ways) {
    for (const place of reads.map(placeOf)) readers.set(place, (readers.get(place) ?? new Set()).add(field));
  }
  const open = openPlaces(stream, ways, placeOf);
  const { items, outcome } = await readSample(source, stream, {
    limit: options.limit,
    needsColumns: false,
    signal: options.signal,
  });
  const rows = items.flatMap((item) => ("raw" in item ? [blankSecrets(item.raw.value, mapping.secretPaths)] : []));
  const names = options.showPrivate ? undefined : namesOf(rows, ways);
  const seen = new ShapeOfRows(mapping.nullTexts, undefined, (steps) => names?.shownSteps(steps) ?? steps);
  for (const row of rows) seen.see(row);
  const { places } = seen.shape();
  const shown = names === undefined ? rows : rows.map((row) => names.shown(row));
  const fields = Object.entries(places).map(([place, shape]): SchemaField => {
    const value = exampleAt(shown, place);
    return {
      place,
      ...shape,
      example: exampleText(value, options.showPrivate || open.has(place)),
      fields: [...(readers.get(place) ?? [])],
    };
  });
  return { rows: rows.length, isAll: outcome?.complete === true, fields, problem: outcome?.problem };
}

function namesOf(rows: readonly JsonObject[], ways: readonly Way[]): MemberNames {
  const names = new MemberNames(ways.flatMap(({ reads }) => reads));
  for (const row of rows) names.see(row);
  return names;
}

function exampleAt(rows: readonly Json[], place: string): Json | undefined {
  for (const row of rows) {
    const found = firstAt(row, place, "");
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The first value at a place that is neither null nor blank, through whatever lists stand on the way. */
function firstAt(value: Json, place: string, above: string): Json | undefined {
  if (Array.isArray(value)) {
    for (const item of value) {
      const found = firstAt(item, place, above);
      if (found !== undefined) return found;
    }
    return above === place && above !== "" && value.length > 0 ? value : undefined;
  }
  if (typeof value !== "object" || value === null) {
    const isThere = value !== null && !(typeof value === "string" && value.trim() === "");
    return above === place && isThere ? value : undefined;
  }
  if (above === place && above !== "") return value;
  for (const [name, member] of Object.entries(value)) {
    const here = above === "" ? placeOf([name]) : `${above}${placeOf(["x", name]).slice(1)}`;
    if (member === undefined || !place.startsWith(here)) continue;
    const found = firstAt(member, place, here);
    if (found !== undefined) return found;
  }
  return undefined;
}

function exampleText(value: Json | undefined, open: boolean): string {
  if (value === undefined) return "";
  if (typeof value === "object" || !open) return `(${describeValue(value)})`;
  return String(value);
}
