import { z } from "zod";
import { Refusal } from "./answers.ts";

/** Text that is required: present and not empty. */
export const requiredText = z.string().min(1);
/** An Integer of the order service: 32 bit. */
export const integer = z.int32();
/** A Long or Date: a whole number or a text, kept as it came. */
export const time = z.union([z.int(), z.string().min(1)], { error: "a whole number or a text is expected" });

/** A body or query of the order service by its schema; 13004 naming the first field that does not fit. */
export function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new Refusal("13004", issue === undefined ? "body is invalid" : `${fieldOf(issue.path)}: ${issue.message}`);
}

function fieldOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return "body";
  return path
    .map((part, index) => (typeof part === "number" ? `[${part}]` : `${index === 0 ? "" : "."}${String(part)}`))
    .join("");
}
