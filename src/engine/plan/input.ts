import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import type { Contradictions } from "../model/assumptions-met.ts";
import type { Policies } from "../model/policy.ts";
import type { Block, BlockedRecord } from "./block.ts";
import type { RepairSettings, Drift } from "./drift.ts";
import type { Operation } from "../model/operation.ts";
import type { StateChange, Known } from "../model/state.ts";
import type { RecordKey } from "../../crm/model.ts";
import { formatKey } from "../../crm/keys.ts";
import { fillTemplate } from "../../contract/template.ts";
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

/** What a plan is made with beside its input. */
export interface PlanOptions {
  settings: AssumptionSettings;
  /** Whether initial passwords can be sealed (A30). */
  canSeal: boolean;
  /** What is done of each kind of change. */
  policies: Policies;
  /** Why nothing may be taken away in this run: an incomplete or shrunken source. */
  takingBlocked: Block | undefined;
  /** Assumptions that the services contradicted: what rests on one is not planned. */
  contradicted: Contradictions;
  /** Hashes of operations that a person rejected: none of them is planned again as it was. */
  rejected?: ReadonlySet<string> | undefined;
  /** How what was read back otherwise than it was left is repaired; left out: nothing of it is. */
  repairs?: RepairSettings | undefined;
  /** Subjects of what was carried out in this attempt already, for what is tried once in an attempt. */
  tried?: ReadonlySet<string> | undefined;
}

/** Who a staff record is on the platform, or becomes in this plan. */
export type Membership =
  | { kind: "member"; memberGlobalId: string; origin: "linked" | "adopted"; insteadOf?: RecordKey }
  /** `lost`: the account that was linked is gone, and `drift.missing` lets another one be made. */
  | { kind: "to-add"; lost?: true }
  | { kind: "blocked"; block: Block };

/** What planning orders, or planning people, came to. */
export interface Part {
  operations: Operation[];
  changes: StateChange[];
  /** Why something of a record is not done, by its key; of people who belong elsewhere now too. */
  blocks: ReadonlyMap<string, Block>;
}

/** What the stages after the enterprise make: what is done for orders, and what is done for people. */
export interface Planned {
  orders: Part;
  people: Part;
  /** The member of each person that was looked at, by key. */
  memberships: ReadonlyMap<string, Membership>;
  /** What is worth noting of people of whom nothing else is said; the first of each counts. */
  notes: readonly BlockedRecord[];
  /** Asset numbers that are to go whole: who holds one keeps it until then, and nobody is given one. */
  endingNumbers: ReadonlySet<string>;
}

/** Everything one customer is planned from, with what more than one stage needs of it made once. */
export interface Prepared extends CustomerInput {
  numbers: CustomerNumbers;
  /** The channel customer number is no longer the one under which the enterprise is linked. */
  renumbered: Block | undefined;
}

/** What the stages are planned from. */
export function prepare(input: CustomerInput, settings: AssumptionSettings): Prepared {
  const numbers = customerNumbers(input.customer, input.desiredCustomer?.body.channelCustomerId, settings);
  return { ...input, numbers, renumbered: otherNumber(input.customer, input.known.link, numbers) };
}

/** Whether the CRM no longer has the customer. */
export function isGone({ desiredCustomer }: Pick<CustomerInput, "desiredCustomer">): boolean {
  return desiredCustomer?.state === "absent";
}

/** A customer as far as it was read. `thorough`: people are read even if nothing changed. */
type Looked = Pick<LoadedCustomer, "orders" | "staff" | "known" | "away" | "standings" | "ended"> & {
  observed?: Pick<Observed, "members" | "unread">;
  thorough?: boolean;
};

/** What a customer may have that resources plan and read for. */
const concerns = {
  /** Orders that exist on the platform and may change, or go. */
  standings: ({ standings, away = [] }: Looked): boolean => (standings?.size ?? 0) + away.length > 0,
  orders: (looked: Looked): boolean => looked.orders.length > 0 || concerns.standings(looked),
  /** Locks that the CRM wants enabled or disabled. */
  switches: ({ orders }: Looked): boolean =>
    orders.some(({ tree }) => tree.assets.some(({ locked }) => locked !== undefined)),
  /** People who are new or changed, or were to be read. */
  people({ staff, known, observed }: Looked): boolean {
    if (staff.length + known.assignments.length === 0) return false;
    const isRead = observed?.members !== undefined || observed?.unread?.people !== undefined;
    return isRead || known.link === undefined || staff.some(({ pending }) => pending);
  },
  /** Accounts and seats of somebody who is no person of the customer any more. */
  leavers({ staff, known }: Looked): boolean {
    if (known.staffLinks.size + known.assignments.length === 0) return false;
    const here = new Set(staff.flatMap(({ key, state }) => (state === "absent" ? [] : [formatKey(key)])));
    const isGone = (key: string): boolean => !here.has(key);
    return [...known.staffLinks.keys()].some(isGone) || known.assignments.some((one) => isGone(formatKey(one.staff)));
  },
  /** People whose account or seats may change. */
  unsettledPeople: (looked: Looked): boolean =>
    looked.thorough === true ||
    looked.staff.some(({ pending }) => pending) ||
    (looked.ended ?? []).length > 0 ||
    concerns.leavers(looked),
};

export type Concern = keyof typeof concerns;

/** Whether a resource is asked for its part of a customer. */
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

/** Under which numbers the platform knows a customer of the CRM (A8). */
export interface CustomerNumbers {
  crmCustomerId: string;
  channelCustomerId: string;
}

/** The CRM and channel numbers of a customer, made by the configured templates; `override` is the CRM's own. */
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

/** What the platform showed just now; `undefined` where it was not read. A read that failed is never an empty list. */
export interface Observed {
  /** E3: enterprises under the customer's channel numbers. */
  enterprises: ShownEnterprise[] | undefined;
  /** Why E3's answer says neither that there is an enterprise nor that there is none. */
  ambiguous?: string | undefined;
  members: ObservedMember[] | undefined;
  /** M6, and those of E8 that M6 leaves out where it leaves out a number that people hold or are given. */
  assets: ObservedAsset[] | undefined;
  /** M7 of the asset numbers that were asked for and that M6 or E8 shows. */
  contents?: ReadonlyMap<string, AssetReading> | undefined;
  /** Asset numbers that neither M6 nor E8 shows, and of whose assets M7 says that there are none. */
  goneAssets?: ReadonlySet<string> | undefined;
  /** M7 was read of all assets that M6 and E8 show. */
  allContents?: boolean | undefined;
  /** M8, read where M5 or M6 shows something lent, where the CRM wants that, and where something is to go. */
  loans?: readonly ObservedLoan[] | undefined;
  /** Readings that gave nothing in this attempt: nothing is planned that rests on one of them. */
  unread?: Unread | undefined;
}

/**
 * Why what rests on a reading waits, by the reading that gave nothing.
 * - `people`: M5 and M6, and M8 where it was needed: what is done for people and what is taken away of orders.
 * - `seats`: E8 beside M6: what is done about numbers that M6 leaves out, and deleted of accounts.
 * - `customers`: E3 of a linked enterprise: every purchase.
 * - `contents`: M7 of what stands: changes and repairs of orders, and what goes on under the number of another.
 * - `examined`: M7 of all that an enterprise shows which somebody else made: orders that may be there already.
 */
export type Unread = Partial<Record<"people" | "seats" | "customers" | "contents" | "examined", Block>>;

/** Whether a service gave nothing for something that a plan rests on. */
export function isUnread({ unread = {} }: Pick<Observed, "unread">): boolean {
  return Object.values(unread).some((block) => block.code === unreadable);
}

/** Something that a service refused for a record, as the ledger keeps it while the record has not changed since. */
export interface Rejection {
  record: RecordReference;
  kind: OperationName;
  /** Of what was refused: the operation, or one person's part of M1. */
  hash: string;
  /** Fingerprint of the settings that it was made with. */
  settings: string;
  operationId: string;
  code: string;
  reason: string;
  /** Refused together with others, so that it is not known whose fault it was. */
  shared: boolean;
}

/** Everything one customer is planned from. A resource adds its own fields by `declare module`. */
export interface CustomerInput {
  customer: RecordKey;
  desiredCustomer: Desired<DesiredCustomer> | undefined;
  orders: OrderWithTree[];
  staff: Desired<DesiredStaff>[];
  known: Known;
  /** The ledger was built anew, which left something of the customer to be made, and no person approved of that yet. */
  rebuilt?: true | undefined;
  /** A rebuild could not look at the customer, and nobody could since. */
  unread?: true | undefined;
  /** What was read back otherwise than it was left; undefined where nothing was. */
  drift?: Drift | undefined;
  observed: Observed;
  /** Clear private values of customer and staff, by marker key, where there is any staff; in memory only. */
  privateValues: ReadonlyMap<string, string>;
  /** The customer's own record was read, and could not be used yet. */
  customerInQuarantine?: boolean | undefined;
  /** Quarantined records that belong to this customer and block deletes in its scope. */
  quarantinedInScope: number;
  /**
   * A source of this customer's people that gave a row of which nobody can tell whose it is: it blocks deletes wherever
   * the source's people are.
   */
  sourceWithStrayRecord: { source: string; row: string } | undefined;
  /** What was refused for this customer and its records, and stands while nothing has changed. */
  rejections: readonly Rejection[];
}

/** The same as the ledger gives it, before the platform was read. */
export type LoadedCustomer = Omit<CustomerInput, "observed">;
