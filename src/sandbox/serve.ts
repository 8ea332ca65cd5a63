import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../base/clock.ts";
import { failure } from "./answers.ts";
import type { CallCounts } from "./call-counts.ts";
import { controlPrefix, controlReply } from "./control.ts";
import type { Controls } from "./control.ts";
import { findEndpoint } from "./endpoints.ts";
import { readBody, reset } from "./exchange.ts";
import type { Exchange } from "./exchange.ts";
import { jsonType, send } from "./replies.ts";
import type { Tokens } from "./tokens.ts";

/** What answers requests. */
interface Served {
  exchange: (exchange: Exchange) => Promise<void>;
  calls: CallCounts;
  controls: Controls;
  tokens: Tokens;
  clock: Clock;
  /** Aborted when the sandbox closes. */
  closing: AbortSignal;
}

/** Answers a request: an endpoint of the two services, a control path of ours, or the token call. */
export async function serve(parts: Served, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const target = request.url ?? "/";
  const cut = target.indexOf("?");
  const path = cut < 0 ? target : target.slice(0, cut);
  const query = new URLSearchParams(cut < 0 ? "" : target.slice(cut + 1));
  const method = request.method ?? "GET";
  const found = findEndpoint(method, path);
  if (found !== undefined) {
    const { id: operation, parameters } = found;
    const fault = parts.calls.faultFor(operation, [...parameters, ...query.values()]);
    return parts.exchange({ request, response, operation, parameters, query, fault });
  }
  if (path.startsWith(controlPrefix)) {
    return send(response, controlReply(parts.controls, method, path, query, await readBody(request)));
  }
  if (path === "/oauth/token" && method === "POST") return serveToken(parts, request, response);
  send(response, { status: 404, type: jsonType, body: JSON.stringify(failure("404", `no ${method} ${path}`)) });
}

async function serveToken(
  { calls, tokens, clock, closing }: Served,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const fault = calls.faultFor("token");
  if (fault?.fault === "refused") return reset(request);
  const form = await readBody(request);
  if (fault?.fault === "slow") await clock.sleep(fault.delayMs, closing);
  else if (fault?.fault === "silence") return;
  else if (fault !== undefined) {
    const body = JSON.stringify({ error: "temporarily_unavailable" });
    return send(response, { status: fault.status ?? 503, type: jsonType, body });
  }
  const answer = tokens.answer(form, request.headers.authorization);
  send(response, { status: answer.status, type: jsonType, body: JSON.stringify(answer.body) });
}
