import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { Clock } from "../base/clock.ts";
import { failure, Refusal } from "./answers.ts";
import type { Answer } from "./answers.ts";
import type { Door } from "./door.ts";
import { appliesCall } from "./faults.ts";
import type { Fault } from "./faults.ts";
import { routes } from "./endpoints.ts";
import type { Call, EndpointId, ServiceName } from "./endpoints.ts";
import { faultyAnswer, faultyReply, jsonType, replyOf, send } from "./replies.ts";
import type { Reply } from "./replies.ts";
import { parseBody } from "./services.ts";
import type { Services } from "./services.ts";

/** One request and what becomes of it. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  operation: EndpointId;
  parameters: string[];
  query: URLSearchParams;
  fault: Fault | undefined;
}

/** Where a call waits for whoever holds the gate: when it came, and when it was applied and nobody was told yet. */
export type Gate = (operation: EndpointId, when: "before" | "after") => Promise<void> | undefined;

interface Parts {
  services: Services;
  door: Door;
  clock: Clock;
  errorStatus: number;
  /** Half before the effect and half after it, so that a caller who dies in between leaves both kinds behind. */
  latencyMs: number;
  gate: Gate;
  /** Aborted when the sandbox closes. */
  closing: AbortSignal;
  dates: Dates;
}

/** How far the clock of a service is ahead of the sandbox's, in milliseconds; `none`: it sends no Date header. */
export type Dates = Map<ServiceName, number | "none">;

const bodyLimit = 64 * 1024 * 1024;

/** Reads the whole body as UTF-8. Rejects when the caller goes away first or the body is larger than 64 MB. */
export function readBody(request: IncomingMessage): Promise<string> {
  const { headers } = request;
  if (headers["content-length"] === undefined && headers["transfer-encoding"] === undefined) return Promise.resolve("");
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > bodyLimit) request.destroy(new Error("body too large"));
      else chunks.push(chunk);
    });
    request.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
    request.on("error", reject);
  });
}

/** Resets a connection, so that its peer sees ECONNRESET. */
export function reset(request: IncomingMessage): void {
  request.socket.resetAndDestroy();
}

/** What answers a call of the two services, faults included. */
export function createExchanges(parts: Parts): (exchange: Exchange) => Promise<void> {
  const { services, door, clock, errorStatus, closing } = parts;

  function date({ response, operation }: Exchange): void {
    const ahead = parts.dates.get(routes[operation].service) ?? 0;
    response.sendDate = false;
    if (ahead !== "none") response.setHeader("date", new Date(clock.now() + ahead).toUTCString());
  }

  function answerOf(exchange: Exchange, text: string, call: Call): Answer {
    const { service } = routes[exchange.operation];
    try {
      door(service, exchange.request.headers, text !== "", exchange.query);
    } catch (error) {
      if (error instanceof Refusal) return failure(error.code, error.reason);
      throw error;
    }
    return services.run(exchange.operation, call);
  }

  async function deliverFaulty(exchange: Exchange, fault: Fault, text: string, call: Call): Promise<void> {
    const { request, response, operation } = exchange;
    if (fault.fault === "slow") await clock.sleep(fault.delayMs, closing);
    const truth = appliesCall(fault) ? answerOf(exchange, text, call) : undefined;
    if (parts.latencyMs > 0) await clock.sleep(parts.latencyMs / 2, closing);
    date(exchange);
    switch (fault.fault) {
      case "resetBefore":
      case "appliedNoReply":
        return reset(request);
      case "appliedLate":
        // The call is refused or applied when its time comes; nobody is left to be told.
        return services.runLater(operation, call, fault.delayMs);
      case "silence":
        return;
      case "hugeBody":
        return sendHuge(response, fault.bytes);
      default:
    }
    const reply = faultyReply(fault, operation, truth, errorStatus);
    if (reply !== undefined) return send(response, reply);
    const honest = replyOf(faultyAnswer(fault, truth ?? failure("500", "fault")), errorStatus);
    if (fault.fault === "resetMidReply") return sendHalf(request, response, honest);
    if (fault.fault === "oneBytePerSecond") return sendSlowly(response, honest, fault.delayMs, clock, closing);
    send(response, honest);
  }

  return async (exchange) => {
    const { request, response, fault, parameters, query } = exchange;
    if (fault?.fault === "refused") return reset(request);
    const text = await readBody(request);
    const failingEntries = fault?.fault === "partialM1" ? fault.drop : 0;
    const call: Call = { parameters, query, body: parseBody(text), text, failingEntries, failingWords: fault?.words };
    if (parts.latencyMs > 0) await clock.sleep(parts.latencyMs / 2, closing);
    await parts.gate(exchange.operation, "before");
    if (fault !== undefined) return deliverFaulty(exchange, fault, text, call);
    const reply = replyOf(answerOf(exchange, text, call), errorStatus);
    await parts.gate(exchange.operation, "after");
    if (parts.latencyMs > 0) await clock.sleep(parts.latencyMs / 2, closing);
    date(exchange);
    send(response, reply);
  };
}

function begin(response: ServerResponse, reply: Reply, length: number): void {
  response.writeHead(reply.status, { "content-type": reply.type, "content-length": length });
}

function sendHalf(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  const body = Buffer.from(reply.body);
  begin(response, reply, body.length);
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => reset(request));
}

async function sendSlowly(
  response: ServerResponse,
  reply: Reply,
  delayMs: number,
  clock: Clock,
  closing: AbortSignal,
): Promise<void> {
  const body = Buffer.from(reply.body);
  begin(response, reply, body.length);
  for (let index = 0; index < body.length; index += 1) {
    if (response.destroyed) return;
    response.write(body.subarray(index, index + 1));
    await clock.sleep(delayMs, closing);
  }
  response.end();
}

async function sendHuge(response: ServerResponse, bytes: number): Promise<void> {
  const start = Buffer.from('{"code":0,"message":"');
  const end = Buffer.from('"}');
  const length = Math.max(bytes, start.length + end.length);
  response.writeHead(200, { "content-type": jsonType, "content-length": length });
  await pipeline(function* () {
    yield start;
    const filling = Buffer.alloc(64 * 1024, "x");
    for (let left = length - start.length - end.length; left > 0; left -= filling.length) {
      yield filling.subarray(0, Math.min(left, filling.length));
    }
    yield end;
  }, response);
}
