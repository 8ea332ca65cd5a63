import { isJsonObject } from "../base/canonical-json.ts";
import type { Json } from "../base/canonical-json.ts";
import { formatKey } from "../crm/keys.ts";
import { privateFields } from "../crm/model.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import { storedOrNull } from "../ledger/database/damage.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** The private values of the newest form of a record, for whoever asked for them by name. Passwords are none. */
export interface PrivateValues {
  version: number;
  /** When they were erased; null where they were not. */
  erasedAt: string | null;
  /** By field, in the order in which the fields of the stream are named; of what was erased none. */
  values: { field: string; value: string }[];
}

/** What a person asked for. Undefined where the record was never usable. */
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
