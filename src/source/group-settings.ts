import { z } from "zod";
import { pathSchema } from "./file/file-source-settings.ts";
import { everyElement, parsePath } from "./mapping/path.ts";

/** A name of somebody's own, under which a mapping finds what was put there. */
const name = z.string().regex(/^[A-Za-z][A-Za-z0-9_]*$/);

/** Rows of one key become one record. */
export const groupSchema = z
  .strictObject({
    by: pathSchema.meta({
      description: "Field of a row that holds the key of its record; the mapping sees it as `key`",
      examples: ["holder.email"],
    }),
    into: name.meta({
      description: "Name under which the mapping sees the list of rows, in order of their `key`, or of their content",
      examples: ["rows"],
    }),
    rows: pathSchema.optional().meta({
      description:
        "List in a record whose elements are the rows, such as the seats of an order; by default each record is a " +
        "row. A record without the list has no rows; an object alone counts as a list of one",
      examples: ["seats"],
    }),
    record: name.optional().meta({
      description: "With `rows`: name under which a row holds its record, without that list; `record` by default",
      examples: ["order"],
    }),
    fields: z
      .record(name, pathSchema)
      .default({})
      .meta({
        description: "Fields that all rows of a key agree on, by the name under which the mapping sees them",
        examples: [{ customer: "customerNumber" }],
      }),
  })
  .superRefine(({ into, rows, record, fields }, context) => {
    if (rows !== undefined && namesOf(rows) === undefined)
      context.addIssue({
        code: "custom",
        path: ["rows"],
        message: "expected the names of members alone, from the record on, such as seats or data.seats",
      });
    if (rows === undefined && record !== undefined)
      context.addIssue({ code: "custom", path: ["record"], message: "has no meaning without rows" });
    const taken = (at: string): string => `the name ${at} is taken: by the key, or by the list of rows`;
    if (into === "key") context.addIssue({ code: "custom", path: ["into"], message: taken(into) });
    for (const field of Object.keys(fields)) {
      if (field === "key" || field === into) {
        context.addIssue({ code: "custom", path: ["fields", field], message: taken(field) });
      }
    }
  });
export type GroupSettings = z.infer<typeof groupSchema>;

/** The names of members that a path is made of; undefined where it is made of anything else too. */
function namesOf(path: string): string[] | undefined {
  const parsed = parsePath(path);
  if (!parsed.ok || parsed.value.up > 0 || parsed.value.steps.length === 0) return undefined;
  const names = parsed.value.steps.filter((step) => typeof step === "string");
  return names.length === parsed.value.steps.length ? names : undefined;
}

/** Where rows stand in a record, and under which name each of them holds that record. */
export interface RowsInside {
  path: string;
  steps: readonly string[];
  record: string;
}

/** Undefined where each record is a row. */
export function rowsInside({ rows, record }: GroupSettings): RowsInside | undefined {
  return rows === undefined ? undefined : { path: rows, steps: namesOf(rows) ?? [], record: record ?? "record" };
}

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
