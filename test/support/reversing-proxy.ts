import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import { request as send } from "undici";
import { z } from "zod";

const listAnswer = z.looseObject({ code: z.literal(0), data: z.array(z.unknown()) });

/** Passes every call on to a platform, and turns the list that E5 answers round. */
export async function startReversingProxy(platform: string): Promise<{
  url: string;
  /** How many answers were turned round. */
  reversed: () => number;
  close: () => Promise<void>;
}> {
  let reversed = 0;
  const server = createServer((incoming, outgoing) => {
    passOn(incoming).then(
      ({ status, body }) => outgoing.writeHead(status, { "content-type": "application/json" }).end(body),
      () => outgoing.destroy(),
    );
  });

  async function passOn(incoming: IncomingMessage): Promise<{ status: number; body: string }> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
    const { authorization, clienttoken, usertoken } = incoming.headers;
    const { statusCode, body } = await send(`${platform}${incoming.url ?? "/"}`, {
      method: incoming.method === "POST" ? "POST" : "GET",
      headers: { "content-type": "application/json", authorization, clienttoken, usertoken },
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    });
    const text = await body.text();
    if (incoming.url?.includes("/licenseOrder/batchOrder?") !== true) return { status: statusCode, body: text };
    const answer = listAnswer.parse(JSON.parse(text));
    reversed += 1;
    return { status: statusCode, body: JSON.stringify({ ...answer, data: answer.data.toReversed() }) };
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    reversed: () => reversed,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
