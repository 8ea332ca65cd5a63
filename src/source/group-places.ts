import { parsePath, everyElement } from "./mapping/path.ts";
import { rowsInside } from "./group-settings.ts";
import type { GroupSettings } from "./group-settings.ts";

type Steps = readonly (string | number)[];

/** The place in a record as its source gives it that a mapping reads, where its rows may be grouped. */
export function placeInRecord(steps: Steps, group: GroupSettings | undefined): Steps {
  if (group === undefined) return steps;
  return steps[0] === group.into ? placeOfRow(steps.slice(2), group) : [];
}

/** The places of a record that rows are grouped by and that a record takes from them, each with its key. */
export function groupingPlaces(group: GroupSettings | undefined): { key: string; steps: Steps }[] {
  if (group === undefined) return [];
  const read: [string, string][] = [["by", group.by]];
  for (const [name, path] of Object.entries(group.fields)) read.push([`fields.${name}`, path]);
  const inside = rowsInside(group);
  const list = inside === undefined ? [] : [{ key: "rows", steps: inside.steps }];
  const places = read.flatMap(([key, path]) => {
    const parsed = parsePath(path);
    return parsed.ok ? [{ key, steps: placeOfRow(parsed.value.steps, group) }] : [];
  });
  return [...list, ...places];
}

/** Where something of a row stands in the record that the row came from. */
function placeOfRow(steps: Steps, group: GroupSettings): Steps {
  const inside = rowsInside(group);
  if (inside === undefined) return steps;
  return steps[0] === inside.record ? steps.slice(1) : [...inside.steps, everyElement, ...steps];
}
