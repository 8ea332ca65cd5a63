import { type AssumptionSettings, channelCodesOf } from "../../contract/assumption-settings.ts";
import type { Contradictions } from "../model/assumptions-met.ts";
import type { Policies } from "../model/policy.ts";
import type { Block, BlockedRecord } from "./records.ts";
import type { Operation } from "../model/operation.ts";
import type { StateChange, Known } from "../model/state.ts";
import type { RecordKey } from "../../crm/model.ts";
import { formatKey } from "../../crm/keys.ts";
import { fillTemplate, selectCustomer } from "../../contract/template.ts";
import { unreadable } from "../../base/errors.ts";
import type { Desired, DesiredCustomer, DesiredStaff, OrderWithTree } from "../model/desired.ts";
import type { OperationName, Resource } from "../model/resource.ts";
import type { RecordReference } from "../model/shape.ts";
import type {
  AssetReading,
  ObservedAsset,
  ObservedLoan,
  ObservedMember,
  ShownEnterprise,
} from "../../platform/snapshot.ts";
import { handedIn } from "../model/registry.ts";

export interface PlanOptions {
  settings: AssumptionSettings;
  canSeal: boolean;
  policies: Policies;
  /** Why this run may remove nothing: an incomplete or shrunken source. */
  takingBlocked: Block | undefined;
  /** Assumptions that the services contradicted. Operations that depend on one are not planned. */
  contradicted: Contradictions;
  /** Hashes of operations that a person rejected. They are not planned again unchanged. */
  rejected?: ReadonlySet<string> | undefined;
  /** Subjects of operations that this attempt already carried out. Some are tried once in an attempt. */
  tried?: ReadonlySet<string> | undefined;
}

/** A staff record's member on the platform, or what this plan does about it. */
export type Membership =
  | { kind: "member"; memberGlobalId: string; origin: "linked" | "adopted"; insteadOf?: RecordKey }
  | { kind: "to-add" }
  | { kind: "blocked"; block: Block };

export interface Part {
  operations: Operation[];
  changes: StateChange[];
  /** Why something of a record is not done, by its key; also of people who now belong elsewhere. */
  blocks: ReadonlyMap<string, Block>;
}

export interface Planned {
  orders: Part;
  people: Part;
  memberships: ReadonlyMap<string, Membership>;
  /** Remarks about people without any other block; the first of each person counts. */
  notes: readonly BlockedRecord[];
  /** Asset numbers that will be removed completely. Their holders keep them until then, and nobody new gets them. */
  endingNumbers: ReadonlySet<string>;
}

/** A customer's planning input, with the values that several stages need computed once. */
export interface Prepared extends CustomerInput {
  numbers: CustomerNumbers;
  /** The channel customer number differs from the number under which the enterprise is linked. */
  renumbered: Block | undefined;
}

export function prepare(input: CustomerInput, settings: AssumptionSettings): Prepared {
  const numbers = customerNumbers(input.customer, input.desiredCustomer?.body.channelCustomerId, settings);
  return { ...input, numbers, renumbered: otherNumber(input.customer, input.known.link, numbers) };
}

export function isGone({ desiredCustomer }: Pick<CustomerInput, "desiredCustomer">): boolean {
  return desiredCustomer?.state === "absent";
}

/** The part of a customer that was read. `thorough`: people are read even if nothing changed. */
type Looked = Pick<LoadedCustomer, "orders" | "staff" | "known" | "away" | "standings" | "ended"> & {
  observed?: Pick<Observed, "members" | "unread">;
  thorough?: boolean;
};

/** Parts of a customer that resources plan and read for. */
const concerns = {
  standings: ({ standings, away = [] }: Looked): boolean => (standings?.size ?? 0) + away.length > 0,
  orders: (looked: Looked): boolean => looked.orders.length > 0 || concerns.standings(looked),
  switches: ({ orders }: Looked): boolean =>
    orders.some(({ tree }) => tree.assets.some(({ locked }) => locked !== undefined)),
  /** New or changed people, and people that should have been read. */
  people({ staff, known, observed }: Looked): boolean {
    if (staff.length + known.assignments.length === 0) return false;
    const isRead = observed?.members !== undefined || observed?.unread?.people !== undefined;
    return isRead || known.link === undefined || staff.some(({ pending }) => pending);
  },
  /** Accounts and seats of people who no longer belong to the customer. */
  leavers({ staff, known }: Looked): boolean {
    if (known.staffLinks.size + known.assignments.length === 0) return false;
    const here = new Set(staff.flatMap(({ key, state }) => (state === "absent" ? [] : [formatKey(key)])));
    const isGone = (key: string): boolean => !here.has(key);
    return [...known.staffLinks.keys()].some(isGone) || known.assignments.some((one) => isGone(formatKey(one.staff)));
  },
  unsettledPeople: (looked: Looked): boolean =>
    looked.thorough === true ||
    looked.staff.some(({ pending }) => pending) ||
    (looked.ended ?? []).length > 0 ||
    concerns.leavers(looked),
};

export type Concern = keyof typeof concerns;

export function isAsked(
  { asked }: Pick<Resource, "asked">,
  part: keyof NonNullable<Resource["asked"]>,
  of: Looked,
): boolean {
  const concern = asked?.[part];
  return concern === undefined || concerns[concern](of);
}

function otherNumber(
  customer: RecordKey,
  link: Known["link"],
  { channelCustomerId }: CustomerNumbers,
): Block | undefined {
  if (link === undefined || link.channelCustomerId === channelCustomerId) return undefined;
  return {
    code: "enterprise.renumbered",
    reason:
      `the channel customer number in the CRM is now ${channelCustomerId}, but the enterprise is linked under ` +
      `${link.channelCustomerId}. When E3 shows the enterprise under ${channelCustomerId}, enter ` +
      `\`crm-sync link ${formatKey(customer)} ${link.enterpriseGlobalId} --reason TEXT\``,
    again: true,
  };
}

export interface CustomerNumbers {
  crmCustomerId: string;
  channelCustomerId: string;
}

/** A customer's CRM and channel numbers from the configured templates; `override` is a number from the CRM. */
export function customerNumbers(
  customer: RecordKey,
  override: string | undefined,
  settings: AssumptionSettings,
): CustomerNumbers {
  const values = { id: customer.id, namespace: customer.namespace };
  return {
    crmCustomerId: fillTemplate(settings.crmCustomerIdTemplate, values),
    channelCustomerId: override ?? fillTemplate(settings.channelCustomerIdTemplate, values),
  };
}

/** The platform's current state; `undefined`: not read. A failed reading is never an empty list. */
export interface Observed {
  enterprises: ShownEnterprise[] | undefined;
  /** Why E3's answer does not show whether an enterprise exists. */
  ambiguous?: string | undefined;
  members: ObservedMember[] | undefined;
  /** M6. If M6 leaves out a number that people hold or get, also the assets that only E8 shows. */
  assets: ObservedAsset[] | undefined;
  /** M7 of the requested asset numbers that M6 or E8 shows. */
  contents?: ReadonlyMap<string, AssetReading> | undefined;
  allContents?: boolean | undefined;
  /** M8. It is read if M5 or M6 shows a loan, if the CRM wants one, and if something may be removed. */
  loans?: readonly ObservedLoan[] | undefined;
  /** Readings that failed in this attempt. Nothing is planned that depends on one. */
  unread?: Unread | undefined;
}

/**
 * Why planning that depends on a failed reading waits, by reading.
 * - `people`: M5 and M6, and M8 if needed: everything for people, and removals from orders.
 * - `seats`: E8 beside M6: everything about numbers that M6 leaves out, and deletion of accounts.
 * - `customers`: E3 of a linked enterprise: every purchase.
 * - `contents`: M7 of existing assets: changes of orders, and units that continue another one's number.
 * - `examined`: M7 of everything in an enterprise that somebody else made: orders that may exist already.
 */
export type Unread = Partial<Record<"people" | "seats" | "customers" | "contents" | "examined", Block>>;

export function isUnread({ unread = {} }: Pick<Observed, "unread">): boolean {
  return Object.values(unread).some((block) => block.code === unreadable);
}

/** Something that a service rejected for a record. The ledger keeps it until the record changes. */
export interface Rejection {
  record: RecordReference;
  kind: OperationName;
  /** Hash of the rejected operation, or of one person's part of M1. */
  hash: string;
  /** Fingerprint of the settings at that time. */
  settings: string;
  operationId: string;
  code: string;
  reason: string;
  /** Rejected together with others, so the record at fault is unknown. */
  shared: boolean;
}

/** Everything that one customer is planned from. A resource adds its own fields by `declare module`. */
export interface CustomerInput {
  customer: RecordKey;
  desiredCustomer: Desired<DesiredCustomer> | undefined;
  orders: OrderWithTree[];
  staff: Desired<DesiredStaff>[];
  known: Known;
  /** The ledger was rebuilt, and no person has approved yet the creations that are left for the customer. */
  rebuilt?: true | undefined;
  /** A rebuild could not read the customer, and neither could a later reading. */
  unread?: true | undefined;
  observed: Observed;
  /** Clear private values of customer and staff, by marker key, if there is any staff; in memory only. */
  privateValues: ReadonlyMap<string, string>;
  /** The customer's own record was read but is not usable yet. */
  customerInQuarantine?: boolean | undefined;
  /** Quarantined records that belong to this customer and block deletes in its scope. */
  quarantinedInScope: number;
  /** A source of people with a row whose customer is unknown. It blocks deletes for all people of the source. */
  sourceWithStrayRecord: { source: string; row: string } | undefined;
  /** What services rejected for this customer and its records; it holds while nothing changes. */
  rejections: readonly Rejection[];
}

/** The same from the ledger, before the platform is read. */
export type LoadedCustomer = Omit<CustomerInput, "observed">;

/** The readings that a resource needs before it plans; empty if it depends on nothing. */
export interface Reads {
  enterprises?: boolean;
  /** M5 and M6, and M8 if they show something lent. */
  people?: boolean;
  loans?: boolean;
  /** M7 of these asset numbers. `ends`: something may be removed, which depends on M5, M6 and M8 too. */
  contents?: Contents | undefined;
}

interface Contents {
  numbers: ReadonlySet<string> | "all";
  ends: boolean;
}

export type ReadOptions = Pick<PlanOptions, "settings" | "policies"> & {
  thorough: boolean;
  /** Contents instead of those that resources name; with `contents: undefined`, none. */
  instead?: { contents: Contents | undefined };
};

/** The readings that all resources need together. A customer without an enterprise needs only E3. */
export function readsOf(
  loaded: LoadedCustomer,
  options: ReadOptions,
): Required<Reads> & { seats: ReadonlySet<string> } {
  const isLinked = loaded.known.link !== undefined;
  const { resources } = handedIn();
  const asked = resources.filter((one) => isAsked(one, "reads", { ...loaded, ...options }));
  const all = asked.map(({ reads }) => reads?.(loaded, options) ?? {});
  const contents = options.instead === undefined ? all.find((one) => one.contents)?.contents : options.instead.contents;
  const ends = contents?.ends === true;
  const people = isLinked && (ends || all.some((one) => one.people));
  return {
    enterprises: all.some((one) => one.enterprises),
    people,
    loans: isLinked && (ends || all.some((one) => one.loans)),
    seats: new Set(people ? resources.flatMap(({ seats }) => [...(seats?.(loaded) ?? [])]) : []),
    contents: isLinked ? contents : undefined,
  };
}

/** The templates that connect a CRM customer with its channel number. E3 confirms them after an E2 (A8). */
export function correlationOf(settings: AssumptionSettings): string {
  return correlation(settings, settings.channelCustomerIdTemplate);
}

/** The correlation that E3 must have confirmed: with the template, or with the number that the CRM gave. */
export function correlationFor(settings: AssumptionSettings, customer: RecordKey, channelCustomerId: string): string {
  const { id, namespace } = customer;
  const made = fillTemplate(settings.channelCustomerIdTemplate, { id, namespace });
  return made === channelCustomerId ? correlationOf(settings) : correlation(settings, channelCustomerId);
}

function correlation(settings: AssumptionSettings, channelCustomerId: string): string {
  return `${settings.crmCustomerIdTemplate} ${channelCustomerId} ${channelCodesOf(settings).join(",")}`;
}

/** Why an order waits: the known platform customers do not have exactly one for its licence type (A12). */
export function selectionBlock(
  known: Pick<Known, "platformCustomers" | "link">,
  types: readonly Parameters<typeof selectCustomer>[1][],
  settings: AssumptionSettings,
): Block | undefined {
  if (known.link === undefined || known.platformCustomers.length === 0) return undefined;
  for (const licenseType of types) {
    const selected = selectPlatformCustomer(known, licenseType, settings);
    if ("code" in selected) return selected;
  }
  return undefined;
}

/** The platform customer for orders of a licence type, or why there is not exactly one (A12). */
export function selectPlatformCustomer(
  known: Pick<Known, "platformCustomers">,
  licenseType: Parameters<typeof selectCustomer>[1],
  settings: AssumptionSettings,
): { customerId: string } | Block {
  const selected = selectCustomer(known.platformCustomers, licenseType, settings);
  if (selected.ok) return { customerId: selected.value.customerId };
  return {
    code: "enterprise.no-single-customer",
    reason:
      `${selected.error.hits} ${selected.error.selector} customers of the enterprise fit the licence ` +
      `type ${licenseType}, but exactly one must fit (A12)`,
    again: true,
  };
}
