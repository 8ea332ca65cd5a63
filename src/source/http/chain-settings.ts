import { z } from "zod";
import { pathSchema, requiredDetails } from "../file/file-source-settings.ts";
import { parsePath } from "../mapping/path.ts";
import type { Issue } from "../problems.ts";
import { addressOf, httpListFields, type HttpListSettings, type SinceSettings } from "./http-source-settings.ts";
import { checkList } from "./list-checks.ts";
import { placeSchema } from "./request-settings.ts";

export const placeholders = /\{([^{}]*)\}/gu;

const putSchema = z
  .strictObject({
    in: placeSchema.default("query").describe("Where it goes: query, header, or body of a POST"),
    parameter: z
      .string()
      .min(1)
      .meta({ description: "Name of the parameter or header, or path in the body", examples: ["inputs"] }),
    value: pathSchema.meta({ description: "Field of the record whose value is put there", examples: ["id"] }),
    member: z
      .string()
      .min(1)
      .optional()
      .meta({
        description: "With `batch`, into a body: each value becomes an object that holds it under this name",
        examples: ["id"],
      }),
  })
  .meta({ examples: [] });

const detailChainSchema = () =>
  z
    .strictObject({
      put: z
        .array(putSchema)
        .default([])
        .meta({
          description: "Values of the record that belong outside the address; inside it, write {field}",
          examples: [[{ in: "query", parameter: "company", value: "id" }]],
        }),
      batch: z
        .int()
        .min(1)
        .max(10_000)
        .optional()
        .meta({
          description:
            "One request for so many records: each `put` is then a list of their values, " +
            "and `key` of the rows tells whose they are",
          examples: [100],
        }),
      notFound: z
        .enum(["incomplete", "none"])
        .default("incomplete")
        .describe("What HTTP 404 means: that the reading is incomplete, or that there is nothing for this record"),
    })
    .meta({
      examples: [
        { put: [{ parameter: "order", value: "id" }], notFound: "none" },
        { batch: 100, put: [{ parameter: "orders", value: "id" }] },
      ],
    });
export type ChainSettings = z.infer<ReturnType<typeof detailChainSchema>>;

export const detailSchema = () =>
  z.strictObject({
    ...httpListFields(),
    key: pathSchema.optional().meta({
      description: "Field of a row that holds the key of its record; with `each` it may be left out, without `batch`",
      examples: ["orderId"],
    }),
    rowKey: pathSchema.optional().meta({
      description: "Field that identifies a row; crm-sync uses it to notice that the list changed during a read",
      examples: ["id"],
    }),
    required: requiredDetails,
    each: detailChainSchema().optional().describe("The rows are read record by record"),
  });
export type DetailSettings = z.infer<ReturnType<typeof detailSchema>>;

function checkChain({ url, method, key, each }: DetailSettings, baseUrl: string | undefined): Issue[] {
  if (each === undefined) return [];
  const issues: Issue[] = [];
  const named = [...url.matchAll(placeholders)].map(([, path = ""]) => path);
  for (const path of named) {
    const parsed = parsePath(path);
    if (!parsed.ok) issues.push({ path: ["url"], message: parsed.error });
  }
  if (named.length > 0 && originOf(url, "a", baseUrl) !== originOf(url, "b", baseUrl))
    issues.push({ path: ["url"], message: "has a value of a record in the name of its server" });
  if (named.length === 0 && each.put.length === 0)
    issues.push({ path: ["each"], message: "needs a {field} in `url`, or `put`: every request would be the same" });
  if (named.length > 0 && each.batch !== undefined)
    issues.push({
      path: ["each", "batch"],
      message: "found with a {field} in `url`, which holds one value; use `put`",
    });
  if (each.batch !== undefined && key === undefined)
    issues.push({ path: ["key"], message: "missing; with `each.batch` it tells whose a row is" });
  if (each.batch !== undefined && each.notFound === "none")
    issues.push({
      path: ["each", "notFound"],
      message: "found none with `batch`: HTTP 404 for one record would say that there is nothing for all of them",
    });
  for (const [index, put] of each.put.entries()) {
    const at = ["each", "put", String(index)];
    const inBody = put.in === "body";
    if (inBody && method === "GET") issues.push({ path: [...at, "in"], message: "found body with the method GET" });
    const parsed = inBody ? parsePath(put.parameter) : undefined;
    if (parsed?.ok === false) issues.push({ path: [...at, "parameter"], message: parsed.error });
    if (put.member !== undefined && (!inBody || each.batch === undefined))
      issues.push({ path: [...at, "member"], message: "is for a body, with `batch`" });
  }
  return issues;
}

function originOf(url: string, filling: string, baseUrl: string | undefined): string | undefined {
  try {
    return addressOf(url.replaceAll(placeholders, filling), baseUrl).origin;
  } catch {
    return undefined;
  }
}

interface Checked extends HttpListSettings {
  key?: string | undefined;
  since?: SinceSettings | undefined;
  details?: Readonly<Record<string, DetailSettings>> | undefined;
}

export function listsOf(path: string[], stream: Checked | undefined): (HttpListSettings & { path: string[] })[] {
  if (stream === undefined) return [];
  return [
    { ...stream, path },
    ...Object.entries(stream.details ?? {}).map(([name, list]) => ({ ...list, path: [...path, "details", name] })),
  ];
}

export function checkHttpStream(stream: Checked, baseUrl: string | undefined): Issue[] {
  const issues = checkList(stream, baseUrl);
  const add = (path: string[], message: string): number => issues.push({ path, message });
  for (const [detail, list] of Object.entries(stream.details ?? {})) {
    const at = ["details", detail];
    const found = [...checkList({ ...list, key: list.rowKey }, baseUrl), ...checkChain(list, baseUrl)];
    for (const { path, message } of found) add([...at, ...path], message);
    if (list.key === undefined && list.each === undefined)
      add([...at, "key"], "missing; detail rows are joined by the key of their record");
  }
  return issues;
}
