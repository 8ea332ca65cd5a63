import { withoutReplacedSeats } from "./gated.ts";
import type { RecordKey } from "../../crm/model.ts";
import { type Operation, compareOperations } from "../model/operation.ts";
import type { StateChange } from "../model/state.ts";
import { handedIn, operationNames } from "../model/registry.ts";
import type { Earlier, ResourcePlan } from "../model/resource.ts";
import { firstBlocks, recordsOf, recordsWaiting, type Block, type RecordOutcome } from "./blocks.ts";
import { factsOf, type Facts } from "./facts.ts";
import {
  type CustomerInput,
  type Part,
  type PlanOptions,
  type Planned,
  type PlanInput,
  isAsked,
  planInputOf,
} from "./input.ts";
import { planRequested, type RequestStage } from "./requested.ts";
import { StandingRejections } from "./rejections.ts";
import { hashOf, toJson } from "../../base/canonical-json.ts";

export interface CustomerPlan {
  customer: RecordKey;
  operations: Operation[];
  records: RecordOutcome[];
  /** From readings, without an operation: adoptions, and assignments that are missing on the platform. */
  changes: StateChange[];
  /** The customer waits, or the plan is an undo. Then a missing operation proves nothing. */
  waits?: true;
  rejected?: ReadonlySet<string> | undefined;
  readonly facts: Facts;
}

export function planCustomer(input: CustomerInput, options: PlanOptions): CustomerPlan {
  const { settings } = options;
  const { customer, known } = input;
  const rejections = new StandingRejections(input.rejections, options);
  const prepared = planInputOf(input, settings);
  const waiting = (own: Block, planned?: Planned): CustomerPlan => ({
    customer,
    operations: [],
    records: recordsWaiting(input, own, planned),
    changes: planned?.people.changes.filter(isShownProfile) ?? [],
    waits: true,
    get facts() {
      return factsOf(input);
    },
  });

  const enterprise = planFirst(prepared, { ...options, rejections });
  const refused = enterprise.blocks[0]?.[1];
  // A rejected E4 of an existing enterprise blocks nothing.
  const isMade = known.link !== undefined || enterprise.changes.length > 0;
  const own = enterprise.stops ?? (isMade ? undefined : refused);
  if (own !== undefined && known.link === undefined) return waiting(own);

  const planned = planStagesOf(prepared, { ...options, rejections });
  const { tried = new Set() } = options;
  const requested =
    known.requests.length === 0 ? nothingRequested : planRequested(input, settings, { rejections, tried });
  if (own !== undefined) return waiting(own, planned);

  // The reason why a request waits is more important than a remark about the enterprise.
  const note = requested.block !== undefined && enterprise.note?.again === false ? undefined : enterprise.note;
  const told = recordsOf(input, { refused, note, asked: requested.block }, planned);
  const records = withUnread(told, input);
  const { orders, people } = planned;
  const all = [enterprise, orders, people, requested].flatMap((stage) => stage.operations);
  const operations = withoutReplacedSeats(all, known).sort(compareOperations);
  const changes = [...enterprise.changes, ...orders.changes, ...people.changes];
  return {
    customer,
    operations,
    records,
    changes,
    rejected: options.rejected,
    get facts() {
      return factsOf(input);
    },
  };
}

/** After a failed reading the next run must visit the customer again, even if no record waits for that. */
function withUnread(records: RecordOutcome[], { customer: key, observed }: CustomerInput): RecordOutcome[] {
  const [block] = Object.values(observed.unread ?? {});
  if (block === undefined || records.some(({ again }) => again === true)) return records;
  const others = records.filter(({ stream }) => stream !== "customers");
  return [...others, { stream: "customers", key, outcome: "deferred", ...block }];
}

/** Recorded even while the customer waits. Otherwise a finished person would be reported. */
function isShownProfile({ type }: StateChange): boolean {
  return type === "staff-edited";
}

interface StageOptions extends PlanOptions {
  rejections: StandingRejections;
}

type Plan = (given: PlanInput, earlier: Earlier, options: PlanOptions) => ResourcePlan;

const nothingRequested: RequestStage = { operations: [], block: undefined };

const nothing: Part = { operations: [], changes: [], blocks: new Map() };

const nothingPlanned: Planned = {
  orders: nothing,
  people: nothing,
  memberships: new Map(),
  notes: [],
  endingNumbers: new Set<string>(),
};

/** The first resource, customers, plans before all others: they need an enterprise. */
function planFirst(given: PlanInput, options: StageOptions): ResourcePlan {
  const [first] = handedIn().resources;
  if (first === undefined) throw new Error("no resource was handed in");
  return first.plan(given, earlierOf(nothingPlanned, options), options);
}

function planStagesOf(given: PlanInput, options: StageOptions): Planned {
  const [, ...resources] = handedIn().resources;
  const planned = resources.reduce((before, resource) => {
    const noted = resource.requests === undefined ? before : withNotes(before);
    return isAsked(resource, "plan", given) ? withPlan(resource.plan, given, noted, options) : noted;
  }, nothingPlanned);
  return resources.reduce((before, resource) => {
    if (resource.planLast === undefined) return before;
    const noted = withNotes(before);
    return isAsked(resource, "planLast", given) ? withPlan(resource.planLast, given, noted, options) : noted;
  }, planned);
}

function earlierOf(before: Planned, { rejections }: StageOptions): Earlier {
  return {
    ...before,
    make: (drafts) => rejections.operations(drafts),
    rejectedPart: (type, hash) => rejections.part(type, hash),
  };
}

function withPlan(plan: Plan, given: PlanInput, before: Planned, options: StageOptions): Planned {
  const { records, operations, changes, blocks, ...said } = plan(given, earlierOf(before, options), options);
  const part = records === "orders" ? "orders" : "people";
  const { endingNumbers = before.endingNumbers, memberships = before.memberships, notes = before.notes } = said;
  const own = { operations, changes, blocks: blocks.length === 0 ? nothing.blocks : firstBlocks(blocks) };
  return { ...before, endingNumbers, memberships, notes, [part]: joined(before[part], own) };
}

/** After the blocks of what people hold, before the blocks of their requests. */
function withNotes({ notes, people, ...before }: Planned): Planned {
  return { ...before, notes: [], people: joined(people, { ...nothing, blocks: new Map(notes.toReversed()) }) };
}

function joined(earlier: Part, later: Part): Part {
  if (isEmpty(later)) return earlier;
  if (isEmpty(earlier)) return later;
  return {
    operations: [...earlier.operations, ...later.operations],
    changes: [...earlier.changes, ...later.changes],
    blocks: new Map([...later.blocks, ...earlier.blocks]),
  };
}

function isEmpty({ operations, changes, blocks }: Part): boolean {
  return operations.length === 0 && changes.length === 0 && blocks.size === 0;
}

/** Increase this to decide waiting records anew although nothing else changed. */
const generation = 1;

export function rulesOf({
  policies,
  settings,
  canSeal,
}: Pick<PlanOptions, "policies" | "settings" | "canSeal">): string {
  return hashOf([generation, operationNames().sort(), toJson(policies), toJson(settings), canSeal]);
}
