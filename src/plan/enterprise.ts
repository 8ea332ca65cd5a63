import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { missingAssumptions } from "../contract/assumptions/missing.ts";
import { formatKey } from "../crm/keys.ts";
import type { StateChange, Known } from "../operation/state.ts";
import type { Link } from "../operation/state/link.ts";
import type { CustomerInput } from "./input.ts";
import type { DesiredCustomer } from "../operation/desired.ts";
import { customerNumbers } from "./order-records.ts";
import type { ShownEnterprise } from "../platform/snapshot.ts";
import type { Operation } from "../operation/operation.ts";
import { operation } from "../operation/new-operation.ts";
import type { Block } from "./block.ts";

/**
 * What the enterprise stage comes to: operations, state changes, or why the customer has to wait. A `note`
 * concerns the customer's own record and stops nothing.
 */
export type EnterpriseStage =
  | { kind: "ready"; operations: Operation[]; changes: StateChange[]; note?: Block | undefined }
  | { kind: "blocked"; block: Block };

/** The fields that E2 and E4 carry, as commitments: what is compared with what the platform acknowledged last. */
export function acknowledgedFields(body: DesiredCustomer): NonNullable<Known["acknowledged"]> {
  return { name: body.name.commitment, branchName: body.branchName, address: body.address?.commitment ?? null };
}

/** Whether the enterprise has to be looked up before it can be planned. */
export function needsLookUp(input: Omit<CustomerInput, "observed">): boolean {
  return input.known.link === undefined && input.desiredCustomer?.state === "current";
}

/**
 * Create, adopt or update the enterprise of a customer (E3, then E2 or E1; E4). One enterprise found under the channel
 * number is adopted, more than one blocks. An adopted one gets an E4, because nothing reads its branch and address
 * back.
 */
export function planEnterprise(input: CustomerInput, settings: AssumptionSettings): EnterpriseStage {
  const body = usableBody(input);
  if ("kind" in body) return body;
  const { link } = input.known;
  return link === undefined ? planUnlinked(input, body, settings) : planLinked(input, body, link, settings);
}

/** The customer's own record, or why it cannot be worked on. */
function usableBody({
  desiredCustomer,
  customerInQuarantine,
  known,
}: CustomerInput): DesiredCustomer | EnterpriseStage {
  if (desiredCustomer === undefined) {
    if (customerInQuarantine === true)
      return blocked("customer.quarantined", "the customer's record was read and waits in quarantine", true);
    const reason = "the CRM has not given the customer yet: no reading has held the customer";
    return blocked("customer.unknown", reason, true);
  }
  if (desiredCustomer.state === "quarantined")
    return blocked("customer.quarantined", "the customer's record waits in quarantine", true);
  if (desiredCustomer.state !== "absent") return desiredCustomer.body;
  if (known.link === undefined) return blocked("customer.gone", "the customer is gone from the CRM", false);
  const reason = "amendment not enabled: the customer is gone from the CRM, its enterprise stays as it is";
  return blocked("amendment.not-enabled", reason, false);
}

/** Adopts the one enterprise that E3 shows, or makes one where it shows none. */
function planUnlinked(input: CustomerInput, body: DesiredCustomer, settings: AssumptionSettings): EnterpriseStage {
  const [missing] = missingAssumptions(settings, settings.enterpriseCreation === "E1" ? "E1" : "E3");
  if (missing !== undefined) {
    const choices = missing.choices.join(" or ");
    const reason = `the setting assumptions.${missing.key} (${missing.row}) has no value: ${choices}`;
    return blocked("assumption.missing", reason, true);
  }
  const { channelCustomerId } = customerNumbers(input.customer, body.channelCustomerId, settings);
  const found = input.observed.enterprises;
  if (input.observed.ambiguous !== undefined) return blocked("enterprise.ambiguous", input.observed.ambiguous, true);
  if (found === undefined)
    return blocked("customer.not-looked-up", "the platform was not asked for the customer yet", true);
  if (found.length > 1) {
    return blocked(
      "enterprise.ambiguous",
      `the platform shows ${found.length} enterprises for the channel customer number ${channelCustomerId}; ` +
        "one must be chosen by hand",
      true,
    );
  }
  const [only] = found;
  if (only !== undefined) return adoption(input, body, only, settings);
  if (input.known.linkUnusable === true) {
    return blocked(
      "enterprise.not-shown",
      "the platform has answered for this customer's enterprise with no usable id, and E3 does not " +
        `show it under the channel customer number ${channelCustomerId}; it is not made a ` +
        "second time: ask the operator of the order service for it",
      true,
    );
  }
  if (settings.enterpriseCreation === "E1" && body.purchaserMobile === undefined)
    return blocked("customer.incomplete", "E1 needs the purchaser's mobile number, and the CRM gives none", true);
  return { kind: "ready", operations: creation(input, body, settings), changes: [] };
}

function adoption(
  input: CustomerInput,
  body: DesiredCustomer,
  { enterpriseGlobalId, customers }: ShownEnterprise,
  settings: AssumptionSettings,
): EnterpriseStage {
  const { customer } = input;
  const link: Link = {
    enterpriseGlobalId,
    channelCode: customers[0]?.channelCode ?? settings.channelCode ?? "",
    channelCustomerId: customerNumbers(customer, body.channelCustomerId, settings).channelCustomerId,
    origin: "adopted",
    examined: false,
  };
  return {
    kind: "ready",
    operations: [update(input, body, settings, adoptedReason)],
    changes: [
      { type: "linked", customer, link },
      { type: "platform-customers", enterpriseGlobalId, customers },
    ],
  };
}

const adoptedReason = "adopted: nothing reads its branch and address back";

/** Changes the enterprise where the CRM says otherwise than what the platform acknowledged last. */
function planLinked(
  input: CustomerInput,
  body: DesiredCustomer,
  link: Link,
  settings: AssumptionSettings,
): EnterpriseStage {
  const { channelCustomerId } = customerNumbers(input.customer, body.channelCustomerId, settings);
  const before = input.known.acknowledged;
  const changed = changedFields(before, acknowledgedFields(body), settings);
  const note = otherNumber(link, channelCustomerId);
  if (link.origin === "bound" && settings.boundEnterpriseUpdate === "never")
    return { kind: "ready", operations: [], changes: [], note: note ?? boundNote(changed) };
  if (changed.length === 0) return { kind: "ready", operations: [], changes: [], note };
  const reason = before === undefined ? adoptedReason : `changed in the CRM: ${changed.join(", ")}`;
  return { kind: "ready", operations: [update(input, body, settings, reason)], changes: [], note };
}

/**
 * E1 carried the name and the branch: a change of theirs has no way to the platform while a bound customer gets no E4
 * (A11). The address had none before.
 */
function boundNote(changed: readonly string[]): Block | undefined {
  const lost = changed.filter((field) => field !== "address");
  if (lost.length === 0) return undefined;
  return {
    code: "enterprise.bound",
    reason:
      `the ${lost.join(" and ")} changed in the CRM, and a customer that E1 bound gets no E4 ` +
      "(assumptions.boundEnterpriseUpdate: never)",
    again: true,
  };
}

/** Why orders wait where the customer's channel number is no longer the one under which its enterprise is linked. */
export function otherNumber(link: Pick<Link, "channelCustomerId">, channelCustomerId: string): Block | undefined {
  if (link.channelCustomerId === channelCustomerId) return undefined;
  return {
    code: "amendment.not-enabled",
    reason:
      `amendment not enabled: the channel customer number is now ${channelCustomerId}, and the ` +
      `enterprise is linked under ${link.channelCustomerId}`,
    again: false,
  };
}

function blocked(code: string, reason: string, again: boolean): EnterpriseStage {
  return { kind: "blocked", block: { code, reason, again } };
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

function update(input: CustomerInput, body: DesiredCustomer, settings: AssumptionSettings, reason: string): Operation {
  const { crmCustomerId } = customerNumbers(input.customer, body.channelCustomerId, settings);
  const address = body.address ?? (settings.emptyAddress === "empty" ? "" : undefined);
  return operation("update-enterprise", {
    customer: input.customer,
    subject: `customer:${formatKey(input.customer)}`,
    records: [{ stream: "customers", ...input.customer }],
    target: {},
    payload: { crmCustomerId, customerName: body.name, branchName: body.branchName, address },
    reason,
    before: input.known.acknowledged ?? null,
    after: acknowledgedFields(body),
  });
}

function creation(input: CustomerInput, body: DesiredCustomer, settings: AssumptionSettings): Operation[] {
  const { customer } = input;
  const common = {
    subject: `customer:${formatKey(customer)}`,
    records: [{ stream: "customers" as const, ...customer }],
    ...customerNumbers(customer, body.channelCustomerId, settings),
  };
  const shared = {
    customer: input.customer,
    subject: common.subject,
    records: common.records,
    target: { channelCustomerId: common.channelCustomerId },
    before: null,
    after: acknowledgedFields(body),
  };
  if (settings.enterpriseCreation === "E1") {
    const payload = {
      channelCode: settings.channelCode ?? "",
      channelCustomerId: common.channelCustomerId,
      customerName: body.name,
      branchName: body.branchName,
      enterpriseName: body.enterpriseName ?? body.name,
      passwordMobile: body.purchaserMobile,
    };
    // E1 carries no address: what is acknowledged by it leaves the address to an E4.
    const after = { ...acknowledgedFields(body), address: null };
    return [
      operation("bind-enterprise", {
        ...shared,
        after,
        payload,
        reason: "the platform does not know the customer yet",
      }),
    ];
  }
  const payload = {
    crmCustomerId: common.crmCustomerId,
    customerName: body.name,
    branchName: body.branchName,
    address: body.address,
  };
  return [
    operation("create-enterprise", { ...shared, payload, reason: "the platform does not know the customer yet" }),
  ];
}
