import { sql } from "kysely";
import type { Kysely } from "kysely";

interface PrivateRow {
  ref: string;
  version: number;
  name: string | null;
  login: string | null;
}

const rowsAtOnce = 2_000;
const longestName = 120;
/** What lies behind this much cannot be in a key. */
const read = longestName * 4;

/**
 * Names of customers and people, and the logins of people, as they are searched for: beside the values that they are
 * made from, so that they go with them. What may be asked for by one number alone gets an index too. Rows are read and
 * written in parts, so that memory does not grow with the ledger.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table private_value add column name_key text`.execute(db);
  await sql`alter table private_value add column login_key text`.execute(db);
  for (const stream of ["customers", "staff"]) await fill(db, stream);
  await sql`create index private_value_by_name on private_value (name_key) where name_key is not null`.execute(db);
  await sql`create index private_value_by_login on private_value (login_key) where login_key is not null`.execute(db);
  await sql`create index licence_order_by_number on licence_order (license_order_id)`.execute(db);
  await sql`create index assignment_by_staff on assignment (namespace, staff_id)`.execute(db);
}

async function fill(db: Kysely<unknown>, stream: string): Promise<void> {
  let after: Pick<PrivateRow, "ref" | "version"> = { ref: `${stream}/`, version: 0 };
  for (;;) {
    const { rows } = await sql<PrivateRow>`select ref, version, substr(body ->> '$.name', 1, ${read}) as name,
        substr(body ->> '$.userName', 1, ${read}) as login from private_value
      where (ref, version) > (${after.ref}, ${after.version}) and ref < ${`${stream}0`}
      order by ref, version limit ${rowsAtOnce}`.execute(db);
    const keys = rows.map(({ ref, version, name, login }) => ({
      ref,
      version,
      name: keyOf(stream, name),
      login: stream === "staff" ? keyOf(stream, login) : null,
    }));
    await sql`update private_value set name_key = k.value ->> 'name', login_key = k.value ->> 'login'
      from json_each(${JSON.stringify(keys)}) k
      where private_value.ref = k.value ->> 'ref' and private_value.version = k.value ->> 'version'`.execute(db);
    const last = rows.at(-1);
    if (last === undefined || rows.length < rowsAtOnce) return;
    after = last;
  }
}

function keyOf(stream: string, value: string | null): string | null {
  const plain = (value ?? "").normalize("NFC").toLowerCase().normalize("NFC");
  const folded = plain.trim().replaceAll(/\s+/gu, " ");
  return folded === "" ? null : `${stream} ${Array.from(folded).slice(0, longestName).join("")}`;
}
