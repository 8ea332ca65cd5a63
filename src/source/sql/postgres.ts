import { X509Certificate } from "node:crypto";
import { resolve } from "node:path";
import { checkServerIdentity, type ConnectionOptions } from "node:tls";
import type { Client, FieldDef, QueryArrayResult } from "pg";
import { messageOf, type Problem } from "../../base/errors.ts";
import { readRegular } from "../../base/regular-file.ts";
import { secretOf, sourceProblem, type SourceProblemCode } from "../problems.ts";
import { codeOf, DatabaseFailure, type About, type FailureKind } from "./failures.ts";
import type { Cell, Column, ColumnKind, SessionLimits, Snapshot } from "./snapshot.ts";
import type { PostgresConnection } from "./sql-source-settings.ts";

/** By type name in the catalogue. Every other type is text. */
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

/** Leaves every value as the text that PostgreSQL sends. */
const types = { getTypeParser: () => (text: string) => text };

export interface PostgresDeps {
  secrets: (ref: string) => Promise<string> | string;
  directory: string;
  about: About;
}

/** One read-only, repeatable-read transaction, never committed. Throws a Problem without a secret or certificate. */
export async function openPostgres(
  connection: PostgresConnection,
  limits: SessionLimits,
  deps: PostgresDeps,
): Promise<Snapshot> {
  const { default: pg } = await import("pg");
  const { host, port, database, user, password: ref, tls } = connection;
  const password = ref === undefined ? "" : await secretOf(ref, { ...deps.about, secrets: deps.secrets });
  const client = new pg.Client({
    host,
    port,
    database,
    user,
    // A function, because for an empty text the driver reads a password from the environment.
    password: () => password,
    ssl: tls === "off" ? false : verifying(connection, deps),
    connectionTimeoutMillis: limits.connectTimeoutMs,
    keepAlive: true,
    application_name: "crm-sync",
    types,
  });
  const snapshot = new PostgresSnapshot(client);
  try {
    await snapshot.begin(limits);
    return snapshot;
  } catch (thrown) {
    await snapshot.close();
    throw thrown;
  }
}

class PostgresSnapshot implements Snapshot {
  readonly #client: Client;
  #isOpen = true;
  #cursors = 0;
  openedAt = "";

  constructor(client: Client) {
    this.#client = client;
    const ended = (): void => {
      this.#isOpen = false;
    };
    client.on("error", ended);
    client.on("end", ended);
  }

  async begin({ statementTimeoutMs }: SessionLimits): Promise<void> {
    await guarded("", () => this.#client.connect(), "connect");
    await this.#run(
      "begin isolation level repeatable read read only; set local timezone = 'UTC'; " +
        "set local datestyle = 'ISO, YMD'; set local intervalstyle = 'iso_8601'; set local extra_float_digits = 1; " +
        `set local cursor_tuple_fraction = 1; set local statement_timeout = ${statementTimeoutMs}; ` +
        // A server with this setting notices when the client is gone.
        "select set_config(name, '5s', true) from pg_settings where name = 'client_connection_check_interval'",
    );
    const now = await this.#single('select to_char(now(), \'YYYY-MM-DD"T"HH24:MI:SS.US"Z"\')');
    this.openedAt = String(now.rows[0]?.[0]);
  }

  atLeast(column: string, time: string): string {
    return `(${column} >= '${time}' or ${column} is null)`;
  }

  async columns(statement: string): Promise<Column[]> {
    let fields: FieldDef[] = [];
    for await (const answer of this.#answers(statement, 0)) fields = answer.fields;
    const named = await this.#single("select oid, typname from pg_type where oid = any($1::oid[])", [
      `{${[...new Set(fields.map(({ dataTypeID }) => dataTypeID))].join(",")}}`,
    ]);
    const types = new Map(named.rows.map(([oid, type]) => [String(oid), type]));
    return fields.map(({ name, dataTypeID }) => {
      const type = types.get(String(dataTypeID)) ?? String(dataTypeID);
      return { name, kind: kinds[type] ?? "text", type };
    });
  }

  async *rows(statement: string, size: number): AsyncGenerator<Cell[][], void, void> {
    for await (const { rows } of this.#answers(statement, size)) if (rows.length > 0) yield rows;
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#client.end().catch(() => undefined);
  }

  /** Yields answers of `size` rows; with 0, one without rows. A savepoint keeps queries from affecting others. */
  async *#answers(statement: string, size: number): AsyncGenerator<Answer, void, void> {
    this.#cursors += 1;
    const cursor = `c${this.#cursors}`;
    await this.#run(`savepoint ${cursor}`);
    try {
      await this.#single(`declare ${cursor} no scroll cursor for ${statement}`);
      for (;;) {
        const answer = await this.#single(`fetch forward ${size} from ${cursor}`, [], "row");
        yield answer;
        if (answer.rows.length < Math.max(1, size)) return;
      }
    } finally {
      // Undoes everything that the query did, whether it failed, stopped early or ended.
      if (this.#isOpen)
        await this.#run(`rollback to savepoint ${cursor}; release savepoint ${cursor}`).catch(() => undefined);
    }
  }

  /** Only for our own statements: this protocol accepts several statements in one text. */
  async #run(text: string): Promise<void> {
    await guarded(text, () => this.#client.query(text));
  }

  /** This protocol accepts only one statement, so no query can end the transaction. */
  async #single(text: string, values: string[] = [], at: Stage = "query"): Promise<Answer> {
    const asked = { text, values, queryMode: "extended" as const, rowMode: "array" as const, types };
    return await guarded(text, () => this.#client.query<(string | null)[], string[]>(asked), at);
  }
}

type Answer = QueryArrayResult<(string | null)[]>;

/** Where the error occurred. It decides whether its words can contain a value of a row. */
type Stage = "connect" | "query" | "row";

async function guarded<Value>(text: string, call: () => Promise<Value>, at: Stage = "query"): Promise<Value> {
  try {
    return await call();
  } catch (thrown) {
    throw failureOf(thrown, text, at);
  }
}

/** By code, SQLSTATE or its class. Any other SQLSTATE is a failure at a row. */
const codes: readonly (readonly [RegExp, FailureKind])[] = [
  [/^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENOENT|EACCES)$/u, "down"],
  [/^(?:ECONNRESET|EPIPE|ECONNABORTED)$/u, "lost"],
  [/^28|^3D000$/u, "login"],
  [/^42501$/u, "forbidden"],
  [/^25006$/u, "writes"],
  [/^57014$/u, "timed-out"],
  [/^(?:08|57P|53|25P03)/u, "lost"],
  [/^(?:42|3F|0A|25|34)/u, "query"],
];

/** By code and words: some certificate errors have no code of their own. */
const tlsFaults: readonly (readonly [RegExp, FailureKind])[] = [
  [/does not support SSL/u, "no-tls"],
  [/CERT_HAS_EXPIRED|certificate has expired/u, "tls-expired"],
  [/CERT_NOT_YET_VALID|certificate is not yet valid/u, "tls-not-yet-valid"],
  [/ERR_TLS_CERT_ALTNAME_INVALID|does not match certificate's altnames|HOSTNAME_MISMATCH/u, "tls-other-name"],
  [/UNABLE_TO_|SELF_SIGNED_|unable to (?:get|verify)|self[- ]signed/u, "tls-unknown-authority"],
  [/^(?:ERR_TLS_|ERR_SSL_|CERT_|EPROTO)/u, "tls-other"],
];

/** By the function of the server that threw the error, whatever its code. */
const routines: readonly (readonly [RegExp, FailureKind])[] = [
  // Without the right to write a sequence, PostgreSQL gives this error before it notices the read-only session.
  [/^(?:nextval|do_setval)/u, "writes"],
  [/^exec_bind_message$/u, "query"],
];

function failureOf(thrown: unknown, text: string, at: Stage): DatabaseFailure {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const code = codeOf(error);
  const known = codes.find(([pattern]) => pattern.test(code))?.[1];
  // A connection that ends while it opens counts as down.
  const lost = at === "connect" ? "down" : "lost";
  if (known === undefined && !/^[0-9A-Z]{5}$/u.test(code)) {
    const kind = tlsFaults.find(([pattern]) => pattern.test(code) || pattern.test(error.message))?.[1];
    const name = "host" in error ? String(error.host) : undefined;
    return new DatabaseFailure(
      kind === undefined ? { kind: lost } : { kind, name, code: code === "" ? undefined : code },
    );
  }
  const routine = "routine" in error ? String(error.routine) : "";
  const kind = routines.find(([pattern]) => pattern.test(routine))?.[1] ?? known ?? "row";
  const position = "position" in error ? Number(error.position) : Number.NaN;
  const line = Number.isFinite(position) ? Array.from(text).slice(0, position).join("").split("\n").length : undefined;
  // Before a row is read, errors of this class contain only words of the query and the schema.
  const words = kind === "query" && at !== "row" && code.startsWith("42") ? error.message : undefined;
  return new DatabaseFailure({ kind: kind === "lost" ? lost : kind, code, line, words });
}

/** Checks a certificate by its authority and by `serverName`, or else by the host. */
function verifying({ ca, host, serverName = host }: PostgresConnection, deps: PostgresDeps): ConnectionOptions {
  return {
    rejectUnauthorized: true,
    // The driver may pass another name than the configured one.
    checkServerIdentity: (_name, certificate) => checkServerIdentity(serverName, certificate),
    ...(ca === undefined ? {} : { ca: certificatesIn(ca, deps) }),
  };
}

/** Every certificate must be good: with none, the driver would trust those of the system. */
function certificatesIn(file: string, { directory, about }: PostgresDeps): string {
  const fault = (code: SourceProblemCode, what: string, cure: string): Problem =>
    sourceProblem(code, about.place, `The certificates ${file} of the source ${about.source} ${what}.`, cure);
  let text: string;
  try {
    text = readRegular(resolve(directory, file)).toString("utf8");
  } catch (thrown) {
    const why = codeOf(thrown) || messageOf(thrown);
    throw fault("source.missing-file", `cannot be read (${why})`, "Correct `connection.ca`, or put the file there.");
  }
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu) ?? [];
  try {
    if (found.length > 0 && found.every((one) => new X509Certificate(one).raw.length > 0)) return text;
  } catch {}
  throw fault(
    "source.unreadable-file",
    "contain no readable certificate",
    "Put the certificate of the authority into the file as PEM: it begins with -----BEGIN CERTIFICATE-----.",
  );
}
