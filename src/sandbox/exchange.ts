import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { Clock } from "../base/clock.ts";
import { acknowledged, failure, Refusal, success, type Answer } from "./answers.ts";
import type { Door } from "./door.ts";
import { routes, type Call, type EndpointId, type ServiceName } from "./endpoints.ts";
import { appliesCall, type Fault } from "./faults.ts";
import { parseBody, type Services } from "./services.ts";
import { isObject, withMembers } from "./staff.ts";

export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  operation: EndpointId;
  parameters: string[];
  query: URLSearchParams;
  fault: Fault | undefined;
}

/** A call waits here: `before` its effect, or `after` it and before the reply. */
export type Gate = (operation: EndpointId, when: "before" | "after") => Promise<void> | undefined;

interface Parts {
  services: Services;
  door: Door;
  clock: Clock;
  errorStatus: number;
  /** Half before and half after the effect, so that killed callers leave both kinds. */
  latencyMs: number;
  gate: Gate;
  closing: AbortSignal;
  dates: Dates;
}

/** How far a service's clock is ahead, in milliseconds; `none`: no Date header. */
export type Dates = Map<ServiceName, number | "none">;

const bodyLimit = 64 * 1024 * 1024;

/** Rejects if the caller disconnects or the body is larger than 64 MB. */
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

export function reset(request: IncomingMessage): void {
  request.socket.resetAndDestroy();
}

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
        // The call gets its answer later, and nobody hears it.
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

export interface Reply {
  status: number;
  type: string;
  headers?: Record<string, string>;
  body: string;
}

export const jsonType = "application/json;charset=UTF-8";

export function replyOf({ status: given, ...answer }: Answer, errorStatus: number): Reply {
  const status = given ?? (answer.code === 0 ? 200 : answer.code === "401" ? 401 : errorStatus);
  return { status, type: jsonType, body: JSON.stringify(answer) };
}

/** Head and body leave in one write, because the body is text. */
export function send(response: ServerResponse, reply: Reply): void {
  const length = Buffer.byteLength(reply.body);
  response.writeHead(reply.status, { "content-type": reply.type, "content-length": length, ...reply.headers });
  response.end(reply.body);
}

/** The fault's reply; undefined if it keeps the true reply. `truth`: the answer of an applied call. */
export function faultyReply(
  fault: Fault,
  operation: EndpointId,
  truth: Answer | undefined,
  errorStatus: number,
): Reply | undefined {
  const asError = (code: string, reason: string, status = errorStatus): Reply => ({
    status: fault.status ?? status,
    type: jsonType,
    body: JSON.stringify(failure(code, reason)),
  });
  switch (fault.fault) {
    case "code500":
      return asError("500", "fault");
    case "status299":
      return asError(fault.code ?? "500", fault.words ?? "fault", 299);
    case "oddCode":
      return asError(fault.code ?? "99999", fault.words ?? "fault");
    case "expiredToken": {
      const code = fault.code ?? (routes[operation].service === "order" ? "401" : "60000");
      return asError(code, "token expired", code === "401" ? 401 : errorStatus);
    }
    case "http502":
      return { status: 502, type: "text/html", body: "<html><body><h1>502 Bad Gateway</h1></body></html>" };
    case "http503":
      return unavailable(503, "Service Unavailable", fault.retryAfter);
    case "http429":
      return unavailable(429, "Too Many Requests", fault.retryAfter);
    case "wrongJson": {
      const body = JSON.stringify(truth ?? success(null));
      return { status: 200, type: jsonType, body: body.slice(0, Math.floor(body.length / 2)) };
    }
    case "codeTwice": {
      const body = JSON.stringify(truth ?? failure("13004", "fault"));
      return {
        status: 200,
        type: jsonType,
        body: `${body.slice(0, -1)},"code":${truth === undefined ? "0" : '"13004"'}}`,
      };
    }
    case "emptyPromise":
      return { status: 200, type: jsonType, body: JSON.stringify(acknowledged()) };
    case "wrongShape":
      return { status: 200, type: jsonType, body: JSON.stringify(success({ unexpected: "shape" })) };
    default:
      return undefined;
  }
}

function unavailable(status: number, text: string, retryAfter: string): Reply {
  return { status, type: "text/plain", headers: { "retry-after": retryAfter }, body: text };
}

export function faultyAnswer(fault: Fault, answer: Answer): Answer {
  const { data } = answer;
  if (answer.code !== 0) return answer;
  if (fault.fault === "oddData") return { ...answer, data: fault.value };
  if (fault.fault === "oddField") return { ...answer, data: withField(data, fault) };
  if (fault.fault === "shortPage") {
    const kept = (rows: readonly unknown[]): unknown[] =>
      fault.dropFrom === "end" ? rows.slice(0, -fault.drop) : rows.slice(fault.drop);
    if (Array.isArray(data)) return { ...answer, data: kept(data) };
    if (!isObject(data) || !Array.isArray(data["list"])) return answer;
    const list = kept(data["list"]);
    const missing = data["list"].length - list.length;
    const total = typeof data["total"] === "number" && fault.shrinkTotal ? data["total"] - missing : data["total"];
    return { ...answer, data: { ...data, list, size: list.length, total } };
  }
  if (!Array.isArray(data)) return answer;
  const rows: unknown[] = data;
  if (fault.fault === "e5MissingSequence") return { ...answer, data: rows.slice(0, -1) };
  if (fault.fault === "e5DuplicateSequence") return { ...answer, data: [...rows, rows[0]] };
  return answer;
}

function withField(data: unknown, fault: Fault): unknown {
  let place = 0;
  return withMembers(data, (name, value) => {
    if (name !== fault.field) return undefined;
    place += 1;
    return [fault.row === undefined || fault.row === place ? fault.value : value];
  });
}
