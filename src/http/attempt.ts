import { toJson } from "../base/canonical-json.ts";
import type { KnownSecrets } from "../base/known-secrets.ts";
import { endpointPath, endpoints } from "../contract/endpoints.ts";
import { applyAnswer } from "./answer-effects.ts";
import type { Call, ServiceContext, WriteCall } from "./call.ts";
import type { Permit } from "./circuit.ts";
import { classify } from "./classification.ts";
import type { Classified } from "./classification.ts";
import type { Attempt } from "./conclusion.ts";
import { requestPath } from "./headers.ts";
import { commitIntent, obtainPermit, permitAtOnce } from "./permit.ts";
import { seenCall } from "./seen-call.ts";
import { TransportFailure } from "./transport.ts";
import type { TransportAnswer } from "./transport.ts";

/**
 * One call. Its order is what a crash is judged by: turn, token, permit, intent, first byte, answer. Whoever observes
 * the calls is told of it when it has ended.
 */
export async function attempt<T>(
  context: ServiceContext,
  call: Call<T>,
  nonce: string,
  body: string | null,
  { beforeSending, mayLeave }: Pick<WriteCall<T>, "beforeSending" | "mayLeave"> = {},
): Promise<Attempt<T>> {
  const { circuit, clock, logger, transport } = context;
  const { endpoint: id, signal } = call;
  const endpoint = endpoints[id];
  const path = requestPath(context.base, endpointPath(id, call.target), nonce, call.query ?? {});
  const seen = <Ended extends Attempt<T>>(ended: Ended, ms = 0): Ended => {
    context.onCall?.(seenCall(id, ended, ms));
    return ended;
  };
  const permitted = permitAtOnce(context, call) ?? (await obtainPermit(context, call));
  if (permitted.kind === "unsent") return seen(permitted);
  const { permit, signed } = permitted;
  if (beforeSending !== undefined) {
    const stopped = await commitIntent(circuit, permit, () => beforeSending(signed.acceptedUntil()), signal);
    if (stopped !== undefined) return seen(stopped);
  }
  const since = clock.monotonic();
  let answer: TransportAnswer;
  try {
    answer = await transport.send({
      method: endpoint.method,
      path,
      headers: signed.headers,
      body,
      signal: endpoint.writes ? undefined : signal,
      mayLeave,
    });
  } catch (thrown) {
    const failure = asTransportFailure(thrown);
    if (signal?.aborted === true && !endpoint.writes) circuit.release(permit);
    else circuit.failure(permit, failure.reason);
    const { reason, written } = failure;
    const ms = clock.monotonic() - since;
    logger.debug({ endpoint: id, reason, written, ms }, "no answer");
    return seen({ kind: "failed", failure }, ms);
  }
  if (answer.date !== undefined)
    context.heard.last = { date: answer.date, readAt: clock.monotonic(), now: clock.now() };
  const result = classified(context, call, permit, answer);
  applyAnswer(context, call, permit, { answer, result, signed });
  const ms = clock.monotonic() - since;
  logger.debug({ endpoint: id, status: answer.status, result: result.kind, ms }, "answer");
  return seen({ kind: "answered", answer, result, signed }, ms);
}

function classified<T>(
  { circuit, settings, known }: ServiceContext,
  { endpoint, schema, check }: Call<T>,
  permit: Permit,
  answer: TransportAnswer,
): Classified<T> {
  try {
    return withoutSecrets(classify(answer, { endpoint, schema, check, tokenCodes: settings.tokenCodes }), known);
  } catch (thrown) {
    // A probe that never ends would have every other call wait for ever.
    circuit.release(permit);
    throw thrown;
  }
}

/**
 * What an answer says, without secrets. Data that hold one are those of no endpoint: nobody works with them, and nobody
 * with what is left of them.
 */
function withoutSecrets<T>(result: Classified<T>, known: KnownSecrets): Classified<T> {
  if (result.answer === undefined) return result;
  const answer = known.tree(result.answer);
  switch (result.kind) {
    case "success":
    case "partial":
      if (answer === result.answer) return result;
      if (!known.isInTree(toJson(result.data))) return { ...result, answer };
      return { kind: "odd", reason: "the data repeat a password, key or token of ours", alive: true, answer };
    case "code":
      return { ...result, code: known.words(result.code), answer };
    default:
      return { ...result, answer };
  }
}

/** A transport that breaks its word counts as having written. */
function asTransportFailure(thrown: unknown): TransportFailure {
  return thrown instanceof TransportFailure
    ? thrown
    : new TransportFailure({ written: true, reason: "the transport failed" });
}
