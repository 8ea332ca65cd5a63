import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";

/** What the socket says of a request; a header can say anything. */
export function connectionOf(context: Context): { address: string; rawHeaders: readonly string[] } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the server hands over, if there is one
  const { incoming } = (context.env ?? {}) as Partial<HttpBindings>;
  return { address: incoming?.socket.remoteAddress ?? "", rawHeaders: incoming?.rawHeaders ?? [] };
}
