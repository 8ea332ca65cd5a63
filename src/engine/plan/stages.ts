import { handedIn } from "../model/registry.ts";
import type { Earlier, ResourcePlan } from "../model/resource.ts";
import { firstBlocks } from "./block.ts";
import { isAsked } from "./input.ts";
import type { PlanOptions, Part, Planned, Prepared } from "./input.ts";
import type { StandingRejections } from "./rejections.ts";

export interface StageOptions extends PlanOptions {
  rejections: StandingRejections;
}

type Plan = (given: Prepared, earlier: Earlier, options: PlanOptions) => ResourcePlan;

const nothing: Part = { operations: [], changes: [], blocks: new Map() };

const nothingPlanned: Planned = {
  orders: nothing,
  people: nothing,
  memberships: new Map(),
  notes: [],
  endingNumbers: new Set<string>(),
};

/** Without an enterprise there is nothing else: the resource of customers plans first. */
export function planFirst(given: Prepared, options: StageOptions): ResourcePlan {
  const [first] = handedIn().resources;
  if (first === undefined) throw new Error("no resource was handed in");
  return first.plan(given, earlierOf(nothingPlanned, options), options);
}

/** Everything after the enterprise but what people asked for: each resource plans with what those before it planned. */
export function planStagesOf(given: Prepared, options: StageOptions): Planned {
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

function withPlan(plan: Plan, given: Prepared, before: Planned, options: StageOptions): Planned {
  const { records, operations, changes, blocks, ...said } = plan(given, earlierOf(before, options), options);
  const part = records === "orders" ? "orders" : "people";
  const { endingNumbers = before.endingNumbers, memberships = before.memberships, notes = before.notes } = said;
  const own = { operations, changes, blocks: firstBlocks(blocks) };
  return { ...before, endingNumbers, memberships, notes, [part]: joined(before[part], own) };
}

/** What is only worth noting comes after what a person holds, and before what is requested for them. */
function withNotes({ notes, people, ...before }: Planned): Planned {
  return { ...before, notes: [], people: joined(people, { ...nothing, blocks: new Map(notes.toReversed()) }) };
}

/** What was said of a record first stands. */
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
