import { z } from "zod";
import type { Json, JsonObject } from "../base/canonical-json.ts";
import type { Stream } from "../crm/model.ts";
import { pathSchema } from "./file/file-source-settings.ts";
import { partsOf } from "./mapping/compile.ts";
import { pathOf } from "./mapping/path.ts";

const name = z.string().regex(/^[A-Za-z][A-Za-z0-9_]*$/);

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
    fields: z
      .record(name, pathSchema)
      .default({})
      .meta({
        description: "Fields that all rows of a key agree on, by the name under which the mapping sees them",
        examples: [{ customer: "customerNumber" }],
      }),
  })
  .superRefine(({ into, fields }, context) => {
    const taken = (at: string): string => `the name ${at} is taken: by the key, or by the list of rows`;
    if (into === "key") context.addIssue({ code: "custom", path: ["into"], message: taken(into) });
    for (const field of Object.keys(fields)) {
      if (field === "key" || field === into) {
        context.addIssue({ code: "custom", path: ["fields", field], message: taken(field) });
      }
    }
  });
export type GroupSettings = z.infer<typeof groupSchema>;

type Steps = readonly (string | number)[];

/** The place in a raw row that a mapping reads. With `group`, the mapping reads grouped records instead of rows. */
export function placeInRecord(steps: Steps, group: GroupSettings | undefined): Steps {
  if (group === undefined) return steps;
  return steps[0] === group.into ? steps.slice(2) : [];
}

export interface ReadSettings {
  group?: GroupSettings | undefined;
  mapping: JsonObject;
  skip?: Json | undefined;
}

function placesRead(stream: Stream, { group, mapping, skip }: ReadSettings): { steps: Steps; key: string }[] {
  const grouping: [string, string][] = group === undefined ? [] : [["by", group.by]];
  for (const [name, path] of Object.entries(group?.fields ?? {})) grouping.push([`fields.${name}`, path]);
  return [
    ...grouping.map(([key, path]) => ({ key: `group.${key}`, steps: pathOf(path).steps })),
    ...partsOf(stream, mapping, skip).reads.map(({ steps, at }) => ({
      key: ["mapping", ...at].join("."),
      steps: placeInRecord(steps, group),
    })),
  ];
}

interface ColumnRead {
  /** The name of the details whose rows have it; undefined: those of the stream itself. */
  part: string | undefined;
  column: string;
  key: string;
}

export function columnsRead(stream: Stream, settings: ReadSettings & { details?: object | undefined }): ColumnRead[] {
  return placesRead(stream, settings).flatMap(({ steps: [first, , inside], key }): ColumnRead[] => {
    if (typeof first !== "string") return [];
    if (!Object.hasOwn(settings.details ?? {}, first)) return [{ part: undefined, column: first, key }];
    return typeof inside === "string" ? [{ part: first, column: inside, key }] : [];
  });
}
