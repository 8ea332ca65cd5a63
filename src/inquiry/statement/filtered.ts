import { sql } from "kysely";
import type { RawBuilder } from "kysely";
import { parseKey } from "../../crm/keys.ts";
import type { Filters } from "../../report/statement/shape.ts";

/** The branch of a customer, as the newest usable form of it says. */
export function branchOf(customer: Record<"namespace" | "id", RawBuilder<unknown>>): RawBuilder<string | null> {
  return sql<string | null>`(select w.body ->> '$.branchCode' from record c
    join record_version w on w.stream = c.stream and w.namespace = c.namespace and w.id = c.id and w.version = c.version
    where c.stream = 'customers' and c.namespace = ${customer.namespace} and c.id = ${customer.id})`;
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
