import { isJsonObject } from "../base/canonical-json.ts";
import { serviceWords } from "../contract/answer-json.ts";
import { meaningOf } from "../contract/codes.ts";
import { serviceNameOf } from "../contract/endpoints.ts";
import { metByRefusal } from "../engine/assumptions-met.ts";
import type { AssumptionMet } from "../engine/assumptions-met.ts";
import type { Concluded } from "../engine/operation-type.ts";
import type { Operation } from "../engine/operation.ts";
import { typeOf } from "../engine/registry.ts";
import { restsOf } from "../engine/plan/contradicted.ts";
import type { WriteOutcome } from "../platform/call.ts";

/** The status of a business exception (R2). */
const businessException = 299;

/**
 * What the outcome of a call shows of the rows of A1–A43. `concluded`: what its success means; `repeated`: it had been
 * sent before.
 */
export function metByOutcome(
  operation: Operation,
  outcome: WriteOutcome<unknown>,
  { concluded, repeated }: { concluded: Concluded | undefined; repeated: boolean },
): AssumptionMet[] {
  const { endpoint } = operation;
  switch (outcome.kind) {
    case "not-sent":
      return [];
    case "rejected": {
      const { code, raw } = outcome;
      const words = serviceWords(raw);
      return metByRefusal(restsOf(operation), { endpoint, code, words });
    }
    case "unknown":
      return metByDoubt(operation, outcome);
    default: {
      const shown = concluded?.met ?? [];
      const again = repeated && concluded !== undefined && "changes" in concluded ? concluded.metIfRepeated : undefined;
      return [...shown, ...(again ?? [])];
    }
  }
}

function metByDoubt(
  operation: Operation,
  outcome: Extract<WriteOutcome<unknown>, { kind: "unknown" }>,
): AssumptionMet[] {
  const { endpoint } = operation;
  const { code, status, raw } = outcome;
  if (code !== undefined && !meaningOf(code, endpoint).listed) {
    const named = /^\w{1,20}$/u.test(code) ? code : "of an odd form";
    const evidence = `the ${serviceNameOf(endpoint)} answered ${endpoint} with the code ${named}, which its contract does not list`;
    return [{ row: "A2", about: endpoint, evidence }];
  }
  if (raw === undefined || !isJsonObject(raw) || raw["code"] !== 0) return [];
  if (status === businessException) {
    const evidence = `${endpoint} answered with code 0 under HTTP 299`;
    return [{ row: "A1", about: endpoint, evidence }];
  }
  return typeOf(operation).can.assumes?.oddData?.(raw["data"] ?? null) ?? [];
}
