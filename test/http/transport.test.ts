import { onTestFinished, expect, test } from "vitest";

import { createTransport, type TransportRequest } from "../../src/http/transport.ts";
import { startService, success } from "./scripted-service.ts";

function transportTo(baseUrl: string, callTimeoutMs: number) {
  const transport = createTransport({
    baseUrl,
    connections: 1,
    connectTimeoutMs: 60_000,
    headersTimeoutMs: 60_000,
    bodyTimeoutMs: 60_000,
    callTimeoutMs,
    answerLimitBytes: 1024,
  });
  onTestFinished(() => transport.close());
  return transport;
}

const post: TransportRequest = {
  method: "POST",
  path: "/x",
  headers: ["Content-Type", "application/json"],
  body: "{}",
};

test("a request that was given up while it waited for a connection never leaves", async () => {
  const { promise: given, resolve: giveUp } = Promise.withResolvers<void>();
  const service = await startService((seen) =>
    seen.path === "/slow" ? (response) => void given.then(() => response.end("{}")) : success(null),
  );
  const transport = transportTo(service.url, 60_000);
  const stop = new AbortController();
  const slow = transport.send({ ...post, path: "/slow" });
  const waiting = transport.send({ ...post, path: "/given-up", signal: stop.signal });
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ written: false, reason: "stopped" });
  giveUp();
  await slow;
  await transport.send({ ...post, path: "/after" });
  expect(service.seen.map((seen) => seen.path)).toEqual(["/slow", "/after"]);
});

test(
  "an answer that drips in, byte by byte, is given up after the longest time for a call",
  { tags: "long" },
  async () => {
    const service = await startService(() => (response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(drip));
    });
    await expect(transportTo(service.url, 2_000).send(post)).rejects.toMatchObject({
      written: true,
      reason: "the call took too long",
      status: 200,
    });
  },
);

test("nothing is followed, repeated or decompressed, and the base path stands before every path", async () => {
  const service = await startService(() => ({
    status: 307,
    text: "",
    headers: { location: "/elsewhere", "retry-after": "3" },
  }));
  const answer = await transportTo(`${service.url}/base/`, 60_000).send(post);
  expect(answer).toEqual({ status: 307, retryAfter: "3", date: expect.any(Number), text: "" });
  expect(service.seen.map((seen) => seen.path)).toEqual(["/base/x"]);
  expect(service.seen[0]?.headers["accept-encoding"]).toBeUndefined();
});
