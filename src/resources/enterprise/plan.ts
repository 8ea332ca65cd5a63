import { type AssumptionSettings, missingAssumptions } from "../../contract/assumption-settings.ts";
import { formatKey } from "../../crm/keys.ts";
import type { DesiredCustomer } from "../../engine/model/desired.ts";
import type { DraftOperation } from "../../engine/model/operation.ts";
import type { Policies, PolicyName } from "../../engine/model/policy-settings.ts";
import type { Known, StateChange } from "../../engine/model/state.ts";
import { acknowledgedFields } from "./state.ts";
import type { Link, Unlinked } from "./state/link.ts";
import type { ShownEnterprise } from "../../platform/snapshot.ts";
import { missingRecord, type Block, nothingRead, type ReadBack } from "../../engine/plan/blocks.ts";
import {
  type LoadedCustomer,
  type Observed,
  type PlanInput,
  type PlanOptions,
  type Reads,
  isGone,
  customerNumbers,
} from "../../engine/plan/input.ts";
import { consider } from "../../engine/plan/rejections.ts";
import type { Earlier, ResourcePlan } from "../../engine/model/resource.ts";

type Given = Pick<PlanInput, "customer" | "desiredCustomer" | "customerInQuarantine" | "numbers" | "renumbered"> & {
  known: Pick<Known, "link" | "unlinked" | "acknowledged">;
  observed: Pick<Observed, "enterprises" | "ambiguous">;
};

export interface EnterpriseStage {
  meant: DraftOperation[];
  changes: StateChange[];
  block?: Block | undefined;
  /** About the customer's own record; stops nothing. */
  note?: Block | undefined;
}

type Options = Pick<PlanOptions, "settings" | "policies">;

export function reads({ known, desiredCustomer }: LoadedCustomer): Reads {
  return {
    enterprises: known.link === undefined && known.unlinked === undefined && desiredCustomer?.state === "current",
  };
}

export function plan(given: Given, { make }: Earlier, options: PlanOptions): ResourcePlan {
  const { meant, changes, block, note } = planEnterprise(given, options.settings, options.policies);
  const { operations, refused } = make(meant);
  return { records: "customers", operations, changes, blocks: refused, stops: block, note };
}

/**
 * One enterprise under the channel number is adopted, several block. An adopted one gets an E4, because no call reads
 * its branch and address back.
 */
export function planEnterprise(given: Given, settings: AssumptionSettings, policies: Policies): EnterpriseStage {
  const options = { settings, policies };
  const body = usableBody(given);
  if ("block" in body) return body;
  const { link } = given.known;
  if (link === undefined) return planUnlinked(given, body, options);
  return isGone(given) ? planGone(body, link, policies) : planLinked(given, body, link, options);
}

/** If the customer is deleted, its enterprise stays; its orders and staff have their own policies. */
function planGone({ mergedInto, namespace }: DesiredCustomer, link: Link, policies: Policies): EnterpriseStage {
  const into =
    mergedInto === undefined
      ? ""
      : `, where it was merged into ${formatKey({ namespace: mergedInto.namespace ?? namespace, id: mergedInto.id })}`;
  const what = `the customer is gone from the CRM${into}; its enterprise ${link.enterpriseGlobalId} stays as it is`;
  return { meant: [], changes: [], note: toldOf(policies, "enterprises.deleted", what) };
}

function toldOf(policies: Policies, name: PolicyName, what: string): Block | undefined {
  const considered = consider(policies, name, what);
  return typeof considered === "string" ? undefined : considered;
}

function usableBody({
  desiredCustomer,
  customerInQuarantine,
  known,
}: Pick<Given, "desiredCustomer" | "customerInQuarantine" | "known">):
  | DesiredCustomer
  | (EnterpriseStage & { block: Block }) {
  if (desiredCustomer === undefined) {
    if (customerInQuarantine === true)
      return blocked("customer.quarantined", "the record of the customer is in quarantine", true);
    const reason = "no source has given the customer yet";
    return blocked("customer.unknown", reason, true);
  }
  if (desiredCustomer.state === "quarantined")
    return blocked("customer.quarantined", "the record of the customer is in quarantine", true);
  if (desiredCustomer.missing === true && known.link === undefined)
    return { meant: [], changes: [], block: missingRecord };
  if (desiredCustomer.state === "absent" && known.link === undefined)
    return blocked("customer.gone", "the customer was deleted in the CRM", false);
  return desiredCustomer.body;
}

function planUnlinked(given: Given, body: DesiredCustomer, options: Options): EnterpriseStage {
  const { settings } = options;
  const { unlinked } = given.known;
  if (unlinked !== undefined) return blocked("enterprise.unlinked", unlinkedReason(given, unlinked), true);
  const [missing] = missingAssumptions(settings, isToBeBound(body, settings) ? "E1" : "E3");
  if (missing !== undefined) {
    const choices = missing.choices.join(" or ");
    const reason = `the setting assumptions.${missing.key} (${missing.row}) has no value; choose ${choices}`;
    return blocked("assumption.missing", reason, true);
  }
  const { channelCustomerId } = given.numbers;
  const { enterprises: found, ambiguous } = given.observed;
  if (ambiguous !== undefined) return blocked("enterprise.ambiguous", ambiguous, true);
  if (found === undefined)
    return blocked("customer.not-looked-up", "crm-sync has not looked for the customer on the platform yet", true);
  if (found.length > 1) {
    const reason =
      `the platform shows ${found.length} enterprises for the channel customer number ${channelCustomerId}: ` +
      `${candidates(found)}; a person must choose one`;
    return blocked("enterprise.ambiguous", reason, true);
  }
  const [only] = found;
  if (only !== undefined) return adoption(given, body, only, options);
  if (isToBeBound(body, settings) && body.purchaserMobile === undefined)
    return blocked("customer.incomplete", "E1 needs the purchaser's mobile number, and the CRM does not give it", true);
  return { meant: [creation(given, body, settings)], changes: [] };
}

const mostNamed = 5;

function candidates(found: readonly ShownEnterprise[]): string {
  const named = found.slice(0, mostNamed).map(candidateText).join("; ");
  return found.length > mostNamed ? `${named}; and ${found.length - mostNamed} more` : named;
}

function candidateText({ enterpriseGlobalId, customers }: ShownEnterprise): string {
  const shown = customers.map(({ customerId, isDefault }) => `${customerId}${isDefault ? " (default)" : ""}`);
  return `enterprise ${enterpriseGlobalId} with the customers ${shown.join(", ")}`;
}

function unlinkedReason({ customer }: Given, { by, at, reason }: Unlinked): string {
  return (
    `${by} unlinked the customer at ${at}: ${reason}. crm-sync reads and sends nothing for the customer until ` +
    `\`crm-sync link ${formatKey(customer)} ENTERPRISE --reason TEXT\``
  );
}

function adoption(
  given: Given,
  body: DesiredCustomer,
  { enterpriseGlobalId, customers }: ShownEnterprise,
  options: Options,
): EnterpriseStage {
  const { settings } = options;
  const isBound = isToBeBound(body, settings);
  const link: Link = {
    enterpriseGlobalId,
    channelCode: customers[0]?.channelCode ?? settings.channelCode ?? "",
    channelCustomerId: given.numbers.channelCustomerId,
    origin: isBound ? "bound" : "adopted",
    examined: false,
  };
  const { customer } = given;
  const linked: StateChange[] = [
    { type: "linked", customer, link },
    { type: "platform-customers", enterpriseGlobalId, customers },
  ];
  if (!isBound || settings.boundEnterpriseUpdate !== "never")
    return { ...updates(given, body, adoptedReason, options), changes: linked };
  // An enterprise that was bound before this ledger gets no E4 either: the values of E1 count as acknowledged.
  return { meant: [], changes: [...linked, { type: "acknowledged", customer, fields: acknowledgedFields(body) }] };
}

const adoptedReason = "adopted: nothing reads its branch and address back";

function planLinked(given: Given, body: DesiredCustomer, link: Link, options: Options): EnterpriseStage {
  const { settings, policies } = options;
  const before = given.known.acknowledged;
  const changed = changedFields(before, acknowledgedFields(body), settings);
  const { renumbered } = given;
  const note = renumbered === undefined ? undefined : toldOf(policies, "enterprises.renumbered", renumbered.reason);
  if (link.origin === "bound" && settings.boundEnterpriseUpdate === "never")
    return { meant: [], changes: [], note: note ?? boundNote(changed) };
  if (changed.length === 0) return { meant: [], changes: [], note };
  const reason = before === undefined ? adoptedReason : `changed in the CRM: ${changed.join(", ")}`;
  const made = updates(given, body, reason, options);
  return { ...made, changes: [], note: note ?? made.note };
}

function updates(
  given: Given,
  body: DesiredCustomer,
  reason: string,
  { settings, policies }: Options,
): Pick<EnterpriseStage, "meant" | "note"> {
  const considered = consider(policies, "enterprises.update", reason);
  if (considered === "act") return { meant: [update(given, body, settings, reason)] };
  return { meant: [], note: considered === "nothing" ? undefined : considered };
}

/** E1 carried name and branch. A bound customer gets no E4 (A11), so their changes cannot be sent. */
function boundNote(changed: readonly string[]): Block | undefined {
  const lost = changed.filter((field) => field !== "address");
  if (lost.length === 0) return undefined;
  const reason =
    `the ${lost.join(" and ")} changed in the CRM, but crm-sync sends no E4 for a customer that E1 bound ` +
    "(assumptions.boundEnterpriseUpdate: never)";
  return { code: "enterprise.bound", reason, again: true };
}

function blocked(code: string, reason: string, again: boolean): EnterpriseStage & { block: Block } {
  return { meant: [], changes: [], block: { code, reason, again } };
}

function changedFields(
  before: Known["acknowledged"],
  wanted: NonNullable<Known["acknowledged"]>,
  settings: AssumptionSettings,
): string[] {
  if (before === undefined) return ["name", "branch", "address"];
  const changed: string[] = [];
  if (before.name !== wanted.name) changed.push("name");
  if (before.branchName !== wanted.branchName) changed.push("branch");
  const addressGone = wanted.address === null && settings.emptyAddress === "omit";
  if (before.address !== wanted.address && !addressGone) changed.push("address");
  return changed;
}

function update(
  given: Given,
  body: DesiredCustomer,
  settings: AssumptionSettings,
  reason: string,
): DraftOperation<"update-enterprise"> {
  const { customer, numbers, known } = given;
  const address = body.address ?? (settings.emptyAddress === "empty" ? "" : undefined);
  return {
    kind: "update-enterprise",
    customer,
    subject: `customer:${formatKey(customer)}`,
    records: [{ stream: "customers", ...customer }],
    target: {},
    payload: { crmCustomerId: numbers.crmCustomerId, customerName: body.name, branchName: body.branchName, address },
    reason,
    before: known.acknowledged ?? null,
    after: acknowledgedFields(body),
  };
}

/** Whether E1 binds the customer, by the record or by the settings (A11). */
function isToBeBound(body: DesiredCustomer, settings: AssumptionSettings): boolean {
  return body.creation === undefined ? settings.enterpriseCreation === "E1" : body.creation === "bind";
}

function creation({ customer, numbers }: Given, body: DesiredCustomer, settings: AssumptionSettings): DraftOperation {
  const { channelCustomerId, crmCustomerId } = numbers;
  const shared: Omit<DraftOperation<"create-enterprise">, "kind" | "payload" | "reason"> = {
    customer,
    subject: `customer:${formatKey(customer)}`,
    records: [{ stream: "customers", ...customer }],
    target: { channelCustomerId },
    before: null,
    after: acknowledgedFields(body),
  };
  const reason = "the platform does not know the customer yet";
  if (isToBeBound(body, settings)) {
    const payload = {
      channelCode: settings.channelCode ?? "",
      channelCustomerId,
      customerName: body.name,
      branchName: body.branchName,
      enterpriseName: body.enterpriseName ?? body.name,
      passwordMobile: body.purchaserMobile,
    };
    // E1 carries no address, so the address still needs an E4.
    return { kind: "bind-enterprise", ...shared, after: { ...shared.after, address: null }, payload, reason };
  }
  const payload = { crmCustomerId, customerName: body.name, branchName: body.branchName, address: body.address };
  return { kind: "create-enterprise", ...shared, payload, reason };
}

/** Name, branch and address are unobservable: they count by the statement of the person who changed the enterprise. */
export function readBackCustomer(
  { customer, desiredCustomer, known }: LoadedCustomer,
  enterprises: readonly ShownEnterprise[],
  settings: AssumptionSettings,
): ReadBack {
  const read = nothingRead();
  if (desiredCustomer === undefined) return read;
  const { channelCustomerId } = customerNumbers(customer, desiredCustomer.body.channelCustomerId, settings);
  const { link } = known;
  const found = enterprises.filter((item) => link === undefined || item.enterpriseGlobalId === link.enterpriseGlobalId);
  const [only] = found;
  if (only === undefined || found.length > 1) {
    const what = link === undefined ? "enterprise" : `enterprise ${link.enterpriseGlobalId}`;
    const shown = enterprises.map((item) => item.enterpriseGlobalId).join(", ");
    read.otherwise.push(
      `E3 shows not exactly one ${what} under the channel customer number ${channelCustomerId}: ` +
        (shown === "" ? "none" : shown),
    );
    return read;
  }
  const { enterpriseGlobalId, customers } = only;
  read.seen.push(`the enterprise ${enterpriseGlobalId} under the channel customer number ${channelCustomerId}`);
  if (link?.channelCustomerId !== channelCustomerId) {
    const channelCode = customers[0]?.channelCode ?? settings.channelCode ?? "";
    const { origin, examined } = link ?? { origin: "adopted", examined: false };
    const made = { enterpriseGlobalId, channelCode, channelCustomerId, origin, examined };
    read.changes.push({ type: "linked", customer, link: made });
  }
  read.changes.push(
    { type: "platform-customers", enterpriseGlobalId, customers },
    { type: "acknowledged", customer, fields: acknowledgedFields(desiredCustomer.body) },
  );
  read.unseen.push("name", "branch", "address");
  return read;
}
