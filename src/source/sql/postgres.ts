import type { Client, FieldDef, QueryArrayResult } from "pg";
import {
  atLeastOrNone,
  DatabaseFailure,
  ServerSnapshot,
  verifying,
  type Cell,
  type Column,
  type ColumnKind,
  type Dialect,
  type Failure,
  type Server,
  type SessionLimits,
  type Snapshot,
} from "./dialect.ts";
import { codeOf, networkFailure } from "./failures.ts";

/** Kinds by the names of the types in the catalogue; every other type is text. */
const kinds: Readonly<Record<string, ColumnKind>> = {
  bool: "boolean",
  int2: "integer",
  int4: "integer",
  int8: "integer",
  oid: "integer",
  numeric: "decimal",
  float4: "float",
  float8: "float",
  date: "date",
  timestamp: "local",
  timestamptz: "instant",
  json: "json",
  jsonb: "json",
  bytea: "binary",
};

/** Every value as the text that PostgreSQL sends. */
const types = { getTypeParser: () => (text: string) => text };

/** PostgreSQL: one transaction, repeatable read and read-only, in which every query has a cursor. */
export function postgres(server: Server, limits: SessionLimits): Dialect {
  return {
    quoted: (name) => `"${name.replaceAll('"', '""')}"`,
    atLeast: atLeastOrNone,
    async open() {
      const { default: pg } = await import("pg");
      const { tls, password, ...address } = server;
      const client = new pg.Client({
        ...address,
        // A function, since an empty text has the driver look for a password in the environment.
        password: () => password ?? "",
        ssl: tls === undefined ? false : verifying(server),
        connectionTimeoutMillis: limits.connectTimeoutMs,
        keepAlive: true,
        application_name: "crm-sync",
        types,
      });
      return await new PostgresSnapshot(client, limits).begin();
    },
  };
}

class PostgresSnapshot extends ServerSnapshot implements Snapshot {
  readonly #client: Client;
  readonly #statementTimeoutMs: number;
  #cursors = 0;

  constructor(client: Client, { statementTimeoutMs }: SessionLimits) {
    super(client);
    this.#client = client;
    this.#statementTimeoutMs = statementTimeoutMs;
  }

  protected async start(): Promise<string> {
    await guarded("", () => this.#client.connect(), true);
    await this.#run(
      "begin isolation level repeatable read read only; set local timezone = 'UTC'; " +
        "set local datestyle = 'ISO, YMD'; set local intervalstyle = 'iso_8601'; set local extra_float_digits = 1; " +
        `set local cursor_tuple_fraction = 1; set local statement_timeout = ${this.#statementTimeoutMs}; ` +
        // A server that knows it notices by itself that nobody waits for the answer any more.
        "select set_config(name, '5s', true) from pg_settings where name = 'client_connection_check_interval'",
    );
    const now = await this.#query('select to_char(now(), \'YYYY-MM-DD"T"HH24:MI:SS.US"Z"\')');
    return String(now.rows[0]?.[0]);
  }

  async columns(statement: string): Promise<Column[]> {
    let fields: FieldDef[] = [];
    for await (const asked of this.#apart("columns", async function* (this: PostgresSnapshot) {
      yield await this.#single(statement);
    }))
      fields = asked.fields;
    const named = await this.#query("select oid, typname from pg_type where oid = any($1::oid[])", [
      `{${[...new Set(fields.map(({ dataTypeID }) => dataTypeID))].join(",")}}`,
    ]);
    const types = new Map(named.rows.map(([oid, type]) => [String(oid), type]));
    return fields.map(({ name, dataTypeID }) => {
      const type = types.get(String(dataTypeID)) ?? String(dataTypeID);
      return { name, kind: kinds[type] ?? "text", type };
    });
  }

  async *rows(statement: string, _columns: readonly Column[], size: number): AsyncGenerator<Cell[][], void, void> {
    this.#cursors += 1;
    const cursor = `c${this.#cursors}`;
    yield* this.#apart(cursor, async function* (this: PostgresSnapshot) {
      await this.#single(`declare ${cursor} no scroll cursor for ${statement}`);
      for (;;) {
        const { rows } = await this.#query(`fetch forward ${size} from ${cursor}`);
        if (rows.length > 0) yield rows;
        if (rows.length < size) return;
      }
    });
  }

  protected async disconnect(): Promise<void> {
    await this.#client.end().catch(() => undefined);
  }

  /** In a savepoint: a query that fails takes the view of no other query with it. */
  async *#apart<Value>(
    name: string,
    work: (this: PostgresSnapshot) => AsyncGenerator<Value, void, void>,
  ): AsyncGenerator<Value, void, void> {
    await this.#run(`savepoint ${name}`);
    try {
      yield* work.call(this);
    } finally {
      // Whether it failed, was given up or has ended: what it opened goes with it.
      if (this.isOpen)
        await this.#run(`rollback to savepoint ${name}; release savepoint ${name}`).catch(() => undefined);
    }
  }

  async #run(text: string): Promise<void> {
    await guarded(text, () => this.#client.query(text));
  }

  async #query(text: string, values: string[] = []): Promise<Answer> {
    return await this.#asked({ text, values });
  }

  /** By the protocol that takes a single statement: whatever a query hides, it cannot end this transaction. */
  async #single(text: string): Promise<Answer> {
    return await this.#asked({ text, values: [], queryMode: "extended" });
  }

  async #asked(how: { text: string; values: string[]; queryMode?: "extended" }): Promise<Answer> {
    const asked = { ...how, rowMode: "array" as const, types };
    return await guarded(how.text, () => this.#client.query<(string | null)[], string[]>(asked));
  }
}

type Answer = QueryArrayResult<(string | null)[]>;

async function guarded<Value>(text: string, call: () => Promise<Value>, connecting = false): Promise<Value> {
  try {
    return await call();
  } catch (thrown) {
    throw new DatabaseFailure(failureOf(thrown, text, connecting));
  }
}

/** SQLSTATEs, or their classes, and what they mean here. What is not among them failed at a row. */
const states: readonly (readonly [RegExp, Failure["kind"]])[] = [
  [/^28|^3D000$/u, "login"],
  [/^42501$/u, "forbidden"],
  [/^25006$/u, "writes"],
  [/^57014$/u, "timed-out"],
  [/^(?:08|57P|53|25P03)/u, "lost"],
  [/^(?:42|3F|0A|25|34)/u, "query"],
];

/** Whoever may not write a sequence is refused for that before the session is asked, which lets nobody write. */
function writesSequence(thrown: unknown): boolean {
  return thrown instanceof Error && "routine" in thrown && /^(?:nextval|do_setval)/u.test(String(thrown.routine));
}

function failureOf(thrown: unknown, text: string, connecting: boolean): Failure {
  const code = codeOf(thrown);
  const network = networkFailure(thrown, connecting);
  if (network !== undefined) return network;
  if (!/^[0-9A-Z]{5}$/u.test(code)) {
    return { kind: connecting ? "down" : "lost" };
  }
  const kind = writesSequence(thrown) ? "writes" : (states.find(([pattern]) => pattern.test(code))?.[1] ?? "row");
  const position = thrown instanceof Error && "position" in thrown ? Number(thrown.position) : Number.NaN;
  const line = Number.isFinite(position) ? Array.from(text).slice(0, position).join("").split("\n").length : undefined;
  // Only errors of this class name nothing but words of the query and of the schema.
  const words = code.startsWith("42") && thrown instanceof Error ? thrown.message : undefined;
  return { kind: kind === "lost" && connecting ? "down" : kind, code, line, words };
}
