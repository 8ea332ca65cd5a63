import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import type { DraftOperation, Operation } from "../model/operation.ts";
import {
  isDue,
  isOfCrm,
  nameOf,
  only,
  requestKindOf,
  requestsOf,
  standing,
  type ManualRequest,
  type RequestOf,
} from "../model/requests.ts";
import type { Block } from "./blocks.ts";
import type { CustomerInput } from "./input.ts";
import type { StandingRejections } from "./rejections.ts";

export interface RequestStage {
  operations: Operation[];
  block: Block | undefined;
}

/** A failed request is tried once per pass. A refused one waits for a person. */
export function planRequested(
  { customer, known }: Pick<CustomerInput, "customer" | "known">,
  settings: AssumptionSettings,
  options: {
    rejections: Pick<StandingRejections, "operations">;
    tried: ReadonlySet<string>;
    /** Leaves out requests of the CRM. Only a run judges those. */
    byHand?: true;
  },
): RequestStage {
  const stage: RequestStage = { operations: [], block: answeredBlock(known.requests) };
  const due = known.requests.filter((request) => isDue(request) && !(options.byHand === true && isOfCrm(request)));
  for (const planned of requestsOf().flatMap((of) => plannedOf(of, { customer, known }, due, settings))) {
    if ("code" in planned) {
      stage.block = planned;
      continue;
    }
    const { operations, refused } = options.rejections.operations([planned]);
    for (const [, block] of refused) stage.block = block;
    if (!options.tried.has(planned.subject)) stage.operations.push(...operations);
  }
  return stage;
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- it ties a rule to the requests of its own kind
function plannedOf<Of extends RequestOf>(
  of: Of,
  { customer, known }: Pick<CustomerInput, "customer" | "known">,
  due: readonly ManualRequest[],
  settings: AssumptionSettings,
): (DraftOperation | Block)[] {
  const own = only(due, of);
  return own.length === 0 ? [] : requestKindOf({ of }).plan(customer, own, settings, known);
}

function answeredBlock(requests: readonly ManualRequest[]): Block | undefined {
  const not = requests.filter((request) => request.answer !== null && standing(request) !== "done");
  const worst = not.find((request) => standing(request) === "refused") ?? not[0];
  if (worst === undefined) return undefined;
  const { commands, stands } = requestKindOf(worst);
  const more = not.length === 1 ? "" : ` (and ${not.length - 1} more)`;
  const said = `the ${nameOf(worst)}${more} ${stands(worst)}`;
  if (standing(worst) === "failed")
    return { code: "request.failed", reason: `${said}; the next run tries again`, again: true };
  const cure = `withdraw the request with \`crm-sync ${commands[worst.wanted]} … --withdraw\`, then request the right change`;
  return { code: "request.refused", reason: `${said}; ${cure}`, again: false, rejected: true };
}
