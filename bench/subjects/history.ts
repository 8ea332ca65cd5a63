import { parseArgs } from "node:util";
import type { Sqlite } from "../../src/ledger/database/database.ts";
import { AuditLog } from "../../src/ledger/audit/audit-log.ts";
import { openDatabase } from "../../src/ledger/database/database.ts";
import { text } from "./arguments.ts";

/**
 * Makes a ledger at `--path` with at least `--rows` rows of history: customers that the CRM has no more, with ended
 * operations, attempts, audit entries and versions, and everything else that they leave. Through the real tables, the
 * audit chain by the program's own code.
 */

/** Operations of each customer of the history: its enterprise, an order, a member of staff, an assignment. */
const kinds = [
  { kind: "create-enterprise", endpoint: "E2", stage: "enterprise", stream: "customers", subject: "customer" },
  { kind: "place-order", endpoint: "E5", stage: "orders", stream: "orders", subject: "order" },
  { kind: "add-staff", endpoint: "M1", stage: "staff", stream: "staff", subject: "staff" },
  { kind: "grant-assets", endpoint: "M9", stage: "grants", stream: "staff", subject: "staff-of" },
] as const;
const streams = ["customers", "orders", "staff"] as const;

/** Rows of operations, attempts, audit entries and versions that one customer leaves. */
const rowsOfCustomer = 3 * kinds.length + streams.length;
const runs = 2_000;
const customersAtOnce = 20_000;

const { values } = parseArgs({ options: { path: { type: "string" }, rows: { type: "string" } } });
const customers = Math.ceil(Number(text(values.rows, "rows")) / rowsOfCustomer);
/** Not so long ago that retention would thin it. */
const at = new Date(Date.now() - 10 * 86_400_000).toISOString();

const database = await openDatabase(text(values.path, "path"), { migrate: true });
database.pragma("synchronous = off");
database.pragma("cache_size = -200000");
database.transaction(() => addRuns(database))();
const audit = new AuditLog(database);
for (let from = 1; from <= customers; from += customersAtOnce) {
  const to = Math.min(customers, from + customersAtOnce - 1);
  database.transaction(() => {
    for (const statement of statementsFor(from, to)) database.exec(statement);
    for (let number = from; number <= to; number += 1) addAuditEntries(number);
  })();
  process.stderr.write(`history: ${to} of ${customers} customers\n`);
}
database.pragma("optimize");
database.pragma("wal_checkpoint(truncate)");
database.close();
process.stdout.write(`${JSON.stringify({ rows: customers * rowsOfCustomer, operations: customers * kinds.length })}\n`);

function addAuditEntries(number: number): void {
  const id = `P${String(number).padStart(8, "0")}`;
  for (const [position, { kind, endpoint, subject }] of kinds.entries())
    audit.append({
      at,
      kind,
      subject: `${subject}:past/${id}`,
      body: { operation: `op-${position}-${id}`, endpoint, kind, customer: `past/${id}`, state: "done" },
    });
}

function addRuns(into: Sqlite): void {
  const series = (last: number): string =>
    `with recursive s (i) as (select 0 union all select i + 1 from s where i < ${last})`;
  into.exec(
    `insert into run (id, job, kind, trigger, scope, started_at, finished_at, state, exit_code, balance, summary,
       header)
     ${series(runs - 1)} select format('run-%06d', i), 'job-' || (i % 3), 'sync', 'schedule', null, '${at}', '${at}',
       'done', 0, 'null', 'null', '{}' from s`,
  );
  into.exec(
    `insert into source_read (run_id, source, stream, started_at, finished_at, complete, whole, rows)
     ${series(2 * runs - 1)} select format('run-%06d', i / 2), 'past', iif(i % 2, 'orders', 'customers'), '${at}',
       '${at}', 1, 1, 1000 from s`,
  );
}

/** In one piece: a list of statements, one for each table. */
function statementsFor(from: number, to: number): string[] {
  const series = `with recursive s (i) as (select ${from} union all select i + 1 from s where i < ${to})`;
  const id = (prefix: string): string => `format('${prefix}%08d', i)`;
  const run = `format('run-%06d', i % ${runs})`;
  const bulk = (into: string, all: string): string => `insert into ${into} ${series} select ${all} from s`;
  const lines = `json('[${"1,".repeat(150)}1]')`;
  const payload = `json_object('channelOrderId', ${id("K")}, 'customer', ${id("P")}, 'lines', ${lines})`;
  const ended = `'${at}', '${at}'`;
  return [
    ...streams.flatMap((stream) => [
      bulk(
        "record (stream, namespace, id, source, raw_hash, body_hash, version, customer_namespace, " +
          "customer_id, state, last_read, changed_run, outcome_run, outcome, first_seen, changed_at)",
        `'${stream}', 'past', ${id("P")}, 'past', ${id(stream)}, ${id("b")}, 1, ` +
          `'past', ${id("P")}, 'absent', 1, ${run}, ${run}, 'planned', ${ended}`,
      ),
      bulk(
        "record_version (stream, namespace, id, version, from_at, to_at, source, place, body)",
        `'${stream}', 'past', ${id("P")}, 1, ${ended}, 'past', 'file:1', ${payload}`,
      ),
      bulk(
        "private_value (ref, version, salt, body, created_at)",
        `'${stream}/past/' || ${id("P")}, 1, 'salt', '{"name":"Company"}', '${at}'`,
      ),
    ]),
    ...kinds.flatMap(({ kind, endpoint, stage, stream, subject }, position) => [
      bulk(
        "operation (id, run_id, customer_namespace, customer_id, kind, endpoint, stage, subject, hash, " +
          "state, target, payload, wire_hash, context, reason, before, after, created_at, updated_at)",
        `${id(`op-${position}-`)}, ${run}, 'past', ${id("P")}, '${kind}', '${endpoint}', ` +
          `'${stage}', '${subject}:past/' || ${id("P")}, ${id("h")}, 'done', '{}', ` +
          `${payload}, ${id("w")}, '{}', 'new', 'null', '{}', ${ended}`,
      ),
      bulk(
        "attempt (operation_id, number, nonce, wire_hash, started_at, finished_at, outcome, http_status)",
        `${id(`op-${position}-`)}, 1, ${id("n")}, ${id("w")}, ${ended}, 'done', 200`,
      ),
      bulk(
        "operation_record (stream, namespace, record_id, operation_id)",
        `'${stream}', 'past', ${id("P")}, ${id(`op-${position}-`)}`,
      ),
    ]),
    bulk(
      "link (namespace, customer_id, from_at, to_at, enterprise_global_id, channel_code, channel_customer_id, origin)",
      `'past', ${id("P")}, ${ended}, ${id("E")}, 'crm', ${id("past-")}, 'created'`,
    ),
    bulk(
      "placed_order (namespace, order_id, from_at, to_at, customer_namespace, " +
        "customer_id, channel_order_id, body_hash, version, origin)",
      `'past', ${id("P")}, ${ended}, 'past', ${id("P")}, ${id("K")}, ${id("b")}, 1, 'placed'`,
    ),
    bulk(
      "asset_number (number, origin, taken_at, fixed_at, wire_number, namespace, order_id, instance_id, unit)",
      `${id("90")}, 'pool', ${ended}, ${id("90")}, 'past', ${id("P")}, 'A1', 0`,
    ),
    bulk(
      "staff_link (namespace, staff_id, from_at, to_at, customer_namespace, " +
        "customer_id, enterprise_global_id, member_global_id, origin, profile)",
      `'past', ${id("P")}, ${ended}, 'past', ${id("P")}, ${id("E")}, ${id("M")}, 'created', '{}'`,
    ),
    bulk(
      "assignment (asset_number, from_at, to_at, namespace, staff_id, " +
        "customer_namespace, customer_id, member_global_id, origin)",
      `${id("90")}, ${ended}, 'past', ${id("P")}, 'past', ${id("P")}, ${id("M")}, 'granted'`,
    ),
  ];
}
