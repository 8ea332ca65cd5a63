import type { RecordKey } from "../crm/model.ts";
import { operationLine, type Called, payloadLines } from "../engine/model/operation-line.ts";
import type { Operation } from "../engine/model/operation.ts";
import type { StateChange } from "../engine/model/state.ts";
import { openCounts, openTable } from "../report/open.ts";
import {
  counted,
  numberText,
  painted,
  printable,
  section,
  textOf,
  wrapped,
  type Lines,
  type View,
} from "../report/text.ts";
import type { Planned, PlanSummary } from "../engine/run/plan-run.ts";
import { holdLines } from "./run-summary.ts";

const mostShown = 50;

const tones = { "+": "better", "~": "waits", "−": "worse" } as const;

interface Group {
  customer: RecordKey;
  operations: readonly Operation[];
  changes: readonly StateChange[];
  unplanned?: string;
}

/** Collects a plan while it is made, and shows it at the end. */
export class ShownPlan {
  readonly #most: number;
  readonly #withFields: boolean;
  readonly #groups: Group[] = [];
  #shown = 0;
  #left = { operations: 0, customers: 0 };

  constructor({ all, verbose }: { all: boolean; verbose: boolean }) {
    this.#most = all ? Number.POSITIVE_INFINITY : mostShown;
    this.#withFields = verbose;
  }

  add(planned: Planned): void {
    const group: Group =
      "plan" in planned
        ? planned.plan
        : { customer: planned.customer, operations: [], changes: [], unplanned: planned.reason };
    const { operations, changes, unplanned } = group;
    if (operations.length + changes.length === 0 && unplanned === undefined) return;
    const room = Math.max(0, this.#most - this.#shown);
    const fitting = operations.slice(0, room);
    this.#left.operations += operations.length - fitting.length;
    if (room === 0) {
      this.#left.customers += 1;
      return;
    }
    // A group without operations also takes a line.
    this.#shown += Math.max(1, fitting.length);
    this.#groups.push({ ...group, operations: fitting });
  }

  async text(summary: PlanSummary, called: Called, again: string, view: View): Promise<string> {
    const lines: Lines = [planSentence(summary)];
    const linesOf = this.#withFields
      ? operationLines
      : async (...of: Parameters<typeof lineOf>) => [await lineOf(...of)];
    for (const group of this.#groups)
      lines.push(["", ...(await groupLines(group, summary.heldBy, { called, linesOf, view }))]);
    const { operations, customers } = this.#left;
    const whose = customers === 0 ? "" : ` for ${counted(customers, "more customer")}`;
    if (operations + customers > 0)
      lines.push(["", `and ${counted(operations, "more change")}${whose}: ${again} --all`]);
    lines.push(section("held until a person decides", holdLines(summary.held, view)));
    lines.push(openTable(summary.open, view));
    return textOf(wrapped(lines.flat(), view));
  }
}

/** `Plan: 3 changes, 1 held, 15 records waiting.` */
function planSentence({ operations, heldBy, unplanned, open }: PlanSummary): string {
  const parts = [
    operations === heldBy.size ? "no changes" : counted(operations - heldBy.size, "change"),
    ...(heldBy.size === 0 ? [] : [`${numberText(heldBy.size)} held`]),
    ...openCounts(open),
    ...(unplanned === 0 ? [] : [`${counted(unplanned, "customer")} could not be planned`]),
  ];
  return `Plan: ${parts.join(", ")}. Nothing was sent.`;
}

async function groupLines(
  { customer, operations, changes, unplanned }: Group,
  heldBy: PlanSummary["heldBy"],
  { called, linesOf, view }: { called: Called; linesOf: typeof operationLines; view: View },
): Promise<string[]> {
  const name = await called.company(customer);
  const id = painted("id", printable(called.record(customer)), view);
  const lines = [name === undefined ? id : `${id}  ${painted("title", printable(name), view)}`];
  for (const operation of operations) {
    lines.push(...(await linesOf(operation, called, view)));
    const held = heldBy.get(operation.hash);
    if (held !== undefined) lines.push(`      held: ${printable(held.explanation)}`);
  }
  for (const change of changes) {
    if (change.type === "linked") lines.push(`  = adopt the enterprise ${change.link.enterpriseGlobalId}`);
    if (change.type === "order-placed") {
      const order = `${called.record(change.order)}: the platform shows all of it as ${change.channelOrderId}`;
      lines.push(`  = adopt the order ${printable(order)}`);
    }
  }
  if (unplanned !== undefined) lines.push(`  ! ${painted("worse", printable(unplanned), view)}`);
  return lines;
}

/** `  − unassign 1 × Office Suite from E-20005: the CRM no longer gives it`; only removals have a reason. */
async function lineOf(operation: Operation, called: Called, view: View): Promise<string> {
  const { sign, text } = await operationLine(operation, called);
  const why = sign === "−" ? `: ${printable(operation.reason)}` : "";
  return `  ${painted(tones[sign], sign, view)} ${text}${why}`;
}

async function operationLines(operation: Operation, called: Called, view: View): Promise<string[]> {
  const fields = payloadLines(operation);
  return [await lineOf(operation, called, view), ...fields.map((field) => `      ${printable(field)}`)];
}
