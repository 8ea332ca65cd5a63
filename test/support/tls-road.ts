import dns from "node:dns";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { createServer as createPlainServer, type AddressInfo, type Server, type Socket } from "node:net";
import { request as send } from "undici";
import { Authority } from "./authority.ts";
import { dated } from "./http-server.ts";

/** How the way to the platform fails for one connection, before a byte of a request is written. */
export type RoadFault =
  | "the name is not found"
  | "the port speaks no TLS"
  | "the certificate is of an unknown authority";

/** A platform behind TLS and a name, where every call takes a connection of its own. */
export interface TlsRoad {
  url: string;
  /** PEM file of the authority that its certificate is of. */
  authority: string;
  /** The path of each call that came, in order. */
  paths: readonly string[];
  /** Connections that met the fault. */
  faulted: () => number;
  close: () => Promise<void>;
}

/** The one name under which the program lets the fixed tokens of a sandbox out of an address in numbers. */
const name = "localhost";

/** Two authorities with a certificate each for the same name. */
export class Certificates {
  readonly #authorities = [new Authority("known"), new Authority("unknown")] as const;
  /** PEM file of the authority that is known. */
  readonly authority = this.#authorities[0].file;
  readonly known = this.#authorities[0].certificate(`DNS:${name}`);
  readonly unknown = this.#authorities[1].certificate(`DNS:${name}`);

  remove(): void {
    for (const authority of this.#authorities) authority.remove();
  }
}

/** Whether the name is found now; undefined where no road is open. */
let isFound: (() => boolean) | undefined;
const honest = dns.lookup;

/** The name of the road resolves to this machine as long as the road says so; all others as ever. */
function lookUp(wanted: string, options: unknown, answer: (...found: unknown[]) => void): void {
  const found = isFound;
  if (wanted !== name || found === undefined) return void Reflect.apply(honest, dns, [wanted, options, answer]);
  const all = typeof options === "object" && options !== null && "all" in options && options.all === true;
  process.nextTick(() => {
    if (!found()) answer(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: "ENOTFOUND" }));
    else if (all) answer(null, [{ address: "127.0.0.1", family: 4 }]);
    else answer(null, "127.0.0.1", 4);
  });
}

/**
 * Leads to the platform; the call that would be the `nth`, counted from 0, meets the fault in its place. One road at a
 * time: the name is looked up for all of this process.
 */
export async function startTlsRoad(
  platform: string,
  certificates: Certificates,
  meets?: { fault: RoadFault; nth: number },
): Promise<TlsRoad> {
  const paths: string[] = [];
  let connections = 0;
  let faulted = 0;
  const now = (): RoadFault | undefined => {
    const fault = connections === meets?.nth ? meets.fault : undefined;
    if (fault !== undefined) faulted += 1;
    return fault;
  };

  const pass = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    paths.push(incoming.url ?? "/");
    passOn(platform, incoming, outgoing).catch(() => outgoing.destroy());
  };
  const known = createServer(certificates.known, pass);
  const unknown = createServer(certificates.unknown, pass);
  const sockets = new Set<Socket>();
  const front = createPlainServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
    const fault = meets?.fault === "the name is not found" ? undefined : now();
    connections += 1;
    if (fault === "the port speaks no TLS") socket.end("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
    else (fault === undefined ? known : unknown).emit("connection", socket);
  });
  if (isFound !== undefined) throw new Error("another road is open");
  Object.assign(dns, { lookup: lookUp });
  isFound = () => {
    if (meets?.fault !== "the name is not found" || now() === undefined) return true;
    connections += 1;
    return false;
  };
  const port = await listen(front);
  return {
    url: `https://${name}:${port}`,
    authority: certificates.authority,
    paths,
    faulted: () => faulted,
    close: async () => {
      isFound = undefined;
      Object.assign(dns, { lookup: honest });
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => front.close(() => resolve()));
    },
  };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

const methods = ["GET", "POST", "PUT", "DELETE"] as const;

async function passOn(platform: string, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
  const { authorization, clienttoken, usertoken } = incoming.headers;
  const { statusCode, headers, body } = await send(`${platform}${incoming.url ?? "/"}`, {
    method: methods.find((method) => method === incoming.method) ?? "GET",
    headers: { "content-type": "application/json", authorization, clienttoken, usertoken },
    ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
  });
  outgoing.writeHead(statusCode, { ...dated(headers), connection: "close" }).end(await body.text());
}
