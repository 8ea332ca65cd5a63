import type { Context } from "hono";
import { documentOf } from "../frame.ts";
import type { Html } from "../page.ts";

export type Answer = Response | Promise<Response>;
type Status = 200 | 400 | 401 | 403 | 413 | 421 | 429 | 503;

export function barePage(
  context: Context,
  { title, text, cure, body = "" }: { title: string; text?: string; cure?: string; body?: Html | readonly Html[] | "" },
  status: Status = 200,
): Answer {
  const notice = text === undefined ? undefined : ({ kind: "failed", text, cure } as const);
  context.header("cache-control", "no-store");
  return context.html(documentOf({ title, body, notice }), status);
}

export function isForPeople(context: Context): boolean {
  return (context.req.header("accept") ?? "").includes("text/html");
}

export function refuse(context: Context, status: Status, said: { code: string; text: string; cure: string }): Answer {
  if (isForPeople(context)) return barePage(context, { title: "Not permitted", ...said }, status);
  context.header("cache-control", "no-store");
  return context.json({ error: said.code, message: said.text, cure: said.cure }, status);
}

export function unusable(context: Context): Answer {
  return refuse(context, 503, {
    code: "sessions-unusable",
    text: "Nobody can sign in now: crm-sync cannot use its file of sign-ins.",
    cure: "Tell the operator: the log of crm-sync says what is wrong with this file, which is beside the ledger.",
  });
}
