import { explainCommand } from "../../report/text.ts";
import type { Json } from "../../base/canonical-json.ts";
import { Problem } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import type { Uniqueness } from "../../engine/model/operation-type.ts";
import type { Operation } from "../../engine/model/operation.ts";
import { nameOf } from "../../engine/model/requests.ts";
import type { OpenRows } from "../../engine/model/resource.ts";
import { needsApproval, typeIn, typeOf } from "../../engine/model/registry.ts";
import { isManual } from "../../engine/plan/gated.ts";
import type { Sqlite } from "../database/database.ts";
import { prepared, sql } from "../database/statements.ts";
import type { HoldRows } from "../decisions/hold-rows.ts";
import { pausedCode, type Pause } from "../pause.ts";
import type { StateRows } from "../state/registry.ts";
import type { RequestRows } from "../state/requests.ts";
import type { Row } from "../tables.ts";

export const uniquenessCodes = [
  "order.same-channel-number",
  "order.placed-already",
  "order.in-doubt",
  "enterprise.same-channel-number",
  "order.changed-meanwhile",
  "request.changed",
  "operation.not-approved",
  "revokes.rejected",
  "plan.applied-already",
  pausedCode,
] as const;

const claiming = (column: string, what: Uniqueness["what"]): string =>
  typeIn(column, ({ can }) => can.claims?.what === what);

interface Owner {
  namespace: string;
  id: string;
}

/**
 * Each intent is checked in its own transaction. An order is placed once, even after it moved. A channel order number
 * belongs to one order, a channel customer number to one customer (A10).
 */
export class UniquenessChecks {
  readonly #statements;
  readonly #requests: RequestRows;
  readonly #holds: HoldRows;
  readonly #orderSteps: OpenRows["order"]["steps"];
  readonly #pause: Pause;

  constructor(database: Sqlite, { holds, pause, rows }: { holds: HoldRows; pause: Pause; rows: StateRows }) {
    this.#holds = holds;
    this.#pause = pause;
    this.#requests = rows.requests;
    this.#orderSteps = rows.resources.order.steps;
    this.#statements = prepared(database, {
      placed: sql<[Owner & { number: string }], Owner & Row<"placed_order", "channel_order_id">>`
        select namespace, order_id as id, channel_order_id from placed_order
          where to_at is null and channel_order_id = +@number
          union all
          select namespace, order_id, channel_order_id from amendment_number where channel_order_id = +@number
          union all
          select namespace, order_id, channel_order_id from placed_order
          where to_at is null and namespace = +@namespace and order_id = +@id limit 1`,
      openOrder: sql<[Owner & { number: string; operation: string }], Owner & { operation: string }>`
        select one.value ->> 'namespace' as namespace, one.value ->> 'id' as id, o.id as operation
          from operation o join json_each(o.records) one
          where o.state in ('sending', 'unknown', 'parked') and ${claiming("o.kind", "order")}
            and o.id <> +@operation
            and o.claim is not null and o.claim = +@number
          union all
          select r.namespace, r.record_id, o.id from operation_record r cross join operation o on o.id = r.operation_id
          where r.stream = 'orders' and r.namespace = +@namespace and r.record_id = +@id
            and o.state in ('sending', 'unknown', 'parked') and ${claiming("o.kind", "order")}
              and o.id <> +@operation limit 1`,
      openElsewhere: sql<[Owner & { customerNamespace: string; customerId: string }], { operation: string }>`
        select o.id as operation from operation_record r cross join operation o on o.id = r.operation_id
          where r.stream = 'orders' and r.namespace = +@namespace and r.record_id = +@id
            and o.state in ('sending', 'unknown', 'parked')
            and not (o.customer_namespace = @customerNamespace and o.customer_id = @customerId) limit 1`,
      agreed: sql<[string, string], { agreed_hash: string | null }>`
        select agreed_hash from placed_order where namespace = +? and order_id = +? and to_at is null`,
      claimedEnterprise: sql<[Owner & { number: string; operation: string }], Owner>`
        select namespace, customer_id as id from link where to_at is null and channel_customer_id = +@number
            and not (namespace = +@namespace and customer_id = +@id)
          union all
          select customer_namespace, customer_id from operation
          where state in ('sending', 'unknown', 'parked') and ${claiming("kind", "enterprise")}
            and id <> +@operation
            and claim is not null and claim = +@number
            and not (customer_namespace = +@namespace and customer_id = +@id) limit 1`,
    });
  }

  /** Throws if the request changed since the plan. Not for a repeated call: the first may have had an effect. */
  requireAsked(operation: Operation): void {
    const requests = typeOf(operation).can.answers?.(operation) ?? [];
    const gone = requests.find((request) => !this.#requests.stands(request));
    if (gone === undefined) return;
    throw new Problem({
      code: "request.changed",
      message: `the request for the ${nameOf(gone)} changed after the plan was made, so nothing was sent`,
      cure: "nothing needs to be done: the next run plans with the new request",
    });
  }

  /** Throws without a needed approval, or if rejected meanwhile. Not for a repeated call, which was decided before. */
  requireDecided(operation: Operation, ofUndo: boolean): void {
    const { customer, subject, takesAway } = operation;
    const isAlone = needsApproval(operation);
    if (isManual(operation) && !isAlone) return;
    const { state, question } = this.#holds.standsAs({ customer, ofUndo }, operation) ?? {};
    if (state === "asked" || (state === undefined && isAlone))
      throw new Problem({
        code: "operation.not-approved",
        message: `a person must approve this operation on ${subject}, and nobody has, so nothing was sent`,
        cure: "`crm-sync status` lists the holds; `crm-sync approve op_… --reason TEXT` approves one operation",
      });
    if (state !== "rejected") return;
    const what = takesAway > 0 ? "this removal" : "this change";
    throw new Problem({
      code: "revokes.rejected",
      message: `a person rejected ${what} (${subject}) while the run was in progress, so nothing was sent`,
      cure:
        `nothing needs to be done; to withdraw the rejection: \`crm-sync reject ${question} --withdraw --reason ` +
        "TEXT`",
    });
  }

  /** Throws a Problem if the order changed since the plan, or its number is not free. Not for a repeated call. */
  requireStanding(operation: Operation, channelOrderId: Json | undefined): void {
    const amends = typeOf(operation).can.expects?.(operation);
    if (amends === undefined) return;
    const { order } = amends;
    this.#requireSettledElsewhere(operation.customer, order);
    const placed = this.#statements.agreed.get(order.namespace, order.id);
    const number = typeof channelOrderId === "string" ? this.#orderSteps.amendment(channelOrderId) : undefined;
    const owner = number === undefined ? undefined : { namespace: number.namespace, id: number.order_id };
    const stands = placed?.agreed_hash === amends.agreed && this.#orderSteps.last(order) === amends.lastStep;
    const isFree = number?.used_at === null && owner !== undefined && formatKey(owner) === formatKey(order);
    if (stands && isFree) return;
    throw new Problem({
      code: "order.changed-meanwhile",
      message: `the order ${formatKey(order)} changed after this operation was planned, so nothing was sent`,
      cure: "nothing needs to be done: the next run plans again, from the new state",
    });
  }

  /** Operations for the order's other customer must be settled before anything is bought or removed. */
  #requireSettledElsewhere({ namespace: customerNamespace, id: customerId }: Owner, order: Owner): void {
    const open = this.#statements.openElsewhere.get({ ...order, customerNamespace, customerId });
    if (open === undefined) return;
    throw new Problem({
      code: "order.in-doubt",
      message:
        `nothing was sent for the order ${formatKey(order)}: the outcome of ${open.operation}, sent for another ` +
        "customer, is not known yet",
      cure: "the next run finds the outcome on the platform; to decide it yourself: `crm-sync settle list`",
    });
  }

  require(operation: Operation, operationId: string | undefined): void {
    this.#pause.requireNone();
    const wanted = typeOf(operation).can.claims?.of(operation);
    if (wanted?.what === "order") this.#requireOrder(wanted, operationId ?? "");
    if (wanted?.what === "enterprise") this.#requireEnterprise(wanted, operationId ?? "");
  }

  #requireOrder({ order, number }: Extract<Uniqueness, { what: "order" }>, operationId: string): void {
    const wanted = { namespace: order.namespace, id: order.id, number };
    const placed = this.#statements.placed.get(wanted);
    const open = this.#statements.openOrder.get({ ...wanted, operation: operationId });
    const owner = placed ?? open;
    if (owner === undefined) return;
    if (formatKey(owner) !== formatKey(order)) {
      throw new Problem({
        code: "order.same-channel-number",
        message:
          `the channel order number ${number} belongs to the order ${formatKey(owner)}; two orders must not share a ` +
          "number. Nothing was sent",
        cure:
          "give the order its own channel order number (channelOrderId in the mapping, or " +
          "assumptions.channelOrderIdTemplate)",
      });
    }
    if (placed !== undefined) {
      throw new Problem({
        code: "order.placed-already",
        message:
          `the order ${formatKey(order)} was placed before, as ${placed.channel_order_id}, and crm-sync never ` +
          "places an order twice. Nothing was sent",
        cure: `\`${explainCommand("orders", order)}\` shows the customer that it was placed for`,
      });
    }
    throw new Problem({
      code: "order.in-doubt",
      message:
        `nothing was sent for the order ${formatKey(order)}, because it may be placed already: the outcome of ` +
        `${open?.operation ?? "an operation"} is not known yet`,
      cure: "the next run finds the outcome on the platform; to decide it yourself: `crm-sync settle list`",
    });
  }

  #requireEnterprise({ customer, number }: Extract<Uniqueness, { what: "enterprise" }>, operationId: string): void {
    const owner = this.#statements.claimedEnterprise.get({ ...customer, number, operation: operationId });
    if (owner === undefined) return;
    throw new Problem({
      code: "enterprise.same-channel-number",
      message:
        `the channel customer number ${number} of ${formatKey(customer)} already belongs to the customer ` +
        `${formatKey(owner)}, so nothing was sent`,
      cure:
        "give one of the two customers its own channel customer number (channelCustomerId in the mapping, or " +
        "assumptions.channelCustomerIdTemplate)",
    });
  }
}
