import type { Money, RecordKey } from "../../crm/model.ts";
import { flagText, changedFields, type OrderChange } from "./order-form.ts";
import { formatKey } from "../../crm/keys.ts";
import { bothDates, crmDay, type CrmDate } from "../crm-date.ts";
import { minus, type Exact } from "./cells.ts";
import { closedDeferral } from "./closed-words.ts";
import { amountColumns, column, type Column, type PartRow, type Row, type StatementShape } from "./shape.ts";

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
const outcomesOfChange = [
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

/** The order that something changed in. */
export interface ChangedOrder {
  order: RecordKey;
  customer: RecordKey;
  branch: string | null;
  crmDate: CrmDate | null;
  channelOrderId: string;
  placedAt: string;
}

/** One change that a form of a placed order brought, where it came from and what became of it. */
export interface Correction extends ChangedOrder {
  change: OrderChange;
  /** Since when the CRM has it, and until when it had it. */
  from: string;
  to: string | null;
  versions: { before: number; after: number };
  source: string;
  place: string;
  became: Became;
  auditSequence: number | null;
}

/** The columns that name the order of a change. */
export const changedOrderColumns: readonly Column[] = [
  column("text", "customer", "Customer", "Key of the customer that the order belongs to."),
  column("text", "branch", "Branch", "Code of the branch that looks after the customer."),
  column("text", "crm_order", "CRM order", "Key of the order in the CRM."),
  column("date", "crm_date", "CRM date", "Date that the CRM gives the order."),
  column("text", "channel_order_id", "Channel order", "Number under which it was placed."),
  column("instant", "placed_at", "Placed", "When it was placed or taken over."),
];

const datesOf = "A date is as the CRM gave it, with the time where only that changed.";

/** The columns that say what changed, from what to what. */
export const changeColumns: readonly Column[] = [
  column("text", "level", "Level", "What changed: `order`, `asset`, `package` or `product`."),
  column("text", "item", "Item", "Id of the asset, package or product in the CRM; empty for the order itself."),
  column("text", "product", "Product", "Name of the product or package."),
  column("text", "product_number", "Product number", "Number of the product or package, else its application key."),
  column("text", "license_type", "Licence type", "Licence type of the asset that it belongs to."),
  column("text", "field", "Field", `What of it changed: ${changedFields.map((field) => `\`${field}\``).join(", ")}.`),
  column("text", "before", "Before", `The old value; empty if there was none, and for amounts. ${datesOf}`),
  column("text", "after", "After", `The new value; empty if there is none, and for amounts. ${datesOf}`),
  ...amountColumns("before_amount", "Amount before", "The amount before; of a product that is gone, its own."),
  ...amountColumns("after_amount", "Amount after", "The amount after; of a product that came, its own."),
  ...amountColumns(
    "amount_change",
    "Change of amount",
    "Amount after less amount before, where the currency stayed the same; a side without an amount counts as none.",
  ),
  column("integer", "before_count", "Count before", "Nodes or quantity before, as a number."),
  column("integer", "after_count", "Count after", "Nodes or quantity after, as a number."),
  column("integer", "count_change", "Change of count", "Count after less count before."),
];

/** Every amount, quantity or term that changed after placement. */
export const correctionsStatement: StatementShape = {
  kind: "corrections",
  version: 2,
  title: "Corrections",
  about:
    "Every amount, date, quantity, term, number of nodes and product that the CRM changed in an order after it was " +
    "placed: when, in which row of the source, the old and the new value, and the result.",
  parts: [
    {
      name: "corrections",
      title: "Corrections",
      about:
        "One row for each difference between a form of a placed order and the form before it. A form belongs " +
        "to the period in which the CRM had it first, or by CRM date to that of its order.",
      groupBy: "field",
      columns: [
        column("instant", "changed_at", "Changed", "When the ledger read the new form first."),
        column("instant", "changed_until", "Until", "When another form took its place; empty for the newest one."),
        ...changedOrderColumns,
        ...changeColumns,
        column("integer", "version_before", "Form before", "Number of the form of the order before."),
        column("integer", "version_after", "Form after", "Number of the form of the order that brought the change."),
        column("text", "source", "Source", "The source that gave the new form."),
        column("text", "place", "Place", "Where in the source it stands, such as a file and its line."),
        column(
          "text",
          "became",
          "Became",
          `What became of it: ${outcomesOfChange.map((outcome) => `\`${outcome}\``).join(", ")}.`,
        ),
        column("instant", "became_at", "Done", "When that happened."),
        column("text", "operation", "Operation", "The operation that did it, or is to do it."),
        column("integer", "audit_sequence", "Audit entry", "Number of the audit entry of that."),
        column(
          "text",
          "reason",
          "Reason",
          "Why it waits, as a code, where it does. `crm-sync explain` has the reason in words.",
        ),
      ],
    },
  ],
};

/** One correction as a row. */
export function correctionRow(correction: Correction, zone: string): PartRow {
  const { change, became } = correction;
  return {
    part: "corrections",
    row: {
      changed_at: correction.from,
      changed_until: correction.to,
      ...changedOrderCells(correction, zone),
      ...changeCells(change, zone),
      version_before: correction.versions.before,
      version_after: correction.versions.after,
      source: correction.source,
      place: correction.place,
      became: became.became,
      became_at: became.at,
      operation: became.operationId,
      audit_sequence: correction.auditSequence,
      // Words of the services may name people: closed periods have the code in their place.
      reason: became.reason === null ? null : closedDeferral(became.reason),
    },
  };
}

/** The cells that name the order of a change. */
export function changedOrderCells(order: ChangedOrder, zone: string): Row {
  return {
    customer: formatKey(order.customer),
    branch: order.branch,
    crm_order: formatKey(order.order),
    crm_date: crmDay(order.crmDate, zone),
    channel_order_id: order.channelOrderId,
    placed_at: order.placedAt,
  };
}

/** The cells that say what changed. */
export function changeCells(change: OrderChange, zone: string): Row {
  const { level, item, name, number, licenseType, field, before, after } = change;
  const changed = amountDifference(before.amount, after.amount);
  return {
    level,
    item,
    product: name,
    product_number: number,
    license_type: licenseType,
    field,
    ...textsOf(change, zone),
    before_amount: before.amount?.minor ?? null,
    before_amount_currency: before.amount?.currency ?? null,
    after_amount: after.amount?.minor ?? null,
    after_amount_currency: after.amount?.currency ?? null,
    amount_change: changed?.minor ?? null,
    amount_change_currency: changed?.currency ?? null,
    before_count: before.count ?? null,
    after_count: after.count ?? null,
    count_change:
      before.count === undefined && after.count === undefined ? null : (after.count ?? 0) - (before.count ?? 0),
  };
}

/** Both sides as text. */
function textsOf({ before, after }: OrderChange, zone: string): Record<"before" | "after", string | null> {
  if (before.date === undefined || after.date === undefined) return { before: before.text, after: after.text };
  return bothDates(before.date, after.date, zone);
}

/** The amount after less the one before, of the same currency; one that is not there counts as none. */
export function amountDifference(
  before: Money | undefined,
  after: Money | undefined,
): { currency: string; minor: Exact } | undefined {
  const currency = after?.currency ?? before?.currency;
  if (currency === undefined || (before?.currency ?? currency) !== currency) return undefined;
  return { currency, minor: minus(after?.minor ?? 0, before?.minor ?? 0) };
}
