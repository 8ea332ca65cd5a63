import { expect } from "vitest";
import { handedIn, handIn } from "../../src/engine/model/registry.ts";
import type { Resource } from "../../src/engine/model/resource.ts";
import {
  readsOf,
  type CustomerInput,
  type Observed,
  type Rejection,
  type PlanOptions,
} from "../../src/engine/plan/input.ts";
import type { z } from "zod";
import { type Json, type JsonObject, parseJsonObject } from "../../src/base/canonical-json.ts";
import { bindingsFrom, bind } from "../../src/engine/deliver.ts";
import {
  withTree,
  type Desired,
  type DesiredCustomer,
  type DesiredOrder,
  type DesiredStaff,
  type RecordState,
} from "../../src/engine/model/desired.ts";
import { standingOf } from "../../src/resources/order/fold.ts";
import { payloadFactsOf } from "../../src/engine/customer.ts";
import { assumptionSettingsSchema, type AssumptionSettings } from "../../src/contract/assumption-settings.ts";
import { customerSchema, orderSchema, staffSchema, type RecordKey, type Stream } from "../../src/crm/model.ts";
import { privatise, withMarkers } from "../../src/ledger/private/private.ts";
import { acknowledgedFields } from "../../src/resources/enterprise/state.ts";
import type { Assignment } from "../../src/resources/assignment/state.ts";
import { type FixedNumber, isPrivateMarker, markerKey } from "../../src/engine/model/references.ts";
import type { Known } from "../../src/engine/model/state.ts";
import type { ObservedMember } from "../../src/platform/snapshot.ts";
import { profileOf } from "../../src/resources/staff/profile.ts";
import type { Operation } from "../../src/engine/model/operation.ts";
import { type CustomerPlan, planCustomer } from "../../src/engine/plan/plan.ts";
import {
  customerRecord,
  nothingKnown,
  orderRecord,
  shownAsset,
  shownMember,
  staffRecord,
} from "../support/world/records.ts";
import { standardRules } from "../support/world/rules.ts";

export type CustomerFields = Partial<z.input<typeof customerSchema>>;
export type OrderFields = Partial<z.input<typeof orderSchema>>;
export type StaffFields = Partial<z.input<typeof staffSchema>>;

/** What the ledger says about a record beside its content. */
export interface Standing {
  state?: RecordState;
  pending?: boolean;
  version?: number;
  since?: string;
}

/** What a company has written down once it has answered every open question. */
export const answers = {
  channelCode: "CH1",
  timeCodecs: { assetLimit: "epoch_ms", productLimit: "yyyymmdd", productTrialEnd: "epoch_s", featureTrialEnd: "iso" },
  sentinels: { productUsage: 0, productTrialEnd: -1, featureTrialEnd: null },
  timeUnits: { YEAR: "year", MONTH: "month", DAY: "day", NONE: "none" },
  productTypes: ["tool", "webapp"],
  rootParentMerchandiseNum: "ROOT",
};

export function settingsWith(changes: JsonObject = {}): AssumptionSettings {
  return assumptionSettingsSchema.parse({ ...answers, ...changes });
}

/** The same without one answer: `channelCode`, `timeCodecs.assetLimit`. */
export function settingsWithout(key: string): AssumptionSettings {
  const [top = "", member] = key.split(".");
  const entries = Object.entries(answers).flatMap(([name, value]): [string, unknown][] => {
    if (name !== top) return [[name, value]];
    if (member === undefined) return [];
    return [[name, Object.fromEntries(Object.entries(value).filter(([inner]) => inner !== member))]];
  });
  return assumptionSettingsSchema.parse(Object.fromEntries(entries));
}

export const customerKey: RecordKey = { namespace: "crm", id: "ALFKI" };
export const enterpriseGlobalId = "ENT-1";

const values = new Map<string, Json>();

function desired<Body>(stream: Stream, record: object & RecordKey, standing: Standing): Desired<Body> {
  const ref = `${stream}/${record.namespace}/${record.id}`;
  const version = standing.version ?? 1;
  const split = privatise(stream, JSON.parse(JSON.stringify(record)) as JsonObject, `salt of ${ref}`);
  for (const [field, value] of Object.entries({ ...split.values, ...split.secrets })) {
    if (value !== undefined) values.set(markerKey({ $private: ref, field, version }), value);
  }
  return {
    key: { namespace: record.namespace, id: record.id },
    version,
    since: standing.since ?? "2026-10-01T08:00:00.000Z",
    bodyHash: split.bodyHash,
    state: standing.state ?? "current",
    pending: standing.pending ?? true,
    body: withMarkers(stream, record, version, parseJsonObject(split.body)) as Body,
  };
}

/** Alfreds, with everything that an order needs. */
export function customer(fields: CustomerFields = {}, standing: Standing = {}): Desired<DesiredCustomer> {
  const record = customerSchema.parse({
    ...customerRecord(customerKey.id, { enterpriseName: "Alfreds Holding" }),
    ...fields,
  });
  return desired("customers", record, standing);
}

/** An order of Alfreds; `instances` are the caller's. */
export function order(id: string, fields: OrderFields, standing: Standing = {}): Desired<DesiredOrder> {
  return desired("orders", orderSchema.parse({ ...orderRecord(id, customerKey.id), ...fields }), standing);
}

/** A staff member of Alfreds, by account name. */
export function staff(userName: string, fields: StaffFields = {}, standing: Standing = {}): Desired<DesiredStaff> {
  return desired(
    "staff",
    staffSchema.parse({ ...staffRecord(userName, customerKey.id, { userName }), ...fields }),
    standing,
  );
}

export interface Situation {
  customer?: Desired<DesiredCustomer> | undefined;
  orders?: Desired<DesiredOrder>[];
  takers?: Desired<DesiredOrder>[];
  sealed?: CustomerInput["sealed"];
  staff?: Desired<DesiredStaff>[];
  known?: Partial<Known>;
  standings?: CustomerInput["standings"];
  ended?: CustomerInput["ended"];
  observed?: Partial<Observed>;
  rejections?: readonly Rejection[];
  quarantinedInScope?: number;
}

/** An empty ledger's view of a customer whose enterprise E3 does not show, changed by what the situation says. */
export function situation(given: Situation): CustomerInput {
  const clear = new Map<string, string>();
  for (const [key, value] of values) if (typeof value === "string") clear.set(key, value);
  return {
    customer: customerKey,
    desiredCustomer: "customer" in given ? given.customer : customer(),
    orders: (given.orders ?? []).map(withTree),
    takers: given.takers?.map(withTree),
    sealed: given.sealed,
    staff: given.staff ?? [],
    known: { ...nothingKnown, ...given.known },
    standings: given.standings,
    ended: given.ended,
    observed: { enterprises: [], members: undefined, assets: undefined, ...given.observed },
    privateValues: clear,
    rejections: given.rejections ?? [],
    quarantinedInScope: given.quarantinedInScope ?? 0,
    sourceWithStrayRecord: undefined,
  };
}

/** What is known of a customer whose enterprise was made and agrees with the CRM. */
export function linked(own: Desired<DesiredCustomer> = customer(), more: Partial<Known> = {}): Partial<Known> {
  return {
    link: {
      enterpriseGlobalId,
      channelCode: "CH1",
      channelCustomerId: customerKey.id,
      origin: "created",
      examined: true,
    },
    platformCustomers: [
      { customerId: "C-default", isDefault: true, channelCode: "CH1", channelCustomerId: customerKey.id },
      { customerId: "C-industry", isDefault: false, channelCode: "CH1", channelCustomerId: customerKey.id },
    ],
    acknowledged: acknowledgedFields(own.body),
    ...more,
  };
}

/** The link of a staff record whose member's id is `M-<user name>`. */
export function staffLink(person: Desired<DesiredStaff>, memberGlobalId = memberOf(person)): Known["staffLinks"] {
  return new Map([
    [
      `${person.key.namespace}/${person.key.id}`,
      {
        key: person.key,
        memberGlobalId,
        origin: "created",
        profile: profileOf(person.body),
      },
    ],
  ]);
}

export function staffLinks(...people: Desired<DesiredStaff>[]): Known["staffLinks"] {
  return new Map(people.flatMap((person) => [...staffLink(person)]));
}

export function memberOf(person: { key: RecordKey }): string {
  return `M-${person.key.id}`;
}

export function assignment(
  person: { key: RecordKey },
  assetNumber: string,
  fields: Partial<Assignment> = {},
): Assignment {
  return { assetNumber, staff: person.key, memberGlobalId: memberOf(person), origin: "granted", ...fields };
}

/** A row of M5; the enterprise code is `X7`. */
export function member(userName: string, fields: Partial<ObservedMember> = {}): ObservedMember {
  return shownMember(`M-${userName}`, {
    userName: `${userName}X7`,
    name: staffRecord(userName, customerKey.id).name,
    ...fields,
  });
}

/** M5 and M6 that agree: who holds which number. Members without a number hold nothing; `null` is nobody. */
export function shown(members: readonly string[], holders: Record<string, string | null> = {}): Partial<Observed> {
  const held = Object.entries(holders);
  return {
    members: members.map((name) =>
      member(name, { assetNums: held.filter(([, holder]) => holder === name).map(([number]) => number) }),
    ),
    assets: held.map(([number, holder]) => shownAsset(number, { holder: holder === null ? null : `M-${holder}` })),
  };
}

/** Numbers fixed to the units of one instance, from unit 0. */
export function fixed(orderId: string, instanceId: string, ...numbers: string[]): FixedNumber[] {
  return numbers.map((number, unit) => ({ number, orderId, namespace: "crm", instanceId, unit }));
}

/** Orders that were placed as they are in the CRM now. */
export function placed(...orders: Desired<DesiredOrder>[]): Known["placedOrders"] {
  return new Map(
    orders.map((item) => [
      `${item.key.namespace}/${item.key.id}`,
      {
        key: item.key,
        customer: customerKey,
        channelOrderId: item.key.id,
        bodyHash: item.bodyHash,
        version: item.version,
        origin: "placed",
      },
    ]),
  );
}

/** What stands of orders of which nothing happened since they were placed as they are here. */
export function standingOrders(
  orders: readonly Desired<DesiredOrder>[],
  numbers: readonly FixedNumber[] = [],
): NonNullable<CustomerInput["standings"]> {
  const known = placed(...orders);
  return new Map(
    orders.flatMap((item) => {
      const name = `${item.key.namespace}/${item.key.id}`;
      const of = known.get(name);
      const forms = new Map([[item.version, item.body]]);
      return of === undefined ? [] : [[name, standingOf(of, { forms, numbers, licenceOrders: [], steps: [] })]];
    }),
  );
}

export function plan(given: Situation | CustomerInput, options: Partial<PlanOptions> = {}): CustomerPlan {
  const input = "privateValues" in given ? given : situation(given);
  const all = { ...standardRules, settings: settingsWith(), ...options };
  const planned = planCustomer(input, all);
  expect(planned, "who is not asked would plan nothing").toEqual(everyoneAsked(() => planCustomer(input, all)));
  return planned;
}

/** Who finds people and their seats relies on the engine to be asked only of those who are new, changed or read. */
function withoutPeople({ name }: Resource): NonNullable<Resource["asked"]> {
  return name === "staff" || name === "assignment" ? { plan: "people" } : {};
}

/** What it comes to if every resource is asked that leaves people alone who were not read. */
function everyoneAsked<Found>(work: () => Found): Found {
  const before = handedIn();
  handIn({
    ...before,
    resources: before.resources.map((resource) => ({ ...resource, asked: withoutPeople(resource) })),
  });
  try {
    return work();
  } finally {
    handIn(before);
  }
}

/** The bound payload of an operation, as the service gets it. Throws where a value is missing. */
export function wireOf(
  unbound: Operation | JsonObject,
  known: Known,
  settings: AssumptionSettings = settingsWith(),
): unknown {
  const bound = bind(
    isOperation(unbound) ? unbound.payload : unbound,
    bindingsFrom(payloadFactsOf(known), settings, {
      privateValue: (marker) => values.get(markerKey(marker)),
      initialPassword: (person) => `password of ${person}`,
      newPassword: (person) => `new password of ${person}`,
    }),
  );
  if (!bound.ok) throw new Error(`missing: ${JSON.stringify(bound.missing)}`);
  return JSON.parse(JSON.stringify(bound.wire)) as unknown;
}

function isOperation(unbound: Operation | JsonObject): unbound is Operation {
  return "payload" in unbound;
}

/** An operation as one line: kind, subject and what a person would look at first. */
export function line(operation: Operation): string {
  const show = (value: Json | undefined): string => {
    if (isPrivateMarker(value)) return `{${value.field}}`;
    return typeof value === "string" ? value : JSON.stringify(value);
  };
  const payload: JsonObject = operation.payload;
  const list = payload["deleteAssets"];
  const added = payload["addAssets"];
  if (Array.isArray(list) && Array.isArray(added)) {
    const numbers = operation.takesAway > 0 ? list : (operation.after ?? []);
    return `${operation.kind} ${operation.subject} ${Array.isArray(numbers) ? numbers.map(show).join(" ") : ""}`.trim();
  }
  return `${operation.kind} ${operation.subject}`;
}

export function lines(planned: CustomerPlan): string[] {
  return planned.operations.map(line);
}

/** What a plan says about its records: `staff crm/ann deferred asset.not-ordered`. */
export function outcomes(planned: CustomerPlan): string[] {
  return planned.records.map((record) =>
    [record.stream, `${record.key.namespace}/${record.key.id}`, record.outcome, record.code].filter(Boolean).join(" "),
  );
}

/** A situation of a customer whose enterprise is linked. */
export function people(given: Situation): Situation {
  const own = customer();
  return { customer: own, ...given, known: linked(own, given.known) };
}

/** The plan for a person who is linked to a member. */
export function planLinked(
  person: Desired<DesiredStaff>,
  observed: Partial<Observed>,
  known: Partial<Known> = {},
): CustomerPlan {
  return plan(people({ staff: [person], known: { staffLinks: staffLink(person), ...known }, observed }));
}

/** What becomes of the first staff record. */
export function staffOutcome(planned: CustomerPlan): CustomerPlan["records"][number] | undefined {
  return planned.records.find((item) => item.stream === "staff");
}

/** What the resources want read before a plan. */
export function needs(input: CustomerInput, thorough = false): ReturnType<typeof readsOf> {
  const options = { settings: settingsWith(), policies: standardRules.policies, thorough };
  const reads = readsOf(input, options);
  expect(reads, "who is not asked would read nothing").toEqual(everyoneAsked(() => readsOf(input, options)));
  return reads;
}
