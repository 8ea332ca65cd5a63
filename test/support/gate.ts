import { createServer, type IncomingMessage } from "node:http";
import { request as send } from "undici";
import { dated } from "./http-server.ts";

/** One call of a service as it comes to the gate. */
export interface GateCall {
  writes: boolean;
  /** How many calls of its sort, writing or not, came before it. */
  before: number;
}

/** A door of its own to a platform: what comes through it comes from the one program that was given its address. */
export interface Gate {
  url: string;
  /** Calls that came so far, and how many of them write. */
  calls: () => { all: number; writing: number };
  close: () => Promise<void>;
}

type Method = "GET" | "POST" | "PUT" | "DELETE";

/**
 * Passes every call on to a platform. A call waits for `before` ahead of the platform, and its reply for `after`.
 */
export async function startGate(
  platform: string,
  watch: {
    before?: (call: GateCall) => void | Promise<void>;
    after?: (call: GateCall) => void | Promise<void>;
  } = {},
): Promise<Gate> {
  const came = { reading: 0, writing: 0 };
  const server = createServer((incoming, outgoing) => {
    passOn(incoming).then(
      ({ status, headers, body }) => outgoing.writeHead(status, headers).end(body),
      () => outgoing.destroy(),
    );
  });

  async function passOn(
    incoming: IncomingMessage,
  ): Promise<{ status: number; headers: Record<string, string>; body: string }> {
    const writes = incoming.method !== "GET";
    const kind = writes ? "writing" : "reading";
    const call = { writes, before: came[kind] };
    came[kind] += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
    await watch.before?.(call);
    const { authorization, clienttoken, usertoken } = incoming.headers;
    const { statusCode, headers, body } = await send(`${platform}${incoming.url ?? "/"}`, {
      method: incoming.method as Method,
      headers: { "content-type": "application/json", authorization, clienttoken, usertoken },
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    });
    const text = await body.text();
    await watch.after?.(call);
    return { status: statusCode, headers: dated(headers), body: text };
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the gate has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    calls: () => ({ all: came.reading + came.writing, writing: came.writing }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
