import { type JsonObject, parseJson } from "../../base/canonical-json.ts";
import { theCrm } from "../../engine/model/requests.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";

/** Days to keep history; null keeps it for ever. */
export interface RetentionSettings {
  rawRecordDays: number | null;
  observationDays: number | null;
  runDays: number | null;
}

export const historyKinds = [
  "rawForms",
  "quarantineForms",
  "observations",
  "differences",
  "requests",
  "readings",
  "reads",
  "runs",
] as const;
export type HistoryKind = (typeof historyKinds)[number];

export const daysOf: Readonly<Record<HistoryKind, keyof RetentionSettings>> = {
  rawForms: "rawRecordDays",
  quarantineForms: "rawRecordDays",
  observations: "observationDays",
  differences: "observationDays",
  requests: "observationDays",
  readings: "observationDays",
  reads: "runDays",
  runs: "runDays",
};

/** The key of the last row that a sweep looked at. */
export type Place = readonly (string | number)[];

interface Sweep {
  start: Place;
  page(after: Place, until: string, size: number): Place[];
  /**
   * Returns the number of removed rows; 0 if the row is still needed. No sweep comes back to it, so a later row of the
   * same stream, job or request removes it.
   */
  drop(place: Place): number;
}

export interface Batch {
  thinned: number;
  next: Place | undefined;
}

/** Reads kept for each stream: absences were judged by them. */
const readsKept = 10;

/** Whether a closed or reopened period used the state between two instants. */
const closedWhile = (from: string, to: string): string =>
  `exists (select 1 from closed_period c where c.as_of >= ${from} and c.as_of < ${to})`;

/**
 * Never removes rows that a promise or a report needs: audit log, journal, state of the platform, record versions, raw
 * forms of newest versions and of open quarantine, newest observations, newest and last complete reads, last runs of
 * jobs, times of waiting and rejection, the basis of closed periods. Runs inside the writer's transaction.
 */
export class RetentionTables {
  readonly #sweeps: Readonly<Record<HistoryKind, Sweep>>;
  readonly #place;
  readonly #keepPlace;

  constructor(database: Sqlite) {
    this.#place = database.prepare<[string], string>("select value from meta where key = +?").pluck();
    this.#keepPlace = database.prepare(
      "insert into meta (key, value) values (?, ?) on conflict (key) do update set value = excluded.value",
    );
    this.#sweeps = statements.onUse({
      rawForms: () => rawForms(database),
      quarantineForms: () => quarantineForms(database),
      observations: () => observations(database),
      differences: () => differences(database),
      requests: () => requests(database),
      readings: () => readings(database),
      reads: () => reads(database),
      runs: () => runs(database),
    });
  }

  /** Starts after the last row of an earlier sweep. */
  begin(kind: HistoryKind): Place {
    const { start } = this.#sweeps[kind];
    const text = this.#place.get(`retention ${kind}`);
    return text === undefined ? start : placeIn(text, start);
  }

  /** Looks at the next rows that ended at `until` or earlier. `next` is undefined at the end. */
  batch(kind: HistoryKind, after: Place, until: string, size: number): Batch {
    const sweep = this.#sweeps[kind];
    const places = sweep.page(after, until, size);
    let thinned = 0;
    for (const place of places) thinned += sweep.drop(place);
    const last = places.at(-1);
    if (last !== undefined) this.#keepPlace.run(`retention ${kind}`, JSON.stringify(last));
    return { thinned, next: places.length < size ? undefined : last };
  }
}

function placeIn(text: string, start: Place): Place {
  const read = parseJson(text);
  if (!Array.isArray(read) || read.length !== start.length) return start;
  return read.map((value) => (typeof value === "number" || typeof value === "string" ? value : ""));
}

function rawForms(database: Sqlite): Sweep {
  const page = database
    .prepare<unknown[], [string, string, string, string, number]>(
      `select to_at, stream, namespace, id, version from record_version
       where to_at is not null and (to_at, stream, namespace, id, version) > (?, ?, ?, ?, ?) and to_at <= ?
       order by to_at, stream, namespace, id, version limit ?`,
    )
    .raw();
  const drop = database.prepare("delete from private_value where ref = +? and version = +?");
  return {
    start: ["", "", "", "", 0],
    page: (after, until, size) => page.all(...after, until, size),
    drop: ([, stream, namespace, id, version]) => drop.run(`raw:${stream}/${namespace}/${id}`, version).changes,
  };
}

/** Raw forms of resolved quarantine. The reason for the quarantine stays. */
function quarantineForms(database: Sqlite): Sweep {
  const page = database
    .prepare<unknown[], [string, string]>(
      `select resolved_at, id from quarantine
       where state = 'resolved' and (resolved_at, id) > (?, ?) and resolved_at <= ? order by resolved_at, id limit ?`,
    )
    .raw();
  const drop = database.prepare(
    "delete from private_value where ref = (select raw_ref from quarantine where id = +? and state = 'resolved')",
  );
  return {
    start: ["", ""],
    page: (after, until, size) => page.all(...after, until, size),
    drop: ([, id]) => drop.run(id).changes,
  };
}

/** Observations that ended. Their licence types are kept for reports. */
function observations(database: Sqlite): Sweep {
  const key = "to_at, customer_namespace, customer_id, kind, subject, from_at";
  const page = database
    .prepare<unknown[], [string, string, string, string, string, string]>(
      `select ${key} from observation
       where to_at is not null and (${key}) > (?, ?, ?, ?, ?, ?) and to_at <= ? order by ${key} limit ?`,
    )
    .raw();
  const row =
    "customer_namespace = +? and customer_id = +? and kind = +? and subject = +? " +
    "and from_at = +? and to_at is not null";
  const keepType = database.prepare(
    `insert into shown_licence_type (license_type, shown_by, shown_at)
       select json_extract(body, '$.licenseType'), 'product', to_at from observation
     where ${row} and kind = 'product' and json_extract(body, '$.licenseType') is not null on conflict do nothing`,
  );
  const drop = database.prepare(
    `delete from observation where ${row} and not ${closedWhile("observation.from_at", "observation.to_at")}`,
  );
  return {
    start: ["", "", "", "", "", ""],
    page: (after, until, size) => page.all(...after, until, size),
    drop: ([, ...place]) => {
      keepType.run(...place);
      return drop.run(...place).changes;
    },
  };
}

function differences(database: Sqlite): Sweep {
  const key = "ended_at, namespace, customer_id, level, subject, class, first_seen";
  const page = database
    .prepare<unknown[], [string, string, string, string, string, string, string]>(
      `select ${key} from difference
       where ended_at is not null and (${key}) > (?, ?, ?, ?, ?, ?, ?) and ended_at <= ? order by ${key} limit ?`,
    )
    .raw();
  const drop = database.prepare(
    `delete from difference where namespace = +? and customer_id = +? and level = +? and subject = +? and class = +?
       and first_seen = +? and ended_at is not null
       and not ${closedWhile("difference.first_seen", "difference.ended_at")}`,
  );
  return {
    start: ["", "", "", "", "", "", ""],
    page: (after, until, size) => page.all(...after, until, size),
    drop: ([, ...place]) => drop.run(...place).changes,
  };
}

/** Requests that were withdrawn or replaced. Their calls stay in the journal, and the requester in the audit log. */
function requests(database: Sqlite): Sweep {
  const key = "to_at, of, about, from_at";
  const page = database
    .prepare<unknown[], [string, string, string, string]>(
      `select ${key} from manual_request
       where to_at is not null and (${key}) > (?, ?, ?, ?) and to_at <= ? order by ${key} limit ?`,
    )
    .raw();
  const drop = database.prepare(
    // The CRM's last request is needed to notice a new one.
    `delete from manual_request as ended where of = +? and about = +? and from_at <= +? and to_at <= +?
       and not ${closedWhile("ended.from_at", "ended.to_at")}
       and (asked_by <> '${theCrm}' or exists (select 1 from manual_request later where later.of = ended.of
         and later.about = ended.about and later.from_at > ended.from_at and later.asked_by = '${theCrm}'
         and later.customer_namespace = ended.customer_namespace and later.customer_id = ended.customer_id))`,
  );
  return {
    start: ["", "", "", ""],
    page: (after, until, size) => page.all(...after, until, size),
    drop: ([endedAt, ...place]) => drop.run(...place, endedAt).changes,
  };
}

/** Readings with a later one. The sweep walks along the later ones. */
function readings(database: Sqlite): Sweep {
  const key = "seen_at, customer_namespace, customer_id";
  const page = database
    .prepare<unknown[], [string, string, string]>(
      `select ${key} from customer_reading where (${key}) > (?, ?, ?) and seen_at <= ? order by ${key} limit ?`,
    )
    .raw();
  const next = `(select min(n.seen_at) from customer_reading n
    where n.customer_namespace = customer_reading.customer_namespace
      and n.customer_id = customer_reading.customer_id and n.seen_at > customer_reading.seen_at)`;
  const drop = database.prepare(
    `delete from customer_reading where seen_at < ? and customer_namespace = +? and customer_id = +?
       and not ${closedWhile("customer_reading.seen_at", next)}`,
  );
  return {
    start: ["", "", ""],
    page: (after, until, size) => page.all(...after, until, size),
    drop: (place) => drop.run(...place).changes,
  };
}

/** Complete reads, except those that reports and absences need, and those of closed periods. */
function reads(database: Sqlite): Sweep {
  interface Read {
    number: number;
    source: string;
    stream: string;
    started_at: string;
  }
  const page = database.prepare<[number, number], Read>(
    "select number, source, stream, started_at from source_read where number > ? order by number limit ?",
  );
  const newest = database.prepare<[string, string, number], Read>(
    `select number, source, stream, started_at from source_read where source = +? and stream = +?
      order by number desc limit ?`,
  );
  const complete = database.prepare<[string, string], Read>(
    `select number, source, stream, started_at from source_read where source = +? and stream = +? and complete = 1
      order by number desc limit 1`,
  );
  const whole = database.prepare<[string, string], Read>(
    `select number, source, stream, started_at from source_read
      where source = +? and stream = +? and complete = 1 and whole = 1 order by number desc limit 1`,
  );
  // A read of a plan judges no absence.
  const wholeOfRun = database.prepare<[string, string], Read>(
    `select number, source, stream, started_at from source_read
       where source = +? and stream = +? and complete = 1 and whole = 1
       and not exists (select 1 from run where run.id = source_read.run_id and run.kind = 'plan')
         order by number desc limit 1`,
  );
  const inClosed = (at: string): string =>
    `exists (select 1 from closed_period c where ${at} >= c.from_at and ${at} < c.to_at)`;
  const drop = database.prepare(
    `delete from source_read where number = +? and complete = 1 and problem is null
       and not ${inClosed("source_read.started_at")}
       and not exists (select 1 from run where run.id = source_read.run_id and ${inClosed("run.started_at")})`,
  );
  const before = database.prepare<[string, string, number, number], Read>(
    `select number from source_read where source = +? and stream = +? and number <= +? and complete = 1
      order by number desc limit ?`,
  );
  return {
    start: [0, "", ""],
    page: ([after], until, size) => {
      const rows = page.all(Number(after), size);
      const younger = rows.findIndex((row) => row.started_at > until);
      const old = rows.slice(0, younger < 0 ? undefined : younger);
      return old.map((row) => [row.number, row.source, row.stream]);
    },
    drop: ([last, named, kind]) => {
      const [source, stream] = [String(named), String(kind)];
      const lasts = [complete, whole, wholeOfRun].map((one) => one.get(source, stream));
      const needed = new Set([...newest.all(source, stream, readsKept), ...lasts].map((read) => read?.number));
      const passed = before.all(source, stream, Number(last), readsKept + lasts.length + 1);
      return passed.reduce((sum, { number }) => sum + (needed.has(number) ? 0 : drop.run(number).changes), 0);
    },
  };
}

/** Settings and summary of runs. That a run took place, who started it, its end and its balance stay. */
function runs(database: Sqlite): Sweep {
  const page = database
    .prepare<unknown[], [string, string]>(
      `select started_at, id from run where (started_at, id) > (?, ?) and started_at <= ?
        order by started_at, id limit ?`,
    )
    .raw();
  const left = "iif(header ->> '$.by' is null, '{}', json_object('by', header ->> '$.by'))";
  const drop = database.prepare(
    `update run set header = ${left}, summary = null
     where id in (+@id, (select max(r.id) from run r where r.id < @id and r.job = (select job from run where id = @id)))
       and state <> 'running' and header <> ${left} and exists (select 1 from run later where later.job = run.job and later.id > run.id)`,
  );
  return {
    start: ["", ""],
    page: (after, until, size) => page.all(...after, until, size),
    drop: ([, id]) => drop.run({ id }).changes,
  };
}

export function countsOf(thinned: Readonly<Record<HistoryKind, number>>): JsonObject {
  return Object.fromEntries(Object.entries(thinned).filter(([, count]) => count > 0));
}
