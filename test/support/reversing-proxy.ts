import { createServer, type IncomingMessage } from "node:http";
import { request as send } from "undici";
import { z } from "zod";
import { dated } from "./http-server.ts";

const listAnswer = z.looseObject({ code: z.literal(0), data: z.array(z.unknown()) });

/** Stands before a platform. */
interface Proxy {
  url: string;
  close: () => Promise<void>;
}

/**
 * Passes every call on to a platform, and its answer through `change`, which gives undefined for what stays as it is.
 */
export async function startChangingProxy(
  platform: string,
  change: (url: string, text: string) => string | undefined,
): Promise<Proxy> {
  const server = createServer((incoming, outgoing) => {
    passOn(incoming).then(
      ({ status, headers, body }) => outgoing.writeHead(status, headers).end(body),
      () => outgoing.destroy(),
    );
  });

  async function passOn(
    incoming: IncomingMessage,
  ): Promise<{ status: number; headers: Record<string, string>; body: string }> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
    const { authorization, clienttoken, usertoken } = incoming.headers;
    const url = incoming.url ?? "/";
    const { statusCode, headers, body } = await send(`${platform}${url}`, {
      method: incoming.method === "POST" ? "POST" : "GET",
      headers: { "content-type": "application/json", authorization, clienttoken, usertoken },
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    });
    const text = await body.text();
    return { status: statusCode, headers: dated(headers), body: change(url, text) ?? text };
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * Passes every call on to a platform, and turns the list that E5 answers round; `reversed` says how many answers were
 * turned.
 */
export async function startReversingProxy(platform: string): Promise<Proxy & { reversed: () => number }> {
  let reversed = 0;
  const proxy = await startChangingProxy(platform, (url, text) => {
    if (!url.includes("/licenseOrder/batchOrder?")) return undefined;
    const answer = listAnswer.parse(JSON.parse(text));
    reversed += 1;
    return JSON.stringify({ ...answer, data: answer.data.toReversed() });
  });
  return { ...proxy, reversed: () => reversed };
}
