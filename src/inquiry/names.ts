import { sql } from "kysely";
import { isJsonObject, type JsonObject, type Json } from "../base/canonical-json.ts";
import { type RecordKey, type Stream, privateFields } from "../crm/model.ts";
import { stored, storedOrNull } from "../ledger/database/damage.ts";
import { assetUnitOf } from "../engine/model/references.ts";
import type { RecordReference } from "../engine/model/resource.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";
import { formatKey } from "../crm/keys.ts";

interface OrderPart {
  order: RecordKey;
  instanceId: string;
}

const mostVersions = 20;

/** Names of a company, newest first, each with its commitment. Empty if the customer is or was a person. */
export async function companyNames(
  { db }: ReadOnlyLedger,
  { namespace, id }: RecordKey,
): Promise<{ name: string; commitment: string }[]> {
  const { rows } = await sql<{ name: string | null; commitment: string }>`
    select p.body ->> 'name' as name, v.body ->> '$.name.commitment' as commitment
    from record_version v
    left join private_value p on p.ref = 'customers/' || v.namespace || '/' || v.id and p.version = v.version
    where v.stream = 'customers' and v.namespace = ${namespace} and v.id = ${id} and not exists (
      select 1 from record_version o
      where o.stream = 'customers' and o.namespace = ${namespace} and o.id = ${id}
        and o.body ->> 'customerType' is not 'company')
    order by v.version desc limit ${mostVersions}`.execute(db);
  return rows.flatMap(({ name, commitment }) => (name === null ? [] : [{ name, commitment }]));
}

/** Names of the products that a part of an order is or contains, also if the CRM has removed it. */
export async function productNames(ledger: ReadOnlyLedger, { order, instanceId }: OrderPart): Promise<string[]> {
  for (const form of await newestForms(ledger, { stream: "orders", ...order }, mostVersions)) {
    const names = productsIn(form, instanceId);
    if (names.length > 0) return names;
  }
  return [];
}

export async function newestForms(
  { db }: ReadOnlyLedger,
  { stream, namespace, id }: RecordReference,
  most: number,
): Promise<JsonObject[]> {
  const versions = await db
    .selectFrom("record_version")
    .select("body")
    .where("stream", "=", stream)
    .where("namespace", "=", namespace)
    .where("id", "=", id)
    .orderBy("version", "desc")
    .limit(most)
    .execute();
  return versions.map(({ body }) => stored<JsonObject>(body, "record_version"));
}

function productsIn({ instances }: JsonObject, root: string): string[] {
  const all = Array.isArray(instances) ? instances.flatMap((one) => (isJsonObject(one) ? [one] : [])) : [];
  const within = new Set([root]);
  for (let found = 0; found < within.size;) {
    found = within.size;
    for (const { id, parentId } of all)
      if (typeof id === "string" && typeof parentId === "string" && within.has(parentId)) within.add(id);
  }
  const names = all.flatMap(({ id, kind, name }) =>
    typeof id === "string" && kind === "product" && typeof name === "string" && within.has(id) ? [name] : [],
  );
  return [...new Set(names)];
}

export async function partOfAsset({ db }: ReadOnlyLedger, asset: string): Promise<OrderPart | undefined> {
  const unit = assetUnitOf(asset);
  if (unit !== undefined) return unit;
  const row = await db
    .selectFrom("asset_number")
    .select(["namespace", "order_id", "instance_id"])
    .where("wire_number", "=", asset)
    .where("fixed_at", "is not", null)
    .executeTakeFirst();
  if (row === undefined || row.namespace === null || row.order_id === null || row.instance_id === null)
    return undefined;
  return { order: { namespace: row.namespace, id: row.order_id }, instanceId: row.instance_id };
}

/** Private values of a record's newest form, without passwords; a person must ask for them by name. */
export interface PrivateValues {
  version: number;
  erasedAt: string | null;
  values: { field: string; value: string }[];
}

export async function privateValues(
  { db }: ReadOnlyLedger,
  stream: Stream,
  key: RecordKey,
): Promise<PrivateValues | undefined> {
  const row = await db
    .selectFrom("record as r")
    .leftJoin("private_value as p", (join) =>
      join.on("p.ref", "=", `${stream}/${formatKey(key)}`).onRef("p.version", "=", "r.version"),
    )
    .select(["r.version", "p.body", "p.wiped_at"])
    .where("r.stream", "=", stream)
    .where("r.namespace", "=", key.namespace)
    .where("r.id", "=", key.id)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const body = storedOrNull(row.body);
  return {
    version: row.version,
    erasedAt: row.body === null ? row.wiped_at : null,
    values: privateFields[stream].flatMap((field) => {
      const value = isJsonObject(body) ? textOf(body[field]) : undefined;
      return value === undefined ? [] : [{ field, value }];
    }),
  };
}

function textOf(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
