import type { MiddlewareHandler } from "hono";
import { refuse } from "./refused.ts";

const mostBodyBytes = 64 * 1024;

/**
 * Reads the body of a request that changes something as far as it is no flood; what comes after finds it read. Not
 * hono's own limit: with the server's own requests that one fails where no length is said beforehand.
 */
export function limitedBody(): MiddlewareHandler {
  return async (context, next) => {
    if (context.req.method !== "POST") return await next();
    const tooLarge = {
      code: "too-large",
      text: `The form is larger than ${mostBodyBytes} bytes. Nothing was done.`,
      cure: "Send a shorter text.",
    };
    if (Number(context.req.header("content-length") ?? 0) > mostBodyBytes) return refuse(context, 413, tooLarge);
    let text: string | undefined;
    try {
      text = await textOf(context.req.raw.body);
    } catch {
      return refuse(context, 400, {
        code: "broken-off",
        text: "The connection broke before the form had arrived. Nothing was done.",
        cure: "Send the form again.",
      });
    }
    if (text === undefined) return refuse(context, 413, tooLarge);
    // Where hono itself keeps what it has read.
    Object.assign(context.req.bodyCache, { text: Promise.resolve(text) });
    return await next();
  };
}

/** The whole of a body; undefined where it is too large. */
async function textOf(body: ReadableStream<Uint8Array> | null): Promise<string | undefined> {
  if (body === null) return "";
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks).toString("utf8");
    bytes += value.byteLength;
    if (bytes > mostBodyBytes) {
      // What still comes is not waited for: the connection ends with the answer.
      void reader.cancel().catch(() => {});
      return undefined;
    }
    chunks.push(value);
  }
}
