import type * as tediousDriver from "tedious";
import type { Connection, Request } from "tedious";
import { atLeastOrNone, DatabaseFailure, written } from "./dialect.ts";
import type {
  Cell,
  Column,
  ColumnKind,
  Dialect,
  Failure,
  Server,
  SessionLimits,
  Snapshot,
  Statement,
} from "./dialect.ts";
import { codeOf, kindOfNumber, networkFailure } from "./failures.ts";
import type { NumberedFailures } from "./failures.ts";
import { ServerSnapshot } from "./server-snapshot.ts";

type Tedious = typeof tediousDriver;

interface Asked {
  text: string;
  values: readonly string[];
}

/**
 * Kinds by the driver's names of the types, and how a column is written as text where the driver would lose something.
 */
const kinds: readonly (readonly [RegExp, ColumnKind, ((column: string) => string)?])[] = [
  [/^(?:Bit|BitN)$/u, "boolean"],
  [/^(?:TinyInt|SmallInt|Int|BigInt|IntN)$/u, "integer"],
  [/^(?:Decimal|Numeric)/u, "decimal", (column) => `convert(varchar(60), ${column})`],
  [/^(?:Small)?Money/u, "decimal", (column) => `convert(varchar(60), ${column}, 2)`],
  [/^(?:Float|Real)/u, "float"],
  [/^Date$/u, "date", (column) => `convert(varchar(10), ${column}, 23)`],
  [/^Time$/u, "text", (column) => `convert(varchar(16), ${column})`],
  [/^DateTimeOffset/u, "instant", (column) => `convert(varchar(40), switchoffset(${column}, '+00:00'), 127)`],
  [/^(?:SmallDateTime|DateTime)/u, "local", (column) => `convert(varchar(33), ${column}, 126)`],
  [/^(?:Var)?Binary|^Image$|^UDT$/u, "binary"],
];

/**
 * SQL Server, after the documentation of its driver and not tried against one: a transaction of the isolation level
 * snapshot, which its database has to allow. It has no session that may only read, so the user must be such a one.
 */
export function sqlserver(server: Server, limits: SessionLimits): Dialect {
  return {
    quoted: (name) => `[${name.replaceAll("]", "]]")}]`,
    atLeast: atLeastOrNone,
    async open() {
      let tedious: Tedious;
      try {
        tedious = await import("tedious");
      } catch {
        throw new DatabaseFailure({ kind: "driver" });
      }
      const { host, port, database, user, password, tls } = server;
      const connection = new tedious.Connection({
        server: host,
        authentication: { type: "default", options: { userName: user, password: password ?? "" } },
        options: {
          ...(port === undefined ? {} : { port }),
          database,
          appName: "crm-sync",
          encrypt: tls !== undefined,
          trustServerCertificate: false,
          ...(tls?.serverName === undefined ? {} : { serverName: tls.serverName }),
          ...(tls?.ca === undefined ? {} : { cryptoCredentialsDetails: { ca: tls.ca } }),
          connectTimeout: limits.connectTimeoutMs,
          requestTimeout: limits.statementTimeoutMs,
          readOnlyIntent: true,
          useUTC: true,
        },
      });
      return await new SqlServerSnapshot(connection, tedious).begin();
    },
  };
}

class SqlServerSnapshot extends ServerSnapshot implements Snapshot {
  readonly #connection: Connection;
  readonly #tedious: Tedious;

  constructor(connection: Connection, tedious: Tedious) {
    super(connection);
    this.#connection = connection;
    this.#tedious = tedious;
  }

  protected async start(): Promise<string> {
    await new Promise<void>((done, fail) => {
      this.#connection.connect((error) => {
        if (error === undefined) done();
        else fail(new DatabaseFailure(failureOf(error, true)));
      });
    });
    await this.#first({ text: "set transaction isolation level snapshot; begin transaction", values: [] });
    const [now] = await this.#first({ text: "select convert(varchar(33), sysutcdatetime(), 126) + 'Z'", values: [] });
    return String(now?.[0]);
  }

  async columns(statement: Statement): Promise<Column[]> {
    let found: Column[] = [];
    for await (const _rows of this.#ask(askedOf(statement), 1, (columns) => {
      found = columns;
    })) {
      // The statement gives no row.
    }
    return found;
  }

  async *rows(statement: Statement, columns: readonly Column[], size: number): AsyncGenerator<Cell[][], void, void> {
    const list = columns.map(({ name, type }) => {
      const column = `q.[${name.replaceAll("]", "]]")}]`;
      const write = kinds.find(([pattern]) => pattern.test(type))?.[2];
      return write === undefined ? column : `${write(column)} as [${name.replaceAll("]", "]]")}]`;
    });
    const { text, values } = askedOf(statement);
    yield* this.#ask({ text: text.replace("select *", () => `select ${list.join(", ")}`), values }, size);
  }

  protected async disconnect(): Promise<void> {
    this.#connection.close();
    await Promise.resolve();
  }

  async #first(asked: Asked): Promise<Cell[][]> {
    for await (const rows of this.#ask(asked, 1)) return rows;
    return [];
  }

  /** Rows as they come; the flow stops while more are there than one batch. */
  async *#ask(
    { text, values }: Asked,
    size: number,
    described?: (columns: Column[]) => void,
  ): AsyncGenerator<Cell[][], void, void> {
    let waiting: Cell[][] = [];
    let ended: { failure: DatabaseFailure | undefined } | undefined;
    let wake = (): void => undefined;
    const request: Request = new this.#tedious.Request(text, (error) => {
      ended = { failure: error ? new DatabaseFailure(failureOf(error, false)) : undefined };
      wake();
    });
    values.forEach((value, index) => request.addParameter(`p${index + 1}`, this.#tedious.TYPES.NVarChar, value));
    request.on("columnMetadata", (columns) => {
      if (Array.isArray(columns)) described?.(columns.map((one) => columnOf(one.colName, one.type.name)));
    });
    request.on("row", (row: unknown) => {
      waiting.push(cellsOf(row));
      if (waiting.length < size) return;
      request.pause();
      wake();
    });
    this.#connection.execSql(request);
    try {
      for (;;) {
        if (ended === undefined && waiting.length < size)
          await new Promise<void>((done) => {
            wake = done;
          });
        const batch = waiting;
        waiting = [];
        if (batch.length > 0) yield batch;
        const end = endOf(ended);
        if (end?.failure !== undefined) throw end.failure;
        if (end !== undefined && waiting.length === 0) return;
        request.resume();
      }
    } finally {
      if (ended === undefined) request.cancel();
    }
  }
}

/** What was assigned in a callback, which the type checker does not see. */
function endOf(ended: { failure: DatabaseFailure | undefined } | undefined): typeof ended {
  return ended;
}

function columnOf(name: string, type: string): Column {
  const kind = kinds.find(([pattern]) => pattern.test(type))?.[1] ?? "text";
  return { name, kind, isList: false, type };
}

function askedOf(statement: Statement): Asked {
  const values = statement.values.map(({ text }) => text);
  return { text: written(statement, (index) => `@p${index + 1}`), values };
}

function cellsOf(row: unknown): Cell[] {
  if (!Array.isArray(row)) return [];
  return row.map((column: unknown) => {
    const value: unknown = typeof column === "object" && column !== null && "value" in column ? column.value : null;
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
    return value instanceof Uint8Array ? value : null;
  });
}

/** Numbers of errors and what they mean here. What is not among them failed at a row. */
const numbers: NumberedFailures = [
  ["login", new Set([4060, 18_452, 18_456])],
  ["forbidden", new Set([229, 230, 262])],
  ["writes", new Set([3906])],
  ["query", new Set([102, 105, 156, 170, 207, 208, 209, 1033, 2812, 3952, 8120, 8155, 8156])],
];

function failureOf(thrown: unknown, connecting: boolean): Failure {
  // The driver puts its own code before that of the network.
  const inside = thrown instanceof Error ? thrown.cause : undefined;
  const network = networkFailure(thrown, connecting) ?? networkFailure(inside, connecting);
  if (network !== undefined) return network;
  const code = codeOf(thrown);
  if (code === "ELOGIN") return { kind: "login" };
  if (code === "ETIMEOUT") return { kind: connecting ? "down" : "timed-out" };
  if (code === "ESOCKET" || code === "ECLOSE") return { kind: connecting ? "down" : "lost" };
  const number = thrown instanceof Error && "number" in thrown ? Number(thrown.number) : Number.NaN;
  const kind = kindOfNumber(number, numbers) ?? "row";
  const line = thrown instanceof Error && "lineNumber" in thrown ? Number(thrown.lineNumber) : undefined;
  const words = kind === "query" && thrown instanceof Error ? thrown.message : undefined;
  return { kind, code: Number.isNaN(number) ? undefined : String(number), line, words };
}
