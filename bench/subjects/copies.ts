import { parseArgs } from "node:util";
import type { JsonObject } from "../../src/base/canonical-json.ts";
import { systemRandomness } from "../../src/base/ids.ts";
import { AuditLog, type AuditRow } from "../../src/ledger/audit/audit-log.ts";
import { openDatabase, type Sqlite } from "../../src/ledger/database/database.ts";
import { copyMark } from "../books/export.ts";
import { text } from "./arguments.ts";

/**
 * Makes a ledger at `--path` of `--copies` copies of the one at `--template`, each with ids of its own, spread over
 * `--days` days from `--from` on. The rows by the statements of SQLite, the audit record by the program's own code.
 */

const copiesAtOnce = 100;

const { values } = parseArgs({
  options: {
    path: { type: "string" },
    template: { type: "string" },
    copies: { type: "string" },
    from: { type: "string" },
    days: { type: "string" },
  },
});
const copies = Number(text(values.copies, "copies"));
const days = Number(text(values.days, "days"));
const firstDay = Date.parse(`${text(values.from, "from")}T00:00:00Z`);

/** What stands for the day of an instant; as long as a date, so that texts keep their length. */
const dayMark = "@@@@-@@-@@";
const digits = copyMark.length;

/** What the services and the program give as ids: the copy's number stands in the place of what is random or empty. */
const given = [
  // Of the sandbox: two digits for the kind, seventeen for the number.
  { pattern: /\b(6[1-9])00000000000(\d{6})\b/gu, marked: `$100000${copyMark}$2` },
  // Asset numbers of the sandbox.
  { pattern: /\b80000(\d{5})\b/gu, marked: `8${copyMark}$1` },
  // Of the program, but for runs, which all copies share.
  { pattern: /\b(?!run_)([a-z]+_0[0-9a-z]{12})[0-9a-f]{6}\b/gu, marked: `$1${copyMark}` },
  { pattern: /\b([hq]-)([0-9a-f]{2})[0-9a-f]{6}\b/gu, marked: `$1$2${copyMark}` },
];

/** Tables whose rows are made by triggers or by the audit log, or which the new ledger has of its own. */
const own = /^(?:sqlite_|kysely_|audit|meta$|tally$|record_tally$)/u;

const database = openDatabase(text(values.path, "path"));
database.pragma("synchronous = off");
database.pragma("cache_size = -200000");
database.prepare("attach ? as template").run(text(values.template, "template"));
const runDay = database.prepare<[], string>("select substr(max(started_at), 1, 10) from template.run").pluck().get();
if (runDay === undefined) throw new Error("the template has no run");

database.exec("create temp table copy (number text primary key, day text) without rowid");
const tables = database
  .prepare<[], string>("select name from template.sqlite_schema where type = 'table' order by name")
  .pluck()
  .all()
  .filter((name) => !own.test(name))
  .map((name) => tableOf(database, name));
const entries = database
  .prepare<[], AuditRow>("select * from template.audit order by sequence")
  .all()
  .map(({ at, kind, subject, body }) => ({ at: marked(at), kind, subject: marked(subject), body: marked(body) }));
const audit = new AuditLog(database, systemRandomness);

for (let from = 0; from < copies; from += copiesAtOnce) {
  database.transaction(() => addCopies(from, Math.min(from + copiesAtOnce, copies)))();
  if (from > 0 && from % (copiesAtOnce * 10) === 0) process.stderr.write(`copies: ${from} of ${copies}\n`);
}
database.transaction(addShared)();
database.exec("detach template");
// No ANALYZE and no optimize: the program's own ledgers have no statistics.
database.pragma("wal_checkpoint(truncate)");
const made = database.prepare<[], number>("select count(*) from audit").pluck().get();
database.close();
process.stdout.write(`${JSON.stringify({ entries: made })}\n`);

function marked(value: string): string {
  const day = value.replaceAll(/\b2026-\d\d-\d\d(?=T)/gu, (found) => (found === runDay ? dayMark : found));
  return given.reduce((known, { pattern, marked: to }) => known.replaceAll(pattern, to), day);
}

function dayOf(copy: number): string {
  return new Date(firstDay + Math.floor((copy * days) / copies) * 86_400_000).toISOString().slice(0, 10);
}

/** A table of the template, with the statements that put its copies and what all copies share into the ledger. */
function tableOf(into: Sqlite, name: string): { copied: string; shared: string } {
  const columns = into
    .prepare<[], { name: string; type: string; pk: number }>(
      `select name, lower(type) as type, pk from pragma_table_info('${name}')`,
    )
    .all();
  const rows = into.prepare<[], Record<string, string | number | null>>(`select * from template."${name}"`).all();
  const kept = `temp."marked_${name}"`;
  into.exec(`create table ${kept} (${columns.map((column) => `"${column.name}"`).join(", ")}, is_copied)`);
  const insert = into.prepare(`insert into ${kept} values (${columns.map(() => "?").join(", ")}, ?)`);
  for (const row of rows) {
    const cells = columns.map((column) => {
      const cell = row[column.name] ?? null;
      return typeof cell === "string" ? marked(cell) : cell;
    });
    const isCopied = cells.some((cell) => typeof cell === "string" && cell.includes(copyMark));
    insert.run(...cells, isCopied ? 1 : 0);
  }
  const serial = columns.find(({ type, pk }) => type === "integer" && pk === 1);
  const isSerial = serial !== undefined && columns.filter(({ pk }) => pk > 0).length === 1;
  const names = columns.map((column) => `"${column.name}"`).join(", ");
  const cell = ({ name: column, type }: { name: string; type: string }): string =>
    type === "text" ? `replace(replace(m."${column}", '${copyMark}', c.number), '${dayMark}', c.day)` : `m."${column}"`;
  const copiedCells = columns.map((column) =>
    isSerial && column === serial ? `m."${column.name}" + ${rows.length + 1} * c.number` : cell(column),
  );
  return {
    copied: `insert into main."${name}" (${names}) select ${copiedCells.join(", ")}
      from temp.copy c cross join ${kept} m where m.is_copied = 1`,
    shared: `insert into main."${name}" (${names}) select ${columns.map(cell).join(", ")}
      from temp.copy c cross join ${kept} m where m.is_copied = 0 and c.number = (select max(number) from temp.copy)`,
  };
}

function addCopies(from: number, to: number): void {
  database.exec("delete from temp.copy");
  const add = database.prepare("insert into temp.copy values (?, ?)");
  for (let copy = from; copy < to; copy += 1) add.run(String(copy).padStart(digits, "0"), dayOf(copy));
  for (const { copied } of tables) database.exec(copied);
  for (let copy = from; copy < to; copy += 1) {
    const number = String(copy).padStart(digits, "0");
    const day = dayOf(copy);
    const of = (value: string): string => value.replaceAll(copyMark, number).replaceAll(dayMark, day);
    for (const { at, kind, subject, body } of entries) {
      if (!subject.includes(copyMark) && !body.includes(copyMark)) continue;
      const said: JsonObject = JSON.parse(of(body));
      audit.append({ at: of(at), kind, subject: of(subject), body: said });
    }
  }
  audit.grow();
}

/** What all copies share stands on the last day. */
function addShared(): void {
  for (const { shared } of tables) database.exec(shared);
}
