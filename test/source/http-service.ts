import { createServer } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface Asked {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  /** Text and bytes as they are; anything else as JSON. */
  body?: unknown;
  /** Closes the connection in the middle of the answer. */
  breakOff?: boolean;
}

export interface Service {
  origin: string;
  asked: Asked[];
}

/** A real HTTP server for one test; `answer` decides on each request and its number, counted from 1. */
export async function startService(
  answer: (asked: Asked, number: number) => Answer | Promise<Answer>,
): Promise<Service> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const url = new URL(request.url ?? "/", "http://service");
      const seen: Asked = {
        method: request.method ?? "",
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        headers: request.headers,
        body: Buffer.concat(chunks).toString("utf8"),
      };
      asked.push(seen);
      void Promise.resolve(answer(seen, asked.length)).then(
        ({ status = 200, headers = {}, body = [], breakOff = false }) => {
          const bytes = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
          if (breakOff) {
            response.writeHead(status, { "content-length": "1000", ...headers });
            response.write("[{", () => response.destroy());
          } else response.writeHead(status, { "content-type": "application/json", ...headers }).end(bytes);
        },
      );
    });
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, asked };
}
