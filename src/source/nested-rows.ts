import { isJsonObject } from "../base/canonical-json.ts";
import type { Json, JsonObject } from "../base/canonical-json.ts";
import type { RowsInside } from "./group-settings.ts";
import { measureJson } from "./json.ts";
import type { RecordLimits } from "./limits.ts";
import { valueAt } from "./mapping/path.ts";
import type { BadRecord, RawRecord } from "./reader.ts";

/** A row, or why there is none. `at` tells it from the others of its record; "" where it is the record itself. */
export type NestedRow = { at: string } & ({ place: string; value: JsonObject; text: string } | { bad: BadRecord });

/**
 * The elements of a list in a record as rows: `{ …element, NAME: the record without the list }`. A record without the
 * list has none; an object alone counts as a list of one. What stands there and is no list is a bad record, and so is
 * an element that can be no row; the others are rows all the same. One comes at a time: each has a copy of its record.
 */
export function* nestedRows(
  { place, value }: RawRecord,
  inside: RowsInside,
  limits: RecordLimits,
): Generator<NestedRow, void, void> {
  const found = valueAt({ item: value, parent: undefined }, { up: 0, steps: inside.steps });
  if (found === undefined || found === null || found === "") return;
  const placeOf = (at: string): string => `${place}${place.includes("#") ? at.slice(1) : at}`;
  const bad = (at: string, code: string, message: string): NestedRow => ({
    at,
    bad: { place: placeOf(at), code, message },
  });
  if (typeof found !== "object") {
    yield bad("", "not-a-list", `the record has no list in ${inside.path}; its rows are expected there`);
    return;
  }
  const around = without(value, inside.steps);
  // In a row the record stands one deeper than by itself.
  const measured = measureJson(around, { ...limits, maxDepth: limits.maxDepth - 1 });
  if (!measured.ok) {
    yield bad("", measured.error.code, `the record is ${measured.error.message}, which leaves no room for its rows`);
    return;
  }
  const recordText = `${JSON.stringify(inside.record)}:${JSON.stringify(around)}`;
  for (const [index, element] of (Array.isArray(found) ? found : [found]).entries()) {
    const at = `#/${[...inside.steps, index].join("/")}`;
    if (!isJsonObject(element)) yield bad(at, "not-an-object", "the row is not an object");
    else if (Object.hasOwn(element, inside.record)) {
      const cure = "set another name for the record in group.record";
      yield bad(at, "name-taken", `the row has a member ${inside.record} of its own; ${cure}`);
    } else if (Object.keys(element).length >= limits.maxMembers)
      yield bad(at, "too-wide", `the row has no room for its record; at most ${limits.maxMembers} members are allowed`);
    else {
      const text = JSON.stringify(element).slice(0, -1);
      const row = `${text}${text === "{" ? "" : ","}${recordText}}`;
      yield { at, place: placeOf(at), value: { ...element, [inside.record]: around }, text: row };
    }
  }
}

/** A copy of an object without the member that names lead to. */
function without(value: JsonObject, [name, ...further]: readonly string[]): JsonObject {
  const kept: [string, Json][] = [];
  for (const [member, inner] of Object.entries(value)) {
    if (member !== name) kept.push([member, inner ?? null]);
    else if (further.length > 0 && isJsonObject(inner)) kept.push([member, without(inner, further)]);
  }
  return Object.fromEntries(kept);
}
