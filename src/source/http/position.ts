import { z } from "zod";
import { isClean } from "../without-secrets.ts";
import type { PagePosition } from "./paging.ts";

const positionSchema = z.strictObject({
  form: z.literal(1),
  /** What the reading was asked for; another question begins anew. */
  since: z.string().nullable(),
  /** Number of the page that comes next. */
  page: z.int().min(2),
  parameters: z.record(z.string(), z.union([z.string(), z.number()])),
  url: z.url({ protocol: /^https?$/u }).nullable(),
  sum: z.int().min(0),
  total: z.int().min(0).nullable(),
  changes: z
    .strictObject({ serviceTime: z.number().optional(), began: z.number().optional(), rows: z.int().min(0) })
    .nullable(),
  /** Column names that a CSV answer had. */
  header: z.array(z.string()).nullable(),
});

/** How far a reading has come: everything that it goes on with. */
export type Position = z.infer<typeof positionSchema>;

/** Longest position that is kept. */
const mostCharacters = 8_000;

/**
 * A position as text. Undefined for one that is not to be kept: it is very long, or what the service gave for the next
 * page holds an e-mail address or a phone number.
 */
export function positionText(position: Position): string | undefined {
  const text = JSON.stringify(position);
  if (text.length > mostCharacters) return undefined;
  const given = [...Object.values(position.parameters), position.url ?? ""];
  return given.every((value) => isClean(String(value))) ? text : undefined;
}

/** The position behind a text; undefined for one of another question, or none at all. */
export function positionOf(text: string | undefined, since: string | undefined): Position | undefined {
  if (text === undefined) return undefined;
  try {
    const parsed = positionSchema.safeParse(JSON.parse(text));
    return parsed.success && parsed.data.since === (since ?? null) ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

export function pageOf(position: Position): PagePosition {
  return { parameters: position.parameters, ...(position.url === null ? {} : { url: new URL(position.url) }) };
}
