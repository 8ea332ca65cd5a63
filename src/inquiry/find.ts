import { sql } from "kysely";
import type { NotNull } from "kysely";
import { isJsonObject } from "../base/canonical-json.ts";
import type { Json } from "../base/canonical-json.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import { stored } from "../ledger/database/stored.ts";
import { mostFound } from "../report/explain.ts";
import { similarTo } from "./explain.ts";
import { ordersOfNumber } from "./number-owners.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** A record that somebody may mean, and by what it was found. */
export interface Found {
  key: RecordKey;
  by: "id" | "asset number" | "name";
}

/** Which private values are names, by stream. Orders have none. */
const names: Partial<Record<Stream, readonly string[]>> = { customers: ["name"], staff: ["name", "userName"] };

/**
 * Finds the records of a stream that a text may mean: an id in any namespace, a number of the platform, an asset number
 * (the order that has it now, the customer whose it is, or the person who holds it), and last a name. Names are private
 * values: they are compared here, and only keys leave.
 */
export async function find(ledger: ReadOnlyLedger, stream: Stream, text: string): Promise<Found[]> {
  const found = new Map<string, Found>();
  const add = (key: RecordKey, by: Found["by"]): void => {
    const name = `${key.namespace}/${key.id}`;
    if (!found.has(name) && found.size < mostFound) found.set(name, { key, by });
  };
  for (const key of await byAssetNumber(ledger, stream, text)) add(key, "asset number");
  for (const { key } of await similarTo(ledger, stream, { namespace: "", id: text }, stream)) add(key, "id");
  for (const key of await inQuarantine(ledger, stream, text)) add(key, "id");
  if (found.size === 0) for (const key of byName(ledger, stream, text)) add(key, "name");
  return [...found.values()];
}

async function byAssetNumber(ledger: ReadOnlyLedger, stream: Stream, number: string): Promise<RecordKey[]> {
  if (stream !== "staff")
    return (await ordersOfNumber(ledger, number)).map((owner) => (stream === "orders" ? owner.order : owner.customer));
  return await ledger.db
    .selectFrom("assignment")
    .select(["namespace", "staff_id as id"])
    .where("asset_number", "=", number)
    .where("to_at", "is", null)
    .execute();
}

async function inQuarantine({ db }: ReadOnlyLedger, stream: Stream, id: string): Promise<RecordKey[]> {
  return await db
    .selectFrom("quarantine")
    .select(["namespace", "record_id as id"])
    .distinct()
    .where("state", "<>", sql.lit("resolved"))
    .where("record_id", "=", id)
    .where(sql<Stream>`+stream`, "=", stream)
    .$narrowType<{ namespace: NotNull; id: NotNull }>()
    .execute();
}

/** Records whose newest form has this name, whatever its case and spaces. */
function* byName(ledger: ReadOnlyLedger, stream: Stream, text: string): Generator<RecordKey, void, void> {
  const fields = names[stream];
  if (fields === undefined) return;
  const wanted = plain(text);
  const query = ledger.db
    .selectFrom("record as r")
    .innerJoin("private_value as p", (join) =>
      join
        .on("p.ref", "=", sql<string>`r.stream || '/' || r.namespace || '/' || r.id`)
        .onRef("p.version", "=", "r.version"),
    )
    .select(["r.namespace", "r.id", "p.body"])
    .where("r.stream", "=", stream)
    .where("p.body", "is not", null)
    .$narrowType<{ body: NotNull }>();
  for (const { namespace, id, body } of ledger.rows(query)) {
    const values = stored<Json>(body);
    if (isJsonObject(values) && fields.some((field) => plain(values[field]) === wanted)) yield { namespace, id };
  }
}

function plain(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value.normalize("NFC").trim().replaceAll(/\s+/gu, " ").toLowerCase() : undefined;
}
