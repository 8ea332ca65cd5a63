import { createServer, type Socket } from "node:net";
import { parseArgs } from "node:util";
import { type Replayed, answerTo, replayed } from "./answers.ts";
import { Holding } from "./holding.ts";
import { Memory } from "./memory.ts";

/**
 * The replay server, a process of its own: recorded answers over bare sockets (HTTP/1.1, keep-alive), nothing
 * validated, each answer held for `--latency` milliseconds. It tells its port to the process that started it, and
 * answers "report" with what it has done. With `--known` every customer was created before; with `--memory` it knows
 * what an earlier server with this file was told.
 */

const { values } = parseArgs({
  options: {
    latency: { type: "string", default: "0" },
    known: { type: "boolean", default: false },
    memory: { type: "string" },
  },
});

const memory = Memory.open(values.memory, values.known);
const calls = new Map<Replayed, number>(replayed.map((call) => [call, 0]));
let fetched = 0;
let refused = 0;
const holding = new Holding(Number(values.latency));
/** What starting cost, which is no part of answering. */
let startCpu = process.cpuUsage();

const endOfHead = "\r\n\r\n";
const contentLength = /\r\ncontent-length: *(\d+)/iu;

function serve(socket: Socket): void {
  let waiting = "";
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    waiting = waiting === "" ? chunk.toString("latin1") : waiting + chunk.toString("latin1");
    for (;;) {
      const end = waiting.indexOf(endOfHead);
      if (end === -1) return;
      const length = waiting.startsWith("GET ") ? 0 : Number(contentLength.exec(waiting.slice(0, end))?.[1] ?? "0");
      const start = end + endOfHead.length;
      if (waiting.length < start + length) return;
      const head = waiting.slice(0, end);
      const body = waiting.slice(start, start + length);
      waiting = waiting.slice(start + length);
      answer(socket, head, body);
    }
  });
}

/** The header's text, made once a second. */
let dated = { second: 0, text: "" };

function date(): string {
  const second = Math.floor(Date.now() / 1_000);
  if (dated.second !== second) dated = { second, text: new Date(second * 1_000).toUTCString() };
  return dated.text;
}

function answer(socket: Socket, head: string, body: string): void {
  const target = head.slice(head.indexOf(" ") + 1, head.indexOf(" HTTP/"));
  const found = answerTo(target, body, memory);
  if (found === undefined) {
    refused += 1;
    socket.write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    return;
  }
  calls.set(found.call, (calls.get(found.call) ?? 0) + 1);
  // A header that fetch always sends and a bare request never does.
  if (head.includes("sec-fetch-mode")) fetched += 1;
  const text =
    `HTTP/1.1 200 OK\r\nDate: ${date()}\r\nContent-Type: application/json\r\nContent-Length: ` +
    `${found.answer.length}\r\n\r\n${found.answer}`;
  holding.hold(() => socket.write(text, "latin1"));
}

const server = createServer(serve);
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the replay server has no port");
  startCpu = process.cpuUsage();
  process.send?.({ port: address.port });
});

process.on("message", () => {
  const { user, system } = process.cpuUsage(startCpu);
  process.send?.({
    calls: Object.fromEntries(calls),
    fetched,
    refused,
    ...holding.held,
    cpuSeconds: (user + system) / 1e6,
  });
});
process.on("disconnect", () => {
  if (values.memory !== undefined) memory.keep(values.memory);
  process.exit(0);
});
