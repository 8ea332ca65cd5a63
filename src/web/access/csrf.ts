import { createHmac, timingSafeEqual } from "node:crypto";
import type { Context } from "hono";

/** What proves that a form is of ours for somebody who has no session: only who has the key can make it. */
export function proofOf(key: string, ...what: readonly string[]): string {
  return createHmac("sha256", key).update(JSON.stringify(what)).digest("hex");
}

/** The token that a request which changes something came with: in its form, or in a header of a script. */
export async function csrfOf(context: Context): Promise<string> {
  return context.req.header("x-csrf-token") ?? (await formOf(context)).get("csrf") ?? "";
}

/** The fields of a form; of a body that is none, nothing. */
async function formOf(context: Context): Promise<URLSearchParams> {
  const type = context.req.header("content-type") ?? "";
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/iu.test(type)) return new URLSearchParams();
  return new URLSearchParams(await context.req.text());
}

/** In a time that tells nothing of how much of it was right. */
export function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return expected !== "" && one.length === other.length && timingSafeEqual(one, other);
}
