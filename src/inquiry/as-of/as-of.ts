import { z } from "zod";
import { sha256 } from "../../base/canonical-json.ts";
import { usage } from "../../base/errors.ts";
import { ledgerBegan } from "../../ledger/database/read-together.ts";
import type { Sqlite } from "../../ledger/database/database.ts";
import { stored } from "../../ledger/database/damage.ts";
import { treeEndingWith } from "../../ledger/audit/kept-tree.ts";
import { daysOf, type HistoryKind } from "../../ledger/runs/retention.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import { operationsAsOf, tablesAsOf, type Stood } from "./tables.ts";

const standing = new WeakMap<ReadOnlyLedger, string>();

/**
 * From now on the connection answers as of a past moment (ISO instant in UTC): temporary tables hide those of the
 * ledger. SQLite keeps them in files, so memory does not grow with the ledger. Throws a usage Problem for a moment
 * before the ledger began, or with thinned history.
 */
export function standAsOf(ledger: ReadOnlyLedger, at: string): void {
  const stood = standing.get(ledger);
  if (stood === at) return;
  if (stood !== undefined) throw new Error(`the connection reads as of ${stood} already, and not as of ${at}`);
  ledger.reading((database) => {
    requireKnown(database, at);
    database.exec("savepoint as_of");
    try {
      shadow(database, at);
    } catch (error) {
      database.exec("rollback to as_of");
      throw error;
    } finally {
      database.exec("release as_of");
    }
  });
  standing.set(ledger, at);
}

export function requireStanding(ledger: ReadOnlyLedger, asOf: string | undefined): void {
  const stood = standing.get(ledger);
  if (stood !== asOf) throw new Error(`the connection reads as of ${stood ?? "now"}, and not as of ${asOf ?? "now"}`);
}

/** History that nothing else contains. */
const needed = ["observations", "differences", "requests", "readings"] as const satisfies readonly HistoryKind[];

const thinning = z.object({
  until: z.record(z.string(), z.string()),
  thinned: z.record(z.string(), z.number()),
});

function requireKnown(database: Sqlite, at: string): void {
  const began = ledgerBegan(database);
  if (began === undefined) throw usage("the ledger has learned nothing yet", "leave --as-of out");
  if (at < began)
    throw usage(`the ledger began at ${began}, after ${at}`, `ask for a moment from ${began} on, or leave --as-of out`);
  const earliest = keptSince(database, at);
  if (earliest === undefined || at >= earliest) return;
  throw usage(
    `the state at ${at} is no longer known: history that ended before ${earliest} was thinned`,
    `ask for a moment from ${earliest} on; \`retention.observationDays\` says how long it is kept`,
  );
}

/** Since when all needed history is kept; undefined: nothing was thinned. That of closed periods never is. */
function keptSince(database: Sqlite, at: string): string | undefined {
  const closed = database
    .prepare<[string], string | null>("select min(closed_at) from closed_period where as_of = ?")
    .pluck()
    .get(at);
  const entries = database.prepare<[], { at: string; body: string }>(
    "select at, body from audit where subject = 'ledger' and kind = 'retention'",
  );
  const until = [...entries.iterate()].flatMap(({ at: thinnedAt, body }) => {
    const said = thinning.safeParse(stored(body));
    if (!said.success) return [];
    const { thinned, until: limits } = said.data;
    if (typeof closed === "string" && closed < thinnedAt) return [];
    return needed.flatMap((kind) => (thinned[kind] === undefined ? [] : (limits[daysOf[kind]] ?? [])));
  });
  return until.toSorted().at(-1);
}

function shadow(database: Sqlite, at: string): void {
  const last = database.prepare<[string], number>(
    "select sequence from audit where at <= ? order by sequence desc limit 1",
  );
  const head = last.pluck().get(at) ?? 0;
  const tree = head === 0 ? undefined : treeEndingWith(database, head);
  database.function("crm_sync_sha256", { deterministic: true }, (text) => sha256(String(text)));
  const then = (text: string): string => text.replaceAll(":at", `'${at}'`).replaceAll(":head", String(head));
  database.exec(then(operationsAsOf));
  database.exec("create unique index temp.as_of_operation_by_id on as_of_operation (id)");
  const inOrder = Object.entries(tablesAsOf).toSorted(([left], [right]) => (left < right ? -1 : 1));
  const schema = database.prepare<[string], { type: string; sql: string }>(
    `select type, sql from main.sqlite_schema where tbl_name = ? and type in ('table', 'index') and sql is not null
       order by type desc`,
  );
  for (const [name, known] of inOrder) {
    if (known === "now") continue;
    const selected = then(selectedOf(database, name, known));
    if (known.as === "view") {
      database.exec(`create temp view "${name}" as ${selected}`);
      continue;
    }
    const [table, ...indexes] = schema.all(name);
    if (table === undefined) throw new Error(`there is no table ${name}`);
    database.exec(table.sql.replace(/^create table/iu, "create temp table"));
    database.exec(`insert into temp."${name}" ${selected}`);
    // Unique now need not have been unique then.
    for (const { sql } of indexes) database.exec(sql.replace(/^create (?:unique )?index /iu, "create index temp."));
  }
  if (tree !== undefined)
    database.prepare("insert into temp.audit_tree (only_one, size, roots) values (@only_one, @size, @roots)").run(tree);
  database.exec("drop table temp.as_of_operation");
}

function selectedOf(database: Sqlite, name: string, { rows, columns = {}, from }: Stood): string {
  const names = database.prepare<[string], string>("select name from pragma_table_info(?, 'main')").pluck().all(name);
  const selected = names.map((column) => `${columns[column] ?? `t."${column}"`} as "${column}"`);
  return `select ${selected.join(", ")} from ${from ?? `main."${name}" t`} where ${rows}`;
}
