import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type Database from "better-sqlite3";
import { expect, it } from "vitest";
import { openLedger, sqlite } from "../support/world/start.ts";
import { everyStatement, flat } from "./every-statement.ts";

/** Tables that stay as small as the configuration is, however long the program is used. */
const small = [
  "meta",
  "last_fire_time",
  "source_stream",
  "alert",
  "alert_told",
  "delivery",
  "head_place",
  "open_circuit",
  "tally",
  "record_tally",
  "assumption_met",
  "read_checkpoint",
];

/** Indexes over what waits for something: what is finished is not in them. */
const work = [
  "asset_number_free",
  "by_hand_live",
  "difference_live",
  "manual_request_due",
  "operation_held",
  "operation_open",
  "operation_waiting",
  "quarantine_by_customer",
  "quarantine_by_record",
  "quarantine_of_nobody",
  "quarantine_open",
  "question_rejected",
  "question_standing",
  "record_deferred",
  "record_missing",
  "record_pending",
  "record_quarantined",
  "record_quarantined_by_customer",
  "rejection_passing",
  "rejection_standing",
  "run_running",
];

/** What may look through a table that grows, and why. */
const allowed: Record<string, { statement: RegExp; why: string }> = {
  "opening: every table": {
    statement: /^select 1 from meta union all select 1 from private_value union all/u,
    why: "it is prepared to find a table that is missing, and never run",
  },
  "what a restored ledger knew is set aside": {
    statement:
      /^(?:select max\(at\) from \(select max\(to_at\)|update \w+ set \w+ = @at|update hold set state = case state when|update observation_read set shown_hash = null$|update record set pending = 1 where pending = 0 and|update operation set state = 'dropped', updated_at = @at|select at from audit order by sequence desc limit 1$)/u,
    why: "all of it, once for each restore",
  },
  "a changed policy looks at whom an order left": {
    statement: /^update record set pending = 1 where stream = 'customers' and pending = 0 and state <> 'quarantined'/u,
    why: "moves that are not over alone, by their partial index, and only where a setting changed",
  },
  "orders of which nothing stands any more": {
    statement: /^select count\(\*\) as "count" from "placed_order" as "p" where .* "p"\."products" = 0/u,
    why: "those alone, by their partial index; a person asks for the status",
  },
  "head of the chain": {
    statement: /^select "?sequence"?, "?hash"?(?:, "at")? from "?audit"? order by "?sequence"? desc limit/u,
    why: "the newest row alone, by the key of the table",
  },
  "the newest runs": {
    statement: /^select .* from "?run"? order by "?started_at"? desc, "?id"? desc limit \?$/u,
    why: "as many as are asked for, in the order of an index",
  },
  "undo last": {
    statement: /^select r\.id from run r where exists \(select 1 from operation o indexed by operation_by_run/u,
    why: "a person asks for it, and it ends at the newest run that carried something out",
  },
  "audit verify, of the tree": {
    statement: /^select number, root from audit_tile order by number$/u,
    why: "a person asks for the whole tree; a row stands for 256 entries",
  },
  "how far readings back have come": {
    statement: /^select coalesce\(\(select count from tally where name = 'link'\), 0\) as linked, \(select count/u,
    why: "every customer that is linked now, once in a verify with a budget, which asks for that",
  },
  "the last readings of a stream": {
    statement:
      /^select (?:number, source, .*|shape) from source_read where source = \+\? and stream = \+\? .*order by number desc limit/u,
    why: "from the newest on, and it ends at the first that fits",
  },
  "the page of a source: its newest readings": {
    statement: /^select \* from "source_read" where "source" = \? and "stream" = \? order by "number" desc limit \?$/u,
    why: "as many as a page shows, in the order of an index",
  },
  "the mappings of a stream": {
    statement:
      /^select mapping from \(select mapping, number from source_read where .* order by number desc limit 1000\)/u,
    why: "of the newest thousand readings, where something is mapped anew from what is kept",
  },
  "what a reading that was cut has met": {
    statement: /read_checkpoint_seen/u,
    why: "of one reading, and gone when that ends",
  },
  "the last reading of each stream": {
    statement: /^select .* from "?source_read"? where number in \(with recursive each_source/u,
    why: "a step for each stream that was ever read",
  },
  "what readings have brought of which none was whole": {
    statement:
      /^select count\(\*\) as count from record indexed by record_by_hash where source = \+\? and stream = \+\?/u,
    why: "only until a stream was read whole once",
  },
  "resync --source": {
    statement: /^update record set pending = 1 where source = \+\? and changed_at >= \?/u,
    why: "a person asks for everything of a source",
  },
  "explain: everything that a record was quarantined for": {
    statement: /^select \* from "quarantine" where "stream" = \? and "namespace" = \? and "record_id" = \?/u,
    why: "a person asks for one record",
  },
  "erase: forms in which records came while they were a customer's": {
    statement: /^select p\.ref, p\.version from record_version v join private_value p on p\.ref = 'raw:'/u,
    why: "a person erases somebody, and nothing of them may be left",
  },
  "reasons: what rows in quarantine say": {
    statement: /^select p\.body, q\.record_id as id, q\.customer_id as customer from quarantine q join .* limit \?$/u,
    why: "a person decides about nobody in particular, and the reason may repeat nobody's data",
  },
  "books: what was signed off": {
    statement: /from "?sign_off"?/u,
    why: "a person asks for one period",
  },
  "closing: what every source was last read for": {
    statement: /from "source_stream" as "s"/u,
    why: "a row for each configured stream; a person closes a period",
  },
  "erase: what of others repeats personal data": {
    statement: /^select p\.ref, p\.version, p\.body, iif\(p\.ref > 'raw:customers\/'/u,
    why: "a person erases somebody or asks for what is kept of them, and nothing of them may be left",
  },
  "erase: places in quarantine": {
    statement: /^update quarantine(?:_stood)? set place = @mark where /u,
    why: "the same",
  },
  "erase: what was in quarantine": {
    statement: /^select raw_ref from quarantine where /u,
    why: "as above",
  },
  "erase: rows that no record could be read from": {
    statement: /^select p\.ref, p\.body, iif\(q\.state = 'resolved', null, .* as place from quarantine q/u,
    why: "as above",
  },
  "erase: operations": {
    statement: /^select id(?:, endpoint, subject, state)? from operation where .*customer_namespace = \+@namespace/u,
    why: "as above",
  },
  "a report's instant": {
    statement: /^select "at" from "audit" order by "sequence" desc limit \?$/u,
    why: "the newest entry alone",
  },
  "limits: how many locks stand": {
    statement: /^select count\(\*\) as count from placed_order p cross join record_version v /u,
    why: "only where a run takes locks away, and each order once",
  },
  "statement of orders: events": {
    statement: /^select e\.at, e\.namespace, e\.id, e\.number from \(select p\.from_at as at, /u,
    why: "a person asks for everything of a time",
  },
  "statement of orders: orders with events": {
    statement: /^select e\.namespace, e\.id, e\.customerNamespace, .* from \(select p\.from_at as at, /u,
    why: "a person asks for everything of a time",
  },
  "statement of orders: licences": {
    statement: /^select a\.from_at as at, .* from assignment a left join record r /u,
    why: "a person asks for everything of a time",
  },
  "statement of runs: sources": {
    statement: /^with sources as materialized \(select run_id, .* from source_read /u,
    why: "a person asks for everything of a time, and each reading once",
  },
  "closed periods": {
    statement: /^select .* from "?closed_period"? (?:where "?reopened_at"? is (?:not )?null|order by)/u,
    why: "a row for each month that is closed",
  },
  "statement of reconciliation: customers": {
    statement: /^select "c"\."namespace", "c"\."id" from \(select "customer_namespace" as "namespace"/u,
    why: "a person asks for everything",
  },
  "report reconciliation: licence types": {
    statement: /^select distinct json_extract\(body, '\$\.licenseType'\) as "type" from "observation"/u,
    why: "a person asks for everything",
  },
  "the page of an order: licence types": {
    statement: /^select t\.value as type from json_each\(\?\) t where exists/u,
    why: "a person asks for one order, and it ends at the first that is shown",
  },
  "report reconciliation: customers": {
    statement: /^select "customer_namespace" as "namespace", "customer_id" as "id" from "record" union/u,
    why: "a person asks for everything",
  },
  "report exceptions: operations": {
    statement:
      /^select \* from "operation" where ("updated_at" >= \? and "updated_at" < \?|"state" in \(\?, \?, \?\) and "created_at" < \?)/u,
    why: "a person asks for everything of a time",
  },
  "retention: whether closed periods stand on it": {
    statement: /^delete from .* from closed_period c where /u,
    why: "a row for each closing, of which there are a few a year",
  },
  "statement: everything that was in quarantine": {
    statement: /^select q\.id, q\.source, .* from quarantine q join quarantine_stood s /u,
    why: "a person asks for a period",
  },
  "statement: everything that waited": {
    statement: /^with moment\(at\) .* from \( select s\.stream, .* from record_stood s join record r /u,
    why: "as above",
  },
  "statement: what was refused, and what was in doubt": {
    statement: /^select \* from \( select o\.\*, .* from operation o where o\.(?:state = 'rejected'|created_at < \?)/u,
    why: "as above",
  },
  "statement: what was done by hand": {
    statement: /^select \* from \( select b\.stream, .* from by_hand b join record r /u,
    why: "as above",
  },
  "report exceptions: readings": {
    statement: /^select \*(?:, \(.*\) as "skipped")? from "source_read" where "started_at" >= \?/u,
    why: "a person asks for everything of a time",
  },
  "report exceptions: holds": {
    statement: /^select \*, 0 as "operations" from "question" where "created_at" < \?/u,
    why: "a person asks for everything of a time",
  },
  "records of a source that is configured no longer": {
    statement: /^(?:with recursive each_source\(source\) as|update record indexed by record_by_hash set source = \?)/u,
    why: "there are none but until a person decides about them",
  },
  "whether there is any rejection": {
    statement: /^select 1 from rejection limit 1$/u,
    why: "it ends at the first one",
  },
  "whether a stream has a record": {
    statement: /^select id from record where stream = \? and last_read < \? limit 1$/u,
    why: "it ends at the first one, but for a first reading that is continued",
  },
  "every hold": {
    statement: /^select \*, \(select count\(\*\) .* from "question" order by/u,
    why: "a person asks for all of them",
  },
};

/** Statements that go through everything that a run changed or has to do. */
const ofWholeRuns = [
  /^select \(select count\(\*\) from \(select distinct customer_namespace, customer_id from record/u,
  /^select sum\(state = 'planned'\) .* from operation where run_id = \+\?$/u,
  /^select sum\(state = 'planned'\) .* from \( select state from operation/u,
  /^select sum\(stream = 'customers'\) /u,
  /^select \(select count\(\*\) from operation o, attempt a where o\.run_id = r\.id/u,
];

const source = join(import.meta.dirname, "../../src");

/**
 * Texts of SQL in the source that are handed to `prepare`, as patterns: what is put in at run time may be anything. Not
 * those of files of their own, which stay small: staging, and sessions of the pages; nor what a person has done once to
 * a ledger with entries of a wrong clock.
 */
function preparedInSource(): { place: string; pattern: RegExp }[] {
  return ["ledger", "resources"]
    .flatMap((room) =>
      readdirSync(join(source, room), { recursive: true, encoding: "utf8" }).map((name) => `${room}/${name}`),
    )
    .filter(
      (name) =>
        name.endsWith(".ts") && !/(?:staging|staged-records|seen-forms|correct-stamps)\.ts$|\/sessions\//u.test(name),
    )
    .flatMap((name) => {
      const text = readFileSync(join(source, name), "utf8");
      return [
        ...text.matchAll(/(?:\.|\?\.)prepare(?:<[^()]*?>)?\(\s*(?:\/\/[^\n]*\n\s*)?([`"])((?:(?!\1)[^\\])*)\1/gsu),
      ].map(([, , sql = ""]) => ({ place: `${name}: ${sql.slice(0, 60)}`, pattern: patternOf(sql) }));
    });
}

function patternOf(sql: string): RegExp {
  const parts = flat(sql)
    .split(/\$\{[^}]*\}/u)
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`));
  return new RegExp(`^${parts.join(".*")}$`, "su");
}

/** The steps in which SQLite carries a statement out. */
function planOf(database: Database.Database, sql: string): string[] {
  const names = [...sql.matchAll(/[@:$](\w+)/gu)].map(([, name = ""]): [string, null] => [name, null]);
  const marks = [...sql.matchAll(/\?/gu)].map(() => null);
  const parameters = names.length > 0 ? [...marks, Object.fromEntries(names)] : marks;
  const steps = database.prepare<unknown[], { detail: string }>(`explain query plan ${sql}`).all(...parameters);
  return steps.map(({ detail }) => detail);
}

/** What SQLite looks through from end to end for a statement, but for what waits and what stays small. */
function scansOf(database: Database.Database, sql: string): string[] {
  return planOf(database, sql).flatMap((detail) => {
    const [, name = "", index = ""] =
      /^SCAN (\S+)(?: USING (?:COVERING )?INDEX (\S+))?/u.exec(detail) ?? coarse.exec(detail) ?? [];
    const table = tableOf(database, sql, name);
    return table === undefined || small.includes(table) || work.includes(index) ? [] : [`${detail} (${table})`];
  });
}

/** A search by columns that hold few values goes through all but everything. */
const coarse =
  /^SEARCH (\S+) USING (?:COVERING )?(?:INDEX|PRIMARY) (\S+) \((?:(?:stream|source|state|kind|namespace)=\?(?: AND )?)+\)$/u;

function tableOf(database: Database.Database, sql: string, name: string): string | undefined {
  const tables = database.prepare<[], string>("select name from sqlite_schema where type = 'table'").pluck().all();
  if (name === "" || tables.includes(name)) return name === "" ? undefined : name;
  for (const [, table = "", alias] of sql.matchAll(/(?=\b(\w+)"?\s+(?:as\s+)?"?(\w+))\b\w/giu))
    if (alias === name && tables.includes(table)) return table;
  return undefined;
}

it(
  "no statement looks through what is finished, but for those that are named with a reason",
  { tags: "long" },
  async () => {
    const texts = await everyStatement();
    const missing = preparedInSource().filter(({ pattern }) => !texts.some((text) => pattern.test(text)));
    const database = sqlite((await openLedger()).path);
    const scans = texts
      .filter((text) => /^(?:select|update|insert|delete|with)\b/iu.test(text))
      // Temporary tables of a statement have no index but their own, and are gone with it.
      .filter((text) => !/\btemp\./u.test(text))
      .filter((text) => !Object.values(allowed).some(({ statement }) => statement.test(text)))
      .flatMap((text) => scansOf(database, text).map((scan) => `${scan}: ${text}`));
    const unused = Object.keys(allowed).filter((name) => !texts.some((text) => allowed[name]?.statement.test(text)));
    expect.soft(missing.map(({ place }) => place)).toEqual([]);
    expect(scans).toEqual([]);
    // Intents of orders and enterprises ask it, inside the writer's transaction: not even what is open is looked
    // through.
    for (const claim of ["and o.claim = +@number", "and claim = +@number"]) {
      const asked = texts.find((text) => text.includes(claim)) ?? "";
      expect(planOf(database, asked).join("\n")).toContain("USING INDEX operation_open_claim");
    }
    // What is asked of everything that a run did is counted as it is met: nothing is kept in memory for it first.
    for (const asked of ofWholeRuns) {
      const found = texts.filter((text) => asked.test(text));
      expect(found, String(asked)).toHaveLength(1);
      expect(planOf(database, found[0] ?? "").join("\n")).not.toMatch(/TEMP B-TREE|MULTI-INDEX OR|MATERIALIZE/u);
    }
    expect(unused, "allowed, and nobody asks it").toEqual([]);
  },
);
