import type { Money } from "../../crm/model.ts";
import { flagText } from "./order-changes.ts";
import type { OrderChange } from "./order-changes.ts";

/** Something that happened to a placed order, as far as it answers a change. */
export interface AnsweringStep {
  kind: "bought" | "removed" | "priced";
  at: string;
  /** The form of the order that it follows; null of what was taken away. */
  version: number | null;
  items: readonly {
    instanceId?: string | undefined;
    product?: string | null | undefined;
    /** The new amount. */
    to?: Money | null | undefined;
    products?: readonly string[] | undefined;
    packages?: readonly string[] | undefined;
  }[];
  operationId: string | null;
}

/** An operation for an order that did not come to an end, or was refused. */
export interface OpenOperation {
  id: string;
  state: "planned" | "sending" | "unknown" | "parked" | "held" | "rejected";
  /** The form of the order that it was made from, where it says so. */
  version: number | null;
  createdAt: string;
}

/** What is known of an order beside its forms. */
export interface Answers {
  steps: readonly AnsweringStep[];
  operations: readonly OpenOperation[];
  /** Number of its newest form. */
  newest: number;
  /** Why it waits, as a code. */
  waits: string | null;
}

/** What became of a change of an order: by which step or operation, where there is one. */
export interface Became {
  became: (typeof outcomesOfChange)[number];
  at: string | null;
  operationId: string | null;
  /** Why it waits, as a code. */
  reason: string | null;
}

/**
 * - `repriced`: the ledger has the new amount; no service gets one.
 * - `amended`: it was bought anew, or more of it was.
 * - `taken-away`: what is no longer wanted was deleted.
 * - `held`, `waiting`, `rejected`: an operation for it is held, not ended, or refused.
 * - `deferred`: the order waits for something else.
 * - `superseded`: nothing was done before the CRM changed the order again.
 * - `nothing`: nothing was done.
 */
export const outcomesOfChange = [
  "repriced",
  "amended",
  "taken-away",
  "held",
  "waiting",
  "rejected",
  "deferred",
  "superseded",
  "nothing",
] as const;

/** A form of an order that brought a change, and the later one that said the same thing otherwise again. */
export interface ChangingForm {
  version: number;
  since: string;
  again: { version: number; since: string } | undefined;
  /** When the form came that said it otherwise before, where that was a change too. */
  before?: string | undefined;
}

/** What became of a change that a form of the order brought. */
export function becameOf(change: OrderChange, form: ChangingForm, answers: Answers): Became {
  const step = answers.steps.find((one) => answersTo(one, change, form) || isBoughtAgain(one, change, form, answers));
  if (step !== undefined) {
    const became = { priced: "repriced", bought: "amended", removed: "taken-away" } as const;
    return { became: became[step.kind], at: step.at, operationId: step.operationId, reason: null };
  }
  if (form.version < answers.newest) return { became: "superseded", at: null, operationId: null, reason: null };
  const open = answers.operations.find(({ version, createdAt }) =>
    version === null ? createdAt >= form.since : version >= form.version,
  );
  if (open !== undefined) {
    const became = open.state === "held" || open.state === "rejected" ? open.state : "waiting";
    return { became, at: open.createdAt, operationId: open.id, reason: answers.waits };
  }
  const waits = { at: null, operationId: null, reason: answers.waits };
  return answers.waits === null ? { became: "nothing", ...waits } : { became: "deferred", ...waits };
}

function isSame(one: Money | undefined, other: Money | undefined): boolean {
  return one?.currency === other?.currency && one?.minor === other?.minor;
}

/** What was cancelled and removed is bought again where the CRM wants it again. */
function isBoughtAgain(
  step: AnsweringStep,
  { item, field, after }: OrderChange,
  { version, again, before }: ChangingForm,
  { steps }: Answers,
): boolean {
  if (step.kind !== "bought" || item !== null || field !== "cancelled" || after.text !== flagText(false)) return false;
  const wasRemoved = ({ kind, at }: AnsweringStep): boolean =>
    kind === "removed" && before !== undefined && at >= before && at <= step.at;
  return isOfForm(step, version, again) && steps.some(wasRemoved);
}

function isOfForm({ version }: AnsweringStep, first: number, again: ChangingForm["again"]): boolean {
  return (version ?? 0) >= first && (again === undefined || (version ?? 0) < again.version);
}

/** A step follows the form that brought the change, or a later one that leaves it so, and names what changed. */
function answersTo(step: AnsweringStep, change: OrderChange, { version, since, again }: ChangingForm): boolean {
  const { item, asset, outermost, inside, field, after } = change;
  const follows = isOfForm(step, version, again);
  switch (step.kind) {
    case "priced":
      if (!follows || field !== "amount") return false;
      return step.items.some(({ product = null, to }) => product === item && isSame(to ?? undefined, after.amount));
    case "bought":
      if (!follows || item === null) return false;
      return step.items.some(
        ({ instanceId, products = [], packages = [] }) =>
          // A package is bought with all that stands in it, and named alone.
          products.includes(item) ||
          (outermost !== null && packages.includes(outermost)) ||
          (change.level === "asset" && instanceId === item),
      );
    case "removed":
      // What stays costs what a step says that prices it.
      if (field === "amount" || step.at < since || (again !== undefined && step.at >= again.since)) return false;
      // Nothing of a cancelled order stays.
      if (item === null) return field === "cancelled" && after.text === flagText(true);
      return step.items.some(({ product = null, instanceId }) =>
        product === null
          ? instanceId !== undefined && instanceId === asset
          : // A package goes with what stands in it.
            product === item || inside.includes(product),
      );
  }
}
