import { z } from "zod";
import { pathSchema } from "../file/file-source-settings.ts";

const moreField = {
  hasMore: pathSchema.optional().meta({
    description: "Where an answer says, as true or false, whether more pages follow; without it the other signs count",
    examples: ["data.customers.pageInfo.hasNextPage"],
  }),
};
const sizeFields = {
  sizeParameter: z
    .string()
    .min(1)
    .optional()
    .meta({ description: "Carries the number of records to a page, where the service wants it", examples: ["limit"] }),
  size: z.int().min(1).default(100).describe("Records to a page"),
};
const moving = {
  again:
    "crm-sync reads the list until a pass finds all records of the previous pass, and the previous pass found no key " +
    "twice. Records that only a later pass finds are used too. This costs at least twice the requests, unless the list has one page",
  trust:
    "the service keeps the place in the list. Only the total, and in a full read a key on two pages, show a change",
} as const;
export type Moving = keyof typeof moving;

const movingField = {
  moving: z
    .enum(["again", "trust"])
    .optional()
    .meta({
      description:
        "How crm-sync notices that the list changed during a read. Such a read counts as incomplete. By default: again " +
        "if the next page is found by counting pages or records, otherwise trust. " +
        Object.entries(moving)
          .map(([kind, what]) => `${kind}: ${what}`)
          .join(". "),
      examples: ["again"],
    }),
};
const sureField = {
  sure: z
    .boolean()
    .default(false)
    .describe(
      "The list ends there also where the last answer speaks of more: a next page, a cursor or a larger total. If " +
        "not, such a reading is incomplete",
    ),
};

const lastPageSchema = z
  .enum(["empty", "short"])
  .default("empty")
  .describe(
    "What ends the list where no total is given: an empty page, or one with fewer records than a page before it. A " +
      "first page with fewer than `size` ends it where the next one is empty or HTTP 404, since the service may give " +
      "fewer than requested",
  );

export const pagingSchema = () =>
  z.discriminatedUnion("kind", [
    z.strictObject({
      kind: z
        .literal("none")
        .describe("One answer holds everything. One that speaks of more than it holds is an incomplete reading."),
      sure: z
        .boolean()
        .default(false)
        .describe("It holds everything also where something in it looks like a next page or a larger total"),
    }),
    z.strictObject({
      kind: z.literal("page").describe("Pages have numbers."),
      parameter: z
        .string()
        .min(1)
        .default("page")
        .describe("Carries the page number: a name, or a path where it goes into the body"),
      first: z.int().min(0).default(1).describe("Number of the first page"),
      ...sizeFields,
      ...moreField,
      ...movingField,
      ...sureField,
      lastPage: lastPageSchema,
    }),
    z.strictObject({
      kind: z.literal("offset").describe("A page begins after so many records."),
      parameter: z.string().min(1).default("offset").describe("Carries the number of records before the page"),
      ...sizeFields,
      ...moreField,
      ...movingField,
      ...sureField,
      lastPage: lastPageSchema,
    }),
    z
      .strictObject({
        kind: z.literal("cursor").describe("An answer names a cursor for the next page."),
        parameter: z.string().min(1).default("cursor").describe("Carries the cursor, likewise"),
        next: pathSchema.meta({
          description: "Where an answer holds the cursor of the next page; the last page has none",
          examples: ["meta.cursor"],
        }),
        ...sizeFields,
        ...moreField,
        ...movingField,
        ...sureField,
      })
      .meta({
        examples: [
          {
            kind: "cursor",
            parameter: "variables.after",
            next: "data.customers.pageInfo.endCursor",
            hasMore: "data.customers.pageInfo.hasNextPage",
            sizeParameter: "variables.first",
            size: 100,
            moving: "again",
            sure: false,
          },
        ],
      }),
    z.strictObject({
      kind: z
        .literal("keyset")
        .describe(
          "A page begins after the key of the last record. The records come in the ascending order of their keys, so " +
            "none is passed over while the list changes.",
        ),
      parameter: z
        .string()
        .min(1)
        .meta({
          description:
            "Carries the key: a name, or a path where it goes into the body. If a text with {value} is there, " +
            "the key replaces {value}",
          examples: ["params.args[0][0][2]"],
        }),
      key: pathSchema.optional().meta({
        description: "Field of a record that the list is ordered by and that no two have alike; `key` by default",
        examples: ["id"],
      }),
      first: z
        .union([z.string(), z.number()])
        .optional()
        .meta({
          description: "The value for the first page; without it the parameter is left out",
          examples: [0],
        }),
      ...sizeFields,
      ...moreField,
      ...sureField,
      lastPage: lastPageSchema,
    }),
    z.strictObject({
      kind: z.literal("nextLink").describe("An answer holds the address of the next page."),
      next: pathSchema.meta({
        description: "Where an answer holds the address of the next page; the last page has none",
        examples: ["links.next"],
      }),
      ...movingField,
      ...sureField,
    }),
    z.strictObject({
      kind: z.literal("linkHeader").describe("The Link header of an answer names the next page."),
      ...movingField,
      ...sureField,
    }),
  ]);
export type PagingSettings = z.infer<ReturnType<typeof pagingSchema>>;
