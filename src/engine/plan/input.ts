import { type AssumptionSettings, channelCodesOf } from "../../contract/assumption-settings.ts";
import type { Contradictions } from "../model/assumptions-met.ts";
import type { Policies } from "../model/policy-settings.ts";
import type { Block, BlockedRecord } from "./blocks.ts";
import type { Operation } from "../model/operation.ts";
import type { StateChange, Known } from "../model/state.ts";
import type { RecordKey } from "../../crm/model.ts";
import { formatKey } from "../../crm/keys.ts";
import { fillTemplate, selectCustomer } from "../../contract/template.ts";
import { unreadable } from "../../base/errors.ts";
import type { Desired, DesiredCustomer, DesiredStaff, OrderWithTree } from "../model/desired.ts";
import type { OperationName, Resource, RecordReference } from "../model/resource.ts";
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
  /** A source was read incompletely or shrank, so this run may remove nothing. */
  removalsBlocked: Block | undefined;
  /** Nothing that depends on one of these is planned. */
  contradicted: Contradictions;
  /** Hashes of operations that a person rejected. They are not planned again unchanged. */
  rejected?: ReadonlySet<string> | undefined;
  /** Subjects of operations that this attempt already carried out. Some are tried once in an attempt. */
  tried?: ReadonlySet<string> | undefined;
  /** What was recorded when this attempt began. The platform may not show yet what came since. */
  begun?: Known | undefined;
}

export type Membership =
  | { kind: "member"; memberGlobalId: string; origin: "linked" | "adopted"; insteadOf?: RecordKey }
  | { kind: "to-add" }
  | { kind: "blocked"; block: Block };

export interface Part {
  operations: Operation[];
  changes: StateChange[];
  /** Includes people who now belong elsewhere. */
  blocks: ReadonlyMap<string, Block>;
}

export interface Planned {
  orders: Part;
  people: Part;
  memberships: ReadonlyMap<string, Membership>;
  notes: readonly BlockedRecord[];
  /** Numbers that will be removed. Their holders keep them until then, and nobody else gets them. */
  endingNumbers: ReadonlySet<string>;
}

export interface PlanInput extends CustomerInput {
  numbers: CustomerNumbers;
  /** Set if the enterprise is linked under another channel customer number. */
  renumbered: Block | undefined;
}

export function planInputOf(input: CustomerInput, settings: AssumptionSettings): PlanInput {
  const numbers = customerNumbers(input.customer, input.desiredCustomer?.body.channelCustomerId, settings);
  return { ...input, numbers, renumbered: otherNumber(input.customer, input.known.link, numbers) };
}

export function isGone({ desiredCustomer }: Pick<CustomerInput, "desiredCustomer">): boolean {
  return desiredCustomer?.state === "absent";
}

type Looked = Pick<LoadedCustomer, "orders" | "staff" | "known" | "away" | "standings" | "ended"> & {
  observed?: Pick<Observed, "members" | "unread">;
  thorough?: boolean;
};

const concerns = {
  standings: ({ standings, away = [] }: Looked): boolean => (standings?.size ?? 0) + away.length > 0,
  orders: (looked: Looked): boolean => looked.orders.length > 0 || concerns.standings(looked),
  switches: ({ orders }: Looked): boolean =>
    orders.some(({ tree }) => tree.assets.some(({ locked }) => locked !== undefined)),
  people({ staff, known, observed }: Looked): boolean {
    if (staff.length + known.assignments.length === 0) return false;
    const isRead = observed?.members !== undefined || observed?.unread?.people !== undefined;
    return isRead || known.link === undefined || staff.some(({ pending }) => pending);
  },
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

/** From the configured templates. `override`: the channel number that the CRM gave. */
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

/** `undefined`: not read. A failed reading is never an empty list. */
export interface Observed {
  enterprises: ShownEnterprise[] | undefined;
  ambiguous?: string | undefined;
  members: ObservedMember[] | undefined;
  assets: ObservedAsset[] | undefined;
  contents?: ReadonlyMap<string, AssetReading> | undefined;
  allContents?: boolean | undefined;
  /** M8, read if M5 or M6 shows a loan, the CRM wants one, or something may be removed. */
  loans?: readonly ObservedLoan[] | undefined;
  /** Failed readings of this attempt. Nothing that depends on one is planned. */
  unread?: Unread | undefined;
}

/**
 * A failed reading blocks these. `people` (M5, M6, M8): people, and removals from orders. `seats` (E8): numbers that M6
 * leaves out, and deletion of accounts. `customers` (E3): purchases. `contents` (M7): changes and repairs of orders,
 * units that continue a number. `examined` (M7 of a foreign enterprise): orders that may exist already.
 */
export type Unread = Partial<Record<"people" | "seats" | "customers" | "contents" | "examined", Block>>;

export function isUnread({ unread = {} }: Pick<Observed, "unread">): boolean {
  return Object.values(unread).some((block) => block.code === unreadable);
}

export interface Rejection {
  record: RecordReference;
  kind: OperationName;
  hash: string;
  settings: string;
  operationId: string;
  code: string;
  reason: string;
  shared: boolean;
}

export interface CustomerInput {
  customer: RecordKey;
  desiredCustomer: Desired<DesiredCustomer> | undefined;
  orders: OrderWithTree[];
  staff: Desired<DesiredStaff>[];
  known: Known;
  /** The ledger was rebuilt, and no person has approved the remaining creations yet. */
  rebuilt?: true | undefined;
  unread?: true | undefined;
  /** A person was asked about an operation, or decided on one. */
  asked?: true | undefined;
  observed: Observed;
  /** Unencrypted, only in memory, by marker key. Filled only if there are people. */
  privateValues: ReadonlyMap<string, string>;
  customerInQuarantine?: boolean | undefined;
  /** Quarantined records of this customer. They block removals. */
  quarantinedInScope: number;
  /** A source of people with a row whose customer is unknown. It blocks removals for all its people. */
  sourceWithStrayRecord: { source: string; row: string } | undefined;
  /** By key: people known here who moved in the CRM, and why nothing is removed from them yet. */
  unclearMoves?: ReadonlyMap<string, string> | undefined;
  /** Each holds until its record or the settings change. */
  rejections: readonly Rejection[];
}

export type LoadedCustomer = Omit<CustomerInput, "observed">;

export interface Reads {
  enterprises?: boolean;
  people?: boolean;
  loans?: boolean;
  /** M7 of these numbers. `ends`: something may be removed, so M5, M6 and M8 are needed too. */
  contents?: Contents | undefined;
}

interface Contents {
  numbers: ReadonlySet<string> | "all";
  ends: boolean;
}

export type ReadOptions = Pick<PlanOptions, "settings" | "policies"> & {
  thorough: boolean;
  /** Replaces the requested contents. With `contents: undefined`, M7 is not called. */
  instead?: { contents: Contents | undefined };
};

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

/** Identifies the templates that connect a CRM customer with its channel number. E3 confirms them after an E2 (A8). */
export function correlationOf(settings: AssumptionSettings): string {
  return correlation(settings, settings.channelCustomerIdTemplate);
}

/** The correlation that E3 must have confirmed, with the template or the number from the CRM. */
export function correlationFor(settings: AssumptionSettings, customer: RecordKey, channelCustomerId: string): string {
  const { id, namespace } = customer;
  const made = fillTemplate(settings.channelCustomerIdTemplate, { id, namespace });
  return made === channelCustomerId ? correlationOf(settings) : correlation(settings, channelCustomerId);
}

function correlation(settings: AssumptionSettings, channelCustomerId: string): string {
  return `${settings.crmCustomerIdTemplate} ${channelCustomerId} ${channelCodesOf(settings).join(",")}`;
}

/** Set if the platform customers do not have exactly one for each licence type (A12). */
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
