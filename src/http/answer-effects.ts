import type { Call, ServiceContext } from "./call.ts";
import type { Permit } from "./circuit.ts";
import type { Classified } from "./classification.ts";
import type { Attempt } from "./conclusion.ts";
import { subjectOfTarget } from "./headers.ts";
import type { SignedHeaders } from "./headers.ts";
import { retryAfterMs } from "./retry.ts";
import type { TransportAnswer } from "./transport.ts";

type Answered<T> = Omit<Extract<Attempt<T>, { kind: "answered" }>, "kind">;

/** Draws from an answer what concerns the calls after it: pace, circuit, tokens, alerts. */
export function applyAnswer<T>(context: ServiceContext, call: Call<T>, permit: Permit, answered: Answered<T>): void {
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

/** Whether the service says that it is called too much, or cannot keep up. */
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

/** What a business code says about the service, the tokens and the application, besides what it says of the call. */
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
