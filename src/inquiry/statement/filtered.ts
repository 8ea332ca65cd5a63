import { sql } from "kysely";
import type { RawBuilder } from "kysely";
import { parseKey } from "../../crm/keys.ts";
import type { Filters } from "../../report/statement/shape.ts";

/** The branch of a customer, as the newest usable form of it says. */
export function branchOf(customer: Record<"namespace" | "id", RawBuilder<unknown>>): RawBuilder<string | null> {
  return sql<string | null>`(select branch_form.body ->> '$.branchCode' from record branch_owner
    join record_version branch_form on branch_form.stream = branch_owner.stream
      and branch_form.namespace = branch_owner.namespace and branch_form.id = branch_owner.id
      and branch_form.version = branch_owner.version
    where branch_owner.stream = 'customers' and branch_owner.namespace = ${customer.namespace}
      and branch_owner.id = ${customer.id})`;
}

/** The branch that a customer had at a moment, or else first. */
export function branchThen(
  customer: Record<"namespace" | "id", RawBuilder<unknown>>,
  at: RawBuilder<unknown>,
): RawBuilder<string | null> {
  const form = sql`from record_version branch_form where branch_form.stream = 'customers'
    and branch_form.namespace = ${customer.namespace} and branch_form.id = ${customer.id}`;
  return sql<string | null>`coalesce(
    (select branch_form.body ->> '$.branchCode' ${form} and branch_form.from_at <= ${at}
      order by branch_form.version desc limit 1),
    (select branch_form.body ->> '$.branchCode' ${form} order by branch_form.version limit 1))`;
}

/** What a filter says of a customer, as a condition; nothing where it says nothing. */
export function ofCustomer(
  { customer, branch }: Filters,
  of: Record<"namespace" | "id", RawBuilder<unknown>>,
  ownBranch: RawBuilder<string | null> = branchOf(of),
): RawBuilder<boolean> {
  const key = customer === undefined ? undefined : parseKey(customer);
  const named = key === undefined ? sql`1` : sql`${of.namespace} = ${key.namespace} and ${of.id} = ${key.id}`;
  return branch === undefined ? sql<boolean>`(${named})` : sql<boolean>`(${named} and ${ownBranch} = ${branch})`;
}

/** Whether an order's record comes from the source that is asked for. */
export function ofSource({ source }: Filters, column: RawBuilder<unknown>): RawBuilder<boolean> {
  return source === undefined ? sql<boolean>`1` : sql<boolean>`${column} = ${source}`;
}
