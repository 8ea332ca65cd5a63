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

/** What a filter says of a customer, as a condition; nothing where it says nothing. */
export function ofCustomer(
  { customer, branch }: Filters,
  of: Record<"namespace" | "id", RawBuilder<unknown>>,
): RawBuilder<boolean> {
  const key = customer === undefined ? undefined : parseKey(customer);
  const named = key === undefined ? sql`1` : sql`${of.namespace} = ${key.namespace} and ${of.id} = ${key.id}`;
  return branch === undefined ? sql<boolean>`(${named})` : sql<boolean>`(${named} and ${branchOf(of)} = ${branch})`;
}

/** Whether an order's record comes from the source that is asked for. */
export function ofSource({ source }: Filters, column: RawBuilder<unknown>): RawBuilder<boolean> {
  return source === undefined ? sql<boolean>`1` : sql<boolean>`${column} = ${source}`;
}
