import { startServer, type Asked } from "../support/http-server.ts";

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
  const origin = await startServer((one, response) => {
    asked.push(one);
    void Promise.resolve(answer(one, asked.length)).then(
      ({ status = 200, headers = {}, body = [], breakOff = false }) => {
        const bytes = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
        if (breakOff) {
          response.writeHead(status, { "content-length": "1000", ...headers });
          response.write("[{", () => response.destroy());
        } else response.writeHead(status, { "content-type": "application/json", ...headers }).end(bytes);
      },
    );
  });
  return { origin, asked };
}
