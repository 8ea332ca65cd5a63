import { toJson } from "../base/canonical-json.ts";
import { messageOf } from "../base/errors.ts";
import type { KnownSecrets } from "../base/known-secrets.ts";
import { endpointPath, endpoints } from "../contract/endpoints.ts";
import type { Call, ServiceContext, WriteCall } from "./call.ts";
import type { Circuit, Permit } from "./circuit.ts";
import { classify, seenCall, type Attempt, type Classified, type Unsent } from "./conclusion.ts";
import { requestPath, subjectOfTarget, type SignedHeaders } from "./headers.ts";
import { retryAfterMs } from "./retry.ts";
import { abortable, TokenFailure } from "./tokens.ts";
import { heldUp, TransportFailure, type TransportAnswer } from "./transport.ts";

/** The order matters after a crash: turn, token, permit, intent, first byte, answer. */
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
    try {
      await beforeSending(signed.acceptedUntil());
    } catch (thrown) {
      circuit.release(permit);
      throw thrown;
    }
    const stopped = stoppedMeanwhile(circuit, permit, signal);
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
    if (failure.reason === heldUp || (signal?.aborted === true && !endpoint.writes)) circuit.release(permit);
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
    // Otherwise a probe would never end, and every other call would wait forever.
    circuit.release(permit);
    throw thrown;
  }
}

/** Removes secrets from an answer. Data with a secret fits no endpoint, so nothing uses it. */
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

/** An unexpected error counts as having written. */
function asTransportFailure(thrown: unknown): TransportFailure {
  return thrown instanceof TransportFailure
    ? thrown
    : new TransportFailure({ written: true, reason: "the transport failed" });
}

export const stopped: Unsent = { kind: "unsent", why: "aborted", reason: "stopped before it was sent" };

function circuitOpen(reason: string): Unsent {
  return { kind: "unsent", why: "circuit-open", reason };
}

interface Permitted {
  kind: "permitted";
  permit: Exclude<Permit, { kind: "refused" }>;
  signed: SignedHeaders;
}

function enterpriseOf<T>({ enterprise, target }: Call<T>): string | undefined {
  return enterprise ?? target.enterpriseGlobalId;
}

function permitAtOnce<T>({ circuit, pace, headers }: ServiceContext, call: Call<T>): Permitted | undefined {
  const { endpoint, signal } = call;
  if (signal?.aborted === true || circuit.probeEnds() !== undefined || circuit.refusal() !== undefined)
    return undefined;
  const signed = headers.writeAtOnce(endpoints[endpoint], enterpriseOf(call));
  if (signed === undefined || !pace.turnAtOnce()) return undefined;
  const permit = circuit.ask();
  return permit.kind === "refused" ? undefined : { kind: "permitted", permit, signed };
}

/** Before the intent a call waits for its turn, its tokens and, last, the permit of the circuit. */
async function obtainPermit<T>({ circuit, pace, headers }: ServiceContext, call: Call<T>): Promise<Permitted | Unsent> {
  const { endpoint, signal } = call;
  try {
    await probeEnded(circuit, signal);
    const closed = circuit.refusal();
    if (closed !== undefined) return circuitOpen(closed);
    await pace.turn(signal);
    const signed = await headers.write(endpoints[endpoint], enterpriseOf(call), signal);
    signal?.throwIfAborted();
    const permit = await askPermit(circuit, signal);
    return permit.kind === "refused" ? circuitOpen(permit.reason) : { kind: "permitted", permit, signed };
  } catch (thrown) {
    if (signal?.aborted === true) return stopped;
    if (thrown instanceof TokenFailure) return { kind: "unsent", why: "token", reason: thrown.message };
    return { kind: "unsent", why: "no-turn", reason: messageOf(thrown) };
  }
}

function stoppedMeanwhile(circuit: Circuit, permit: Permit, signal: AbortSignal | undefined): Unsent | undefined {
  const closed = permit.kind === "probe" ? undefined : circuit.refusal();
  if (signal?.aborted !== true && closed === undefined) return undefined;
  circuit.release(permit);
  return closed === undefined ? stopped : circuitOpen(closed);
}

/** While one call probes the service, the others wait. They are refused only if the probe fails. */
async function probeEnded(circuit: Circuit, signal: AbortSignal | undefined): Promise<void> {
  for (let ended = circuit.probeEnds(); ended !== undefined; ended = circuit.probeEnds())
    await abortable(ended, signal);
}

async function askPermit(circuit: Circuit, signal: AbortSignal | undefined): Promise<Permit> {
  for (;;) {
    await probeEnded(circuit, signal);
    const permit = circuit.ask();
    // Another waiting call may just have become the next probe.
    if (permit.kind !== "refused" || circuit.probeEnds() === undefined) return permit;
  }
}

type Answered<T> = Omit<Extract<Attempt<T>, { kind: "answered" }>, "kind">;

function applyAnswer<T>(context: ServiceContext, call: Call<T>, permit: Permit, answered: Answered<T>): void {
  const { circuit, pace, budget } = context;
  const { answer, result, signed } = answered;
  const complaint = isComplaint(answer, result);
  if (complaint) slowDown(context, answer);
  switch (result.kind) {
    case "success":
    case "partial":
      serviceWorks(context, permit);
      signed.accepted();
      budget.earn();
      pace.recover();
      context.unknownFieldLog(call.endpoint, call.schema, result.answer);
      return;
    case "limited":
      circuit.release(permit);
      return;
    case "unauthorized":
      signed.reject("all");
      circuit.release(permit);
      return;
    case "odd":
      if (result.alive) circuit.release(permit);
      else circuit.failure(permit, result.reason);
      return;
    case "code":
      applyCode(context, call, permit, { result, signed, complaint });
  }
}

function isComplaint<T>(answer: TransportAnswer, result: Classified<T>): boolean {
  return (
    result.kind === "limited" ||
    answer.status === 503 ||
    (result.kind === "code" && result.meaning.listed && result.meaning.effect === "unknown")
  );
}

function slowDown({ pace, clock }: ServiceContext, answer: TransportAnswer): void {
  pace.slow();
  const wait = retryAfterMs(answer.retryAfter, clock.now());
  if (wait !== undefined) pace.pause(wait);
}

function applyCode<T>(
  context: ServiceContext,
  call: Call<T>,
  permit: Permit,
  of: { result: Extract<Classified<T>, { kind: "code" }>; signed: SignedHeaders; complaint: boolean },
): void {
  const { circuit, logger } = context;
  const { code, meaning } = of.result;
  if (!meaning.listed) {
    const customer = call.customer ?? subjectOfTarget(call.target) ?? call.endpoint;
    circuit.unlistedCode(permit, code, customer);
  } else if (meaning.effect === "refresh-token") {
    of.signed.reject(meaning.token ?? "all");
    circuit.release(permit);
  } else if (of.complaint) {
    circuit.failure(permit, `code ${code}`);
  } else {
    serviceWorks(context, permit);
    of.signed.accepted();
  }
  if (meaning.alert) logger.error({ endpoint: call.endpoint, code }, "the service refuses this application");
}

function serviceWorks({ circuit, onCircuit }: ServiceContext, permit: Permit): void {
  circuit.success(permit);
  const now = circuit.state();
  if (now.state === "closed") onCircuit(now);
}
