import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { AuditLog } from "../src/ledger/audit/audit-log.ts";
import { openDatabase } from "../src/ledger/database/database.ts";
import { writeCustomers } from "./customers.ts";
import type { Cost } from "./measure.ts";
import { measure, median } from "./measure.ts";
import { withReplay } from "./replay/replay.ts";
import { lanes } from "./road.ts";

/** Operations of each customer of the history: its enterprise, an order, a member of staff, an assignment. */
const kinds = [
  { kind: "create-enterprise", endpoint: "E2", stage: "enterprise", stream: "customers", subject: "customer" },
  { kind: "place-order", endpoint: "E5", stage: "orders", stream: "orders", subject: "order" },
  { kind: "add-staff", endpoint: "M1", stage: "staff", stream: "staff", subject: "staff" },
  { kind: "grant-assets", endpoint: "M9", stage: "grants", stream: "staff", subject: "staff-of" },
] as const;

const at = "2026-01-01T00:00:00.000Z";
const runs = 2_000;
/** Customers that the measured run reads, and that are as they were. */
const unchangedCustomers = 2_000;

/** What a run without a change and `status` cost on a ledger with this many finished operations, and on one without. */
export interface History {
  operations: number;
  unchanged: { without: Cost; with: Cost };
  status: { without: Cost; with: Cost };
}

const answerSchema = z.object({ records: z.int(), exitCode: z.literal(0).optional() });
const statusSchema = z.looseObject({ audit: z.unknown() });

/**
 * Puts finished operations into a ledger, with everything that they leave: attempts, audit entries, records, links,
 * orders, numbers, staff. In one piece: a list of statements, one for each table.
 */
export async function fillWithHistory(path: string, operations: number): Promise<void> {
  const database = await openDatabase(path, { migrate: true });
  const customers = Math.floor(operations / kinds.length);
  database.pragma("synchronous = off");
  database.pragma("cache_size = -500000");
  const series = `with recursive s (i) as (select 1 union all select i + 1 from s where i < ${customers})`;
  const id = (prefix: string): string => `format('${prefix}%08d', i)`;
  const run = `format('run-%06d', i % ${runs})`;
  const bulk = (into: string, values: string): string => `insert into ${into} ${series} select ${values} from s`;
  const lines = `json('[${"1,".repeat(150)}1]')`;
  const payload = `json_object('channelOrderId', ${id("K")}, 'customer', ${id("P")}, 'lines', ${lines})`;
  const statements = [
    ...["customers", "orders", "staff"].flatMap((stream) => [
      bulk(
        "record (stream, namespace, id, source, raw_hash, body_hash, version, customer_namespace, " +
          "customer_id, state, last_read, changed_run, outcome_run, outcome, first_seen, changed_at)",
        `'${stream}', 'past', ${id("P")}, 'past', ${id(stream)}, ${id("b")}, 1, ` +
          `'past', ${id("P")}, 'current', 1, ${run}, ${run}, 'planned', '${at}', '${at}'`,
      ),
      bulk(
        "record_version (stream, namespace, id, version, from_at, source, place, body)",
        `'${stream}', 'past', ${id("P")}, 1, '${at}', 'past', 'file:1', ${payload}`,
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
          `${payload}, ${id("w")}, '{}', 'new', 'null', '{}', '${at}', '${at}'`,
      ),
      bulk(
        "attempt (operation_id, number, nonce, wire_hash, started_at, finished_at, outcome, http_status)",
        `${id(`op-${position}-`)}, 1, ${id("n")}, ${id("w")}, '${at}', '${at}', 'done', 200`,
      ),
      bulk(
        "operation_record (stream, namespace, record_id, operation_id)",
        `'${stream}', 'past', ${id("P")}, ${id(`op-${position}-`)}`,
      ),
    ]),
    bulk(
      "link (namespace, customer_id, from_at, enterprise_global_id, channel_code, channel_customer_id, origin)",
      `'past', ${id("P")}, '${at}', ${id("E")}, 'crm', ${id("past-")}, 'created'`,
    ),
    bulk(
      "placed_order (namespace, order_id, from_at, customer_namespace, " +
        "customer_id, channel_order_id, body_hash, version, origin)",
      `'past', ${id("P")}, '${at}', 'past', ${id("P")}, ${id("K")}, ${id("b")}, 1, 'placed'`,
    ),
    bulk(
      "asset_number (number, origin, taken_at, fixed_at, wire_number, namespace, order_id, instance_id, unit)",
      `${id("8")}, 'pool', '${at}', '${at}', ${id("8")}, 'past', ${id("P")}, 'A1', 0`,
    ),
    bulk(
      "staff_link (namespace, staff_id, from_at, customer_namespace, " +
        "customer_id, enterprise_global_id, member_global_id, origin, profile)",
      `'past', ${id("P")}, '${at}', 'past', ${id("P")}, ${id("E")}, ${id("M")}, 'created', '{}'`,
    ),
    bulk(
      "assignment (asset_number, from_at, namespace, staff_id, " +
        "customer_namespace, customer_id, member_global_id, origin)",
      `${id("8")}, '${at}', 'past', ${id("P")}, 'past', ${id("P")}, ${id("M")}, 'granted'`,
    ),
    bulk("observation_read (customer_namespace, customer_id, seen_at, complete)", `'past', ${id("P")}, '${at}', 1`),
    bulk(
      "quarantine (id, source, stream, place, field, code, message, " +
        "raw_ref, raw_hash, first_seen, last_seen, last_read, state)",
      `${id("q")}, 'past', 'orders', 'file:1', 'id', 'x', 'x', 'x', ${id("r")}, '${at}', '${at}', 1, 'resolved'`,
    ).replace(`i < ${customers}`, `i < ${Math.ceil(customers / 25)}`),
    `insert into run (id, job, kind, trigger, scope, started_at, finished_at, state, exit_code, balance,
       summary, header)
       with recursive s (i) as (select 0 union all select i + 1 from s where i < ${runs - 1})
       select format('run-%06d', i), 'job-' || (i % 3), 'sync', 'schedule', null, '${at}', '${at}', 'done', 0,
         'null', 'null', '{}' from s`,
    `insert into source_read (run_id, source, stream, started_at, finished_at, complete, whole, rows)
       with recursive s (i) as (select 0 union all select i + 1 from s where i < ${2 * runs - 1})
       select format('run-%06d', i / 2), 'past', iif(i % 2, 'orders', 'customers'), '${at}', '${at}', 1, 1,
         1000 from s`,
  ];
  database.transaction(() => {
    for (const statement of statements) database.exec(statement);
    const audit = new AuditLog(database);
    for (let number = 1; number <= operations; number += 1)
      audit.append({
        at,
        kind: "place-order",
        subject: `order:past/P${number}`,
        body: { operation: `op-${number}`, state: "done" },
      });
  })();
  database.pragma("wal_checkpoint(truncate)");
  database.close();
}

/** Measures a run without a change and `status` on both ledgers in turns, several times. */
export async function measureHistory(
  operations: number,
  rounds: number,
  work: string,
  tell: (step: string) => void,
): Promise<History> {
  const csv = join(work, "history.csv");
  writeCustomers(csv, unchangedCustomers);
  const folders = { without: join(work, "history-without"), with: join(work, "history-with") };
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true });
  tell(`a ledger with ${operations} finished operations`);
  await fillWithHistory(join(folders.with, "ledger.db"), operations);
  const taken: Record<keyof typeof folders, { unchanged: Cost[]; status: Cost[] }> = {
    without: { unchanged: [], status: [] },
    with: { unchanged: [], status: [] },
  };
  const sync = async (directory: string): Promise<Cost> =>
    await withReplay({ latencyMs: 0 }, async (replay) => {
      const options = { "base-url": replay.baseUrl, csv, directory, lanes, job: "sync" };
      return await measure("subjects/program.ts", options, answerSchema);
    });
  const status = async (directory: string): Promise<Cost> =>
    await measure("subjects/status.ts", { directory }, statusSchema);
  for (const [, folder] of Object.entries(folders)) {
    await sync(folder);
  }
  for (let number = 1; number <= rounds; number += 1) {
    tell(`with a history and without, ${number} of ${rounds}`);
    for (const name of ["without", "with"] as const) {
      taken[name].unchanged.push(await sync(folders[name]));
      taken[name].status.push(await status(folders[name]));
    }
  }
  rmSync(folders.with, { recursive: true });
  const of = (what: "unchanged" | "status"): History["unchanged"] => ({
    without: middleOf(taken.without[what]),
    with: middleOf(taken.with[what]),
  });
  return { operations, unchanged: of("unchanged"), status: of("status") };
}

function middleOf(costs: readonly Cost[]): Cost {
  return {
    wallSeconds: median(costs.map((cost) => cost.wallSeconds)),
    cpuSeconds: median(costs.map((cost) => cost.cpuSeconds)),
    peakMegabytes: median(costs.map((cost) => cost.peakMegabytes)),
  };
}
