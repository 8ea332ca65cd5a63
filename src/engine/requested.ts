import { hashOf } from "../base/canonical-json.ts";
import { toInstant } from "../base/clock.ts";
import type { RecordKey } from "../crm/model.ts";
import { CustomerState } from "./customer.ts";
import { requestCodes } from "../ledger/records/work.ts";
import { isOfCrm, standing, subjectOf } from "./model/requests.ts";
import type { Known } from "./model/state.ts";
import { planRequested, type RequestStage } from "./plan/requested.ts";
import { StandingRejections } from "./plan/rejections.ts";
import {
  countedAs,
  Progress,
  settleOpen,
  type CustomerAttempt,
  type CustomerAttemptResult,
  type ReconcileDependencies,
} from "./attempt.ts";
import { carryOut } from "./carry-out.ts";

const nothingRead = { enterprises: undefined, members: undefined, assets: undefined };

/** Settles open operations, then carries out people's requests and nothing else. */
export async function attemptRequested(
  deps: ReconcileDependencies,
  customer: RecordKey,
  attempt: CustomerAttempt,
): Promise<CustomerAttemptResult> {
  const { ledger, clock, settle } = deps;
  const knows = new CustomerState(deps, customer);
  const open = await settleOpen(deps, knows, attempt);
  if (open !== undefined) return open.end;
  const progress = new Progress();
  const { short } = progress;
  const of = { deps, attempt, knows, progress, observed: nothingRead, approved: new Map() };
  for (const operation of planned(deps, knows, new Set()).operations) {
    deps.tally.planned(operation);
    progress.plan([operation], []);
    const stopped = await carryOut(of, operation);
    if (stopped !== undefined) return { kind: "stopped", reason: stopped };
  }
  if (["unreadable", "rejected"].includes(countedAs(short)) && !short.has("refused"))
    return { kind: "finished", short };
  const { requests } = knows.held.known;
  const { block } = planned(deps, knows, new Set(requests.map((request) => subjectOf(customer, request))));
  if (block !== undefined) {
    const { rejected, ...why } = block;
    const outcome = rejected === true ? ("rejected" as const) : ("deferred" as const);
    // The customer waits for a change of its own. The run that sends it also reports this.
    if (knows.held.desiredCustomer?.pending !== true)
      await ledger.records.setLesserOutcome(
        attempt.runId,
        { stream: "customers", key: customer, outcome, ...why },
        requestCodes,
      );
  } else if (requests.some((request) => request.answer === null && !isOfCrm(request))) {
    return { kind: "waiting", until: toInstant(clock.now() + settle.timeMs) };
  } else await ledger.records.endDeferral(customer, requestCodes);
  await endRequested(ledger, customer, { requests });
  return { kind: "finished", short };
}

/** Ends the report once all requests are done. Looks again if somebody changed one during the pass. */
export async function endRequested(
  { records, requests }: ReconcileDependencies["ledger"],
  customer: RecordKey,
  { requests: before }: Pick<Known, "requests">,
): Promise<void> {
  if (before.length === 0) return;
  const now = await requests.of(customer);
  if (now.length > 0 && now.every((request) => standing(request) === "done"))
    await records.endLesserOutcome(customer, requestCodes);
  const made = (asked: typeof now): string => hashOf(asked.map(({ of, about, askedAt }) => [of, about, askedAt]));
  if (made(now) !== made(before)) await records.lookAgain(customer);
}

function planned(
  { ledger, settings, policies }: ReconcileDependencies,
  knows: CustomerState,
  tried: ReadonlySet<string>,
): RequestStage {
  const loaded = knows.held;
  const rejections = new StandingRejections(loaded.rejections, {
    settings,
    policies,
    contradicted: ledger.assumptions.contradictions,
  });
  return planRequested(loaded, settings, { rejections, tried, byHand: true });
}
