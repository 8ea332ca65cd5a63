import { connect } from "node:net";
import type { Connection, FieldPacket, QueryError, QueryOptions, SslOptions, TypeCast } from "mysql2";
import {
  atLeastOrNone,
  DatabaseFailure,
  ServerSnapshot,
  type Cell,
  type Column,
  type ColumnKind,
  type Dialect,
  type Failure,
  type Server,
  type SessionLimits,
  type Snapshot,
} from "./dialect.ts";
import { kindOfNumber, networkFailure, type NumberedFailures } from "./failures.ts";

/** Kinds by the numbers of the types on the wire; every other type is text, or bytes where it has no characters. */
const kinds: Readonly<Record<number, ColumnKind>> = {
  0: "decimal",
  1: "integer",
  2: "integer",
  3: "integer",
  4: "float",
  5: "float",
  7: "instant",
  8: "integer",
  9: "integer",
  10: "date",
  11: "text",
  12: "local",
  13: "integer",
  14: "date",
  16: "binary",
  245: "json",
  246: "decimal",
  255: "binary",
};
const tiny = 1;
const bit = 16;
/** The character set of what is no text. */
const bytes = 63;

/** MySQL and MariaDB: one transaction with a consistent snapshot of its InnoDB tables, whose results are streamed. */
export function mysql(server: Server, limits: SessionLimits): Dialect {
  return {
    quoted: (name) => `\`${name.replaceAll("`", "``")}\``,
    atLeast: atLeastOrNone,
    async open() {
      const { createConnection } = await import("mysql2");
      const { host, port = 3_306, database, user, password, tls } = server;
      const connection = createConnection({
        ...(host.startsWith("/") ? { socketPath: host } : { host: tls?.serverName ?? host, port }),
        // The driver compares the certificate with the host it was given, so that name may be another than the way to
        // it.
        ...(tls?.serverName === undefined ? {} : { stream: () => connect(port, host) }),
        database,
        user,
        ...(password === undefined ? {} : { password }),
        ...(tls === undefined ? {} : { ssl: sslOf(tls) }),
        connectTimeout: limits.connectTimeoutMs,
        charset: "utf8mb4",
        rowsAsArray: true,
        trace: false,
        jsonStrings: true,
        flags: ["-LOCAL_FILES"],
      });
      return await new MysqlSnapshot(connection, limits).begin();
    },
  };
}

function sslOf({ ca }: NonNullable<Server["tls"]>): SslOptions {
  return { rejectUnauthorized: true, verifyIdentity: true, ...(ca === undefined ? {} : { ca }) };
}

class MysqlSnapshot extends ServerSnapshot implements Snapshot {
  readonly #connection: Connection;
  /** Ends what waits for an answer that will not come, since the driver tells it nothing. */
  readonly #ended = new AbortController();
  readonly #statementTimeoutMs: number;

  constructor(connection: Connection, { statementTimeoutMs }: SessionLimits) {
    super(connection);
    this.#connection = connection;
    this.#statementTimeoutMs = statementTimeoutMs;
  }

  protected async start(): Promise<string> {
    await this.#connected();
    const [version] = (await this.#all("select version()")).rows;
    const isMaria = /mariadb/iu.test(String(version?.[0]));
    const timeout = isMaria
      ? `max_statement_time = ${this.#statementTimeoutMs / 1_000}`
      : `max_execution_time = ${this.#statementTimeoutMs}`;
    for (const setting of [
      timeout,
      "time_zone = '+00:00'",
      "sql_mode = 'STRICT_ALL_TABLES'",
      // Rows are taken no faster than they are kept: the server has to wait for that.
      "net_write_timeout = 3600",
      "transaction_isolation = 'REPEATABLE-READ'",
    ])
      await this.#all(`set session ${isMaria ? setting.replace("transaction_isolation", "tx_isolation") : setting}`);
    await this.#all("set session transaction read only");
    await this.#all("start transaction with consistent snapshot, read only");
    const [now] = (await this.#all("select date_format(utc_timestamp(6), '%Y-%m-%dT%H:%i:%s.%fZ')")).rows;
    return String(now?.[0]);
  }

  async columns(statement: string): Promise<Column[]> {
    const { fields } = await this.#all(statement);
    return fields.map((field) => ({
      name: field.name,
      kind: kindOf(field),
      type: field.typeName ?? String(field.columnType),
    }));
  }

  async *rows(statement: string, columns: readonly Column[], size: number): AsyncGenerator<Cell[][], void, void> {
    const asked = this.#connection.query(optionsOf(statement, columns));
    // Without a listener the driver tells its errors to nobody.
    asked.on("error", () => undefined);
    const stream = asked.stream({ highWaterMark: size });
    const stop = (): void => void stream.destroy(new DatabaseFailure({ kind: "lost" }));
    this.#ended.signal.addEventListener("abort", stop);
    let batch: Cell[][] = [];
    let ended = false;
    try {
      for await (const row of stream) {
        batch.push(cellsOf(row));
        if (batch.length < size) continue;
        yield batch;
        batch = [];
      }
      ended = true;
    } catch (thrown) {
      ended = true;
      throw thrown instanceof DatabaseFailure ? thrown : new DatabaseFailure(failureOf(thrown, false));
    } finally {
      this.#ended.signal.removeEventListener("abort", stop);
      // Whoever takes no more rows shall not wait for all others: the rest of them goes with the connection.
      if (!ended) await this.close();
    }
    if (batch.length > 0) yield batch;
  }

  protected async disconnect(): Promise<void> {
    this.#connection.destroy();
    this.#ended.abort();
    await Promise.resolve();
  }

  async #connected(): Promise<void> {
    await new Promise<void>((done, fail) => {
      this.#connection.connect((error) => {
        if (error === null) done();
        else fail(new DatabaseFailure(failureOf(error, true)));
      });
    });
  }

  async #all(text: string): Promise<{ rows: Cell[][]; fields: FieldPacket[] }> {
    return await new Promise((done, fail) => {
      const stop = (): void => fail(new DatabaseFailure({ kind: "lost" }));
      if (this.#ended.signal.aborted) return stop();
      this.#ended.signal.addEventListener("abort", stop, { once: true });
      this.#connection.query(optionsOf(text), (error: QueryError | null, rows: unknown, fields: unknown) => {
        this.#ended.signal.removeEventListener("abort", stop);
        if (error !== null) return fail(new DatabaseFailure(failureOf(error, false)));
        done({
          rows: Array.isArray(rows) ? rows.map(cellsOf) : [],
          fields: Array.isArray(fields) ? fields.filter(isField) : [],
        });
      });
    });
  }
}

function optionsOf(sql: string, columns: readonly Column[] = []): QueryOptions {
  let at = -1;
  const typeCast: TypeCast = (field) => {
    at = columns.length === 0 ? -1 : (at + 1) % columns.length;
    const column = columns[at];
    if (column?.kind === "boolean" && field.type === "BIT") {
      const [byte] = field.buffer() ?? [];
      return byte === undefined ? null : byte === 1;
    }
    return column?.kind === "binary" ? field.buffer() : field.string("utf8");
  };
  return { sql, rowsAsArray: true, typeCast };
}

function isField(field: unknown): field is FieldPacket {
  return typeof field === "object" && field !== null && "columnType" in field && "name" in field;
}

function cellsOf(row: unknown): Cell[] {
  if (!Array.isArray(row)) return [];
  return row.map((cell: unknown) =>
    typeof cell === "string" || typeof cell === "boolean" || cell instanceof Uint8Array ? cell : null,
  );
}

/** What a field holds. A whole number of one digit is how MySQL keeps a truth value, and so is a single bit. */
function kindOf(field: FieldPacket): ColumnKind {
  const { columnType = -1, characterSet, columnLength, extendedFormat } = field;
  if (extendedFormat === "json") return "json";
  if ((columnType === tiny || columnType === bit) && columnLength === 1) return "boolean";
  return kinds[columnType] ?? (characterSet === bytes ? "binary" : "text");
}

/** The words of the database without what stands around the query: the line is told by itself. */
function wordsOf(message: string): string {
  return message.replace(/ near '([^\n]*)[^]*' at line \d+$/u, (_all, near: string) => ` near '${near.slice(0, 80)}'`);
}

/** Numbers of errors and what they mean here. What is not among them failed at a row. */
const numbers: NumberedFailures = [
  ["login", new Set([1044, 1045, 1049, 1698, 1862])],
  ["forbidden", new Set([1142, 1143, 1227, 1370])],
  ["writes", new Set([1290, 1792, 1847])],
  ["timed-out", new Set([1317, 1969, 3024])],
  ["lost", new Set([1053, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 2006, 2013, 3169, 4031])],
  ["query", new Set([1046, 1051, 1052, 1054, 1055, 1060, 1064, 1109, 1111, 1140, 1146, 1305, 1582, 1630])],
];

function failureOf(thrown: unknown, connecting: boolean): Failure {
  const network = networkFailure(thrown, connecting);
  if (network !== undefined) return network;
  const number = thrown instanceof Error && "errno" in thrown ? Number(thrown.errno) : Number.NaN;
  const kind = kindOfNumber(number, numbers);
  if (kind === undefined && !(number > 0)) return { kind: connecting ? "down" : "lost" };
  const words = kind === "query" && thrown instanceof Error ? thrown.message : undefined;
  const line = /at line (\d+)$/u.exec(words ?? "")?.[1];
  return {
    kind: kind ?? "row",
    code: String(number),
    line: line === undefined ? undefined : Number(line),
    words: words === undefined ? undefined : wordsOf(words),
  };
}
