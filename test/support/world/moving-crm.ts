import { join } from "node:path";
import type Database from "better-sqlite3";
import { onTestFinished } from "vitest";
import type { JsonObject } from "../../../src/base/canonical-json.ts";
import { createStaging } from "../../../src/ledger/records/staging.ts";
import type { SourceItem, ReadOptions, ReadOutcome } from "../../../src/source/reader.ts";
import { sourceSettingsSchema } from "../../../src/source/source-settings.ts";
import { createSource, type Source } from "../../../src/source/source.ts";
import { startServer } from "../http-server.ts";
import { mappingOf } from "./crm-files.ts";
import { customerRow } from "./crm.ts";
import { Killed, type ReadingWorld } from "./reading-world.ts";
import { folder, sqlite } from "./start.ts";

/** How the customers of a CRM are read: from a service in pages, or from a database. */
export const roads = ["page", "offset", "cursor", "count", "key", "sql"] as const;
export type Road = (typeof roads)[number];

export interface CrmCustomer {
  id: string;
  /** What it is called; a customer without one cannot be used. */
  branch: string | null;
  /** When it was changed, by the clock of the CRM. */
  changed: number;
}

const size = 4;

/** Pages as the settings name them: a cursor is a place that stays, a count the number of customers before it. */
const pagings: Readonly<Record<Exclude<Road, "sql">, object>> = {
  page: { kind: "page" },
  offset: { kind: "offset", sizeParameter: "size", size },
  cursor: { kind: "cursor", next: "next" },
  count: { kind: "cursor", next: "next" },
  key: { kind: "keyset", parameter: "after" },
};

/** Customers in an order, in a real service or a real database, and the source that reads them. */
export class MovingCrm {
  readonly list: CrmCustomer[] = [];
  readonly road: Road;
  /** Says the number of all customers with each page. */
  saysTotal = false;
  /** The next answers fail in this way, each once. */
  troubles: ("breaks off" | "busy")[] = [];
  #origin = "";
  #file = "";
  #database: Database.Database | undefined;
  readonly #sources = new Map<string, Source>();

  private constructor(road: Road) {
    this.road = road;
  }

  static async start(road: Road, world: () => ReadingWorld): Promise<MovingCrm> {
    const crm = new MovingCrm(road);
    if (road === "sql") {
      crm.#file = join(folder(), "crm.db");
      crm.#database = sqlite(crm.#file);
      crm.#database.pragma("journal_mode = wal");
      const columns = Object.keys(rowOf({ id: "", branch: "", changed: 0 }));
      crm.#database.exec(`create table customer (${columns.join(", ")})`);
    } else {
      crm.#origin = await startServer(({ query }, response) => {
        void crm.#answer(world(), query).then((answer) => {
          if (answer === undefined) return void response.destroy();
          const { status = 200, body, breaksOff = false } = answer;
          const date = new Date(world().serviceTime).toUTCString();
          const headers = { "content-type": "application/json", ...(world().givesDate ? { date } : {}) };
          const text = JSON.stringify(body);
          response.sendDate = false;
          if (!breaksOff) return void response.writeHead(status, headers).end(text);
          response.writeHead(status, { ...headers, "content-length": String(text.length) });
          response.write(text.slice(0, text.length / 2), () => response.destroy());
        });
      });
    }
    return crm;
  }

  /** The source with the settings of now. Nobody waits on a clock. */
  source(world: ReadingWorld): Source {
    const settings = this.#settings(world);
    const name = JSON.stringify(settings);
    const known = this.#sources.get(name);
    if (known !== undefined) return known;
    const made = createSource("crm", sourceSettingsSchema.parse(settings), {
      clock: world.time,
      random: world.time.random,
      secrets: (ref) => ref,
      staging: createStaging(),
      baseDirectory: ".",
    });
    onTestFinished(() => made.close());
    const source =
      this.road === "sql"
        ? { ...made, read: (...asked: Parameters<Source["read"]>) => this.#interrupted(made, world, ...asked) }
        : made;
    this.#sources.set(name, source);
    return source;
  }

  /** Has the database hold what the list holds. */
  save(): void {
    const database = this.#database;
    if (database === undefined) return;
    database.transaction(() => {
      database.exec("delete from customer");
      for (const one of this.list) {
        const row = rowOf(one);
        const values = Object.values(row).map((value) => (typeof value === "object" ? null : value));
        database.prepare(`insert into customer values (${values.map(() => "?").join(", ")})`).run(values);
      }
    })();
  }

  #settings(world: ReadingWorld): JsonObject {
    const { branch, query, fullReadEveryMs } = world;
    const fullReadEvery = fullReadEveryMs === undefined ? undefined : `${fullReadEveryMs / 1_000}s`;
    const { mergedInto: _merged, creation: _creation, ...asCustomers } = mappingOf("customers");
    const mapping = { ...asCustomers, branchName: branch };
    const one = { key: "id", mapping };
    const stream =
      this.road === "sql"
        ? {
            ...one,
            query: `select * from customer where '${query}' = '${query}'`,
            ...(fullReadEvery === undefined ? {} : { since: { column: "changed", overlap: "5m", fullReadEvery } }),
          }
        : {
            ...one,
            url: `${this.#origin}/customers`,
            records: "items",
            query: { q: query },
            paging: pagings[this.road],
            ...(this.saysTotal ? { total: "total" } : {}),
            ...(fullReadEvery === undefined
              ? {}
              : {
                  since: { parameter: "since", format: "iso", changedAt: "changed", overlapMs: 300_000, fullReadEvery },
                }),
          };
    const place =
      this.road === "sql"
        ? { kind: "sql", connection: { kind: "sqlite", file: this.#file } }
        : { kind: "http", retries: 2 };
    return JSON.parse(JSON.stringify({ ...place, streams: { customers: stream } }));
  }

  async #answer(
    world: ReadingWorld,
    query: Readonly<Record<string, string>>,
  ): Promise<{ status?: number; body?: unknown; breaksOff?: boolean } | undefined> {
    const trouble = this.troubles.pop();
    if (trouble === "busy") return { status: 503, body: "busy" };
    const cut = await world.beforeAnswer();
    if (cut === "killed") return undefined;
    if (cut === "down") return { status: 403, body: "closed for today" };
    const { since } = query;
    const from = since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since);
    const list = this.list.filter(({ changed }) => changed >= from);
    const body = { ...this.#page(list, query), ...(this.saysTotal ? { total: list.length } : {}) };
    return { body, breaksOff: trouble === "breaks off" };
  }

  #page(list: readonly CrmCustomer[], query: Readonly<Record<string, string>>): object {
    const byKey = (after: string): CrmCustomer[] =>
      list
        .filter(({ id }) => id > after)
        .sort((one, other) => (one.id < other.id ? -1 : 1))
        .slice(0, size);
    const items = (found: readonly CrmCustomer[]): JsonObject[] => found.map(rowOf);
    if (this.road === "key") return { items: items(byKey(query["after"] ?? "")) };
    if (this.road === "cursor") {
      const { cursor = "" } = query;
      const page = byKey(Buffer.from(cursor, "base64url").toString());
      const last = page.at(-1);
      const next = page.length < size || last === undefined ? null : Buffer.from(last.id).toString("base64url");
      return { items: items(page), next };
    }
    const at =
      this.road === "page" ? (Number(query["page"] ?? 1) - 1) * size : Number(query["offset"] ?? query["cursor"] ?? 0);
    const page = list.slice(at, at + size);
    const isMore = at + page.length < list.length && page.length > 0;
    return { items: items(page), next: isMore ? String(at + size) : null };
  }

  /** A reading of the database in small batches, before each of which things happen. */
  async *#interrupted(
    source: Source,
    world: ReadingWorld,
    ...[stream, options]: Parameters<Source["read"]>
  ): AsyncGenerator<SourceItem[], ReadOutcome, void> {
    const asked: ReadOptions = { ...options, batchSize: size };
    const reading = source.read(stream, asked);
    try {
      for (;;) {
        const cut = await world.beforeAnswer();
        if (cut === "killed") throw new Killed();
        asked.signal?.throwIfAborted();
        const next = await reading.next();
        if (next.done === true) return next.value;
        yield next.value;
      }
    } finally {
      await reading.return({ complete: false, full: false, rows: 0 });
    }
  }
}

function rowOf({ id, branch, changed }: CrmCustomer): JsonObject {
  const row: JsonObject = JSON.parse(JSON.stringify(customerRow({ id })));
  const office = branch === null ? null : `Office ${branch}`;
  return { ...row, branch, office, changed: new Date(changed).toISOString() };
}
