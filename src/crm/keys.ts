import type { Order, RecordKey, Staff, Stream } from "./model.ts";

/** `crm/ALFKI`: for display and as a key in the ledger. */
export function formatKey(key: RecordKey): string {
  return `${key.namespace}/${key.id}`;
}

/** Reverses `formatKey`. A namespace has no slash. */
export function parseKey(text: string): RecordKey {
  const slash = text.indexOf("/");
  return { namespace: text.slice(0, slash), id: text.slice(slash + 1) };
}

export function customerKeyOf(
  stream: Stream,
  record: RecordKey & Partial<Pick<Order | Staff, "customerId" | "customerNamespace">>,
): RecordKey {
  if (stream === "customers" || record.customerId === undefined) return { namespace: record.namespace, id: record.id };
  return { namespace: record.customerNamespace ?? record.namespace, id: record.customerId };
}

/** What an operation or a block is about: `order:crm/10248`. */
export function subjectOf(stream: Stream, key: RecordKey): string {
  const kind = stream === "customers" ? "customer" : stream === "orders" ? "order" : "staff";
  return `${kind}:${formatKey(key)}`;
}
