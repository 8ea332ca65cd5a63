import type { ServerResponse } from "node:http";
import { acknowledged, failure, success } from "./answers.ts";
import type { Answer } from "./answers.ts";
import type { Fault } from "./faults.ts";
import { routes } from "./endpoints.ts";
import type { EndpointId } from "./endpoints.ts";
import { isObject } from "./staff-bodies.ts";

/** What goes over the wire. */
export interface Reply {
  status: number;
  type: string;
  headers?: Record<string, string>;
  body: string;
}

export const jsonType = "application/json;charset=UTF-8";

/**
 * An answer on the wire: success with 200, a bad token of the order service with 401, other errors with `errorStatus`.
 */
export function replyOf({ status: given, ...answer }: Answer, errorStatus: number): Reply {
  const status = given ?? (answer.code === 0 ? 200 : answer.code === "401" ? 401 : errorStatus);
  return { status, type: jsonType, body: JSON.stringify(answer) };
}

/** Sends a reply whole; head and body leave in one write because the body is text. */
export function send(response: ServerResponse, reply: Reply): void {
  const length = Buffer.byteLength(reply.body);
  response.writeHead(reply.status, { "content-type": reply.type, "content-length": length, ...reply.headers });
  response.end(reply.body);
}

/**
 * The reply that a fault puts in the place of the true one; undefined where the fault leaves the reply as it is.
 * `truth` is the answer of the call when it was applied.
 */
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

/** An answer with rows or sequences missing or doubled, as the fault says; any other answer as it is. */
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

/** The data with the fault's value in its field, in every place or in the one that is meant. */
function withField(data: unknown, fault: Fault): unknown {
  let place = 0;
  const visit = (item: unknown): unknown => {
    if (Array.isArray(item)) return item.map(visit);
    // A number that was written as text (`JSON.rawJSON`) is no object of the answer.
    if (!isObject(item) || "rawJSON" in item) return item;
    return Object.fromEntries(
      Object.entries(item).map(([name, value]) => {
        if (name !== fault.field) return [name, visit(value)];
        place += 1;
        return [name, fault.row === undefined || fault.row === place ? fault.value : value];
      }),
    );
  };
  return visit(data);
}
