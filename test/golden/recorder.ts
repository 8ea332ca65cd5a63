import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { type Json, type Service, operationOf, parseExactly } from "./operations.ts";

/** A call of a service that passed the recorder. */
export interface Call {
  /** Index of the step of the life in which it came. */
  step: number;
  operation: string;
  service: Service;
  method: string;
  /** Path behind the base path, and its query without the nonce. */
  path: string;
  /** What the path names: `enterprise`, `member`, `asset`. */
  names: Record<string, string>;
  query: URLSearchParams;
  body: Json;
  /** The reply's body; null where there was none. */
  answer: Json;
}

/**
 * What happens to the n-th call of an operation from now on. `before`: it does not reach the service. `after`: the
 * service answered, and nobody gets the answer. Then `act` runs, and the connection is cut.
 */
export interface Cut {
  operation: string;
  nth?: number;
  when: "before" | "after";
  act?: () => Promise<void> | void;
}

/** Stands between the program and the sandbox, keeps every call, and cuts some. */
export interface Recorder {
  readonly url: string;
  readonly calls: Call[];
  step: number;
  /** The time of both services, epoch milliseconds. */
  now: () => number;
  cut(cut: Cut): void;
  close(): Promise<void>;
}

export async function startRecorder(sandbox: string): Promise<Recorder> {
  const calls: Call[] = [];
  const cuts: (Cut & { left: number })[] = [];
  const recorder = { calls, step: 0, now: Date.now };

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? "/", sandbox);
    const method = incoming.method ?? "GET";
    const found = operationOf(method, url.pathname);
    const body = await buffer(incoming);
    const cut = found === undefined ? undefined : takeCut(cuts, found.operation);
    let call: Call | undefined;
    if (found !== undefined) {
      url.searchParams.delete("g_nonce");
      const { operation, service, path, names } = found;
      const query = url.searchParams;
      const shown = query.size === 0 ? path : `${path}?${decodeURIComponent(query.toString())}`;
      call = {
        step: recorder.step,
        operation,
        service,
        method,
        path: shown,
        names,
        query,
        body: body.length === 0 ? null : parseExactly(body.toString()),
        answer: null,
      };
      calls.push(call);
    }
    if (cut?.when === "before") {
      await cut.act?.();
      incoming.socket.destroy();
      return;
    }
    await forward({ sandbox, incoming, body }, async (reply, chunks) => {
      if (call !== undefined && reply.complete) call.answer = jsonOf(chunks);
      if (cut !== undefined) {
        await cut.act?.();
        incoming.socket.destroy();
        return;
      }
      outgoing.writeHead(reply.statusCode ?? 502, { ...reply.headers, date: new Date(recorder.now()).toUTCString() });
      for (const chunk of chunks) outgoing.write(chunk);
      if (reply.complete) outgoing.end();
      else incoming.socket.destroy();
    }).catch(() => incoming.socket.destroy());
  }

  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  await listen(server);
  const { port } = server.address() as AddressInfo;
  return Object.assign(recorder, {
    url: `http://127.0.0.1:${port}`,
    cut: (cut: Cut) => void cuts.push({ ...cut, left: cut.nth ?? 1 }),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

/** The cut whose turn it is, which is then over. */
function takeCut(cuts: (Cut & { left: number })[], operation: string): Cut | undefined {
  for (const [index, cut] of cuts.entries()) {
    if (cut.operation !== operation) continue;
    cut.left -= 1;
    if (cut.left === 0) return cuts.splice(index, 1)[0];
  }
  return undefined;
}

interface Request {
  sandbox: string;
  incoming: IncomingMessage;
  body: Buffer;
}

/** Sends a request on; `done` gets the reply with what came of its body, also where it was cut. */
async function forward(
  { sandbox, incoming, body }: Request,
  done: (reply: IncomingMessage, chunks: Buffer[]) => Promise<void>,
): Promise<void> {
  const { method = "GET", url = "/", headers } = incoming;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const sent = request(new URL(url, sandbox), { method, headers: { ...headers, connection: "close" }, agent: false });
  sent.on("error", reject);
  sent.on("response", (reply) => {
    const chunks: Buffer[] = [];
    reply.on("data", (chunk: Buffer) => chunks.push(chunk));
    reply.on("error", () => undefined);
    reply.on("close", () => void done(reply, chunks).then(resolve, reject));
  });
  sent.end(body);
  await promise;
}

function jsonOf(chunks: Buffer[]): Json {
  try {
    return parseExactly(Buffer.concat(chunks).toString());
  } catch {
    return null;
  }
}

async function listen(server: Server): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
}
