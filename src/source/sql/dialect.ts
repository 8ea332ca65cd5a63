import { X509Certificate } from "node:crypto";
import { resolve } from "node:path";
import { checkServerIdentity, type ConnectionOptions } from "node:tls";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { readRegular } from "../../base/regular-file.ts";
import { credentialOf } from "../../http/secrets.ts";
import { sourceProblem } from "../problems.ts";
import type { About } from "./failures.ts";
import type { ServerConnection, SqlConnection } from "./sql-source-settings.ts";

/** What a column holds, whatever the database calls it. */
export type ColumnKind =
  | "integer"
  | "decimal"
  | "float"
  | "boolean"
  | "date"
  /** A date and time without zone. */
  | "local"
  /** A moment: a date and time with a zone. */
  | "instant"
  | "json"
  | "binary"
  | "text"
  /** Each value says for itself what it is. */
  | "any";

export interface Column {
  name: string;
  kind: ColumnKind;
  /** What the database calls its type. */
  type: string;
}

/** A value as a dialect hands it over: text as the database writes it, or a value that lost nothing. */
export type Cell = string | number | bigint | boolean | Uint8Array | null;

/** One view of a database at one moment, from its opening until it is closed. */
export interface Snapshot {
  /** The time of the database when it was opened, in ISO with Z. */
  readonly openedAt: string;
  /** The columns that a statement gives, without running it. */
  columns(statement: string): Promise<Column[]>;
  /** The rows of a statement, at most so many at a time; no more are asked for than are taken. */
  rows(statement: string, columns: readonly Column[], size: number): AsyncGenerator<Cell[][], void, void>;
  /** Whether it can still be asked; what lost its connection cannot. */
  readonly isOpen: boolean;
  /** Ends it, in the middle of a statement too. */
  close(): Promise<void>;
}

/** How a database is reached, with its secret. */
export interface Server {
  host: string;
  port: number | undefined;
  database: string;
  user: string;
  password: string | undefined;
  /** undefined: without TLS. */
  tls: { ca: string | undefined; serverName: string | undefined } | undefined;
}

export interface SessionLimits {
  connectTimeoutMs: number;
  statementTimeoutMs: number;
}

/** Why there is no TLS that can be trusted. */
export type TlsFault = "none-offered" | "expired" | "not-yet-valid" | "other-name" | "unknown-authority" | "other";

/** Why a database did not do what it was asked for, in words that hold no value of a row. */
export interface Failure {
  kind: "missing" | "down" | "lost" | "login" | "tls" | "forbidden" | "writes" | "timed-out" | "query" | "row";
  /** Of `tls`: what is wrong with it. */
  tls?: TlsFault | undefined;
  /** Of `tls`: the name that the certificate had to bear; of `missing`: the file. */
  name?: string | undefined;
  /** SQLSTATE or the number of the error, where there is one. */
  code?: string | undefined;
  /** Line of the statement, from 1. */
  line?: number | undefined;
  /** The database's own words, given only where they can name nothing but parts of the query and of the schema. */
  words?: string | undefined;
}

/** What every call of a dialect throws. The driver's own error is not kept: it may quote values of rows. */
export class DatabaseFailure extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.words ?? failure.code ?? failure.kind);
    this.failure = failure;
  }
}

/** One kind of database. */
export interface Dialect {
  quoted(name: string): string;
  /** The condition that a column is at least a time of the form `2026-11-20 08:00:00`, or nothing to compare with it. */
  atLeast(column: string, time: string): string;
  /** Opens a session that may only read, and in it a view of one moment. */
  open(): Promise<Snapshot>;
}

/** `atLeast`, where a column has values of its one kind or none. */
export function atLeastOrNone(column: string, time: string): string {
  return `(${column} >= '${time}' or ${column} is null)`;
}

interface DialectDeps {
  clock: Clock;
  secrets: (ref: string) => Promise<string> | string;
  /** Folder of the configuration file. */
  directory: string;
  about: About;
}

/**
 * The dialect of a connection, with its driver loaded now. Throws a Problem where a secret or a certificate is
 * missing.
 */
export async function dialectOf(connection: SqlConnection, limits: SessionLimits, deps: DialectDeps): Promise<Dialect> {
  switch (connection.kind) {
    case "sqlite": {
      const { sqlite } = await import("./sqlite.ts");
      return sqlite(resolve(deps.directory, connection.file), limits, deps.clock);
    }
    case "postgres": {
      const { postgres } = await import("./postgres.ts");
      return postgres(await serverOf(connection, deps), limits);
    }
  }
}

async function serverOf(connection: ServerConnection, deps: DialectDeps): Promise<Server> {
  const { host, port, database, user, password, tls, ca, serverName } = connection;
  return {
    host,
    port,
    database,
    user,
    password: password === undefined ? undefined : await secretOf(password, deps),
    tls: tls === "off" ? undefined : { ca: ca === undefined ? undefined : certificateOf(ca, deps), serverName },
  };
}

async function secretOf(ref: string, { secrets, about }: DialectDeps): Promise<string> {
  let secret = "";
  try {
    secret = credentialOf(await secrets(ref));
  } catch {
    // What is wrong with it is said below, without what stands there.
  }
  if (secret !== "") return secret;
  throw sourceProblem(
    "source.wrong-password",
    about.place,
    `The secret ${ref} of the source ${about.source} is not there.`,
    "Set the environment variable, or write the file.",
  );
}

function certificateOf(file: string, { directory, about }: DialectDeps): string {
  let text: string;
  try {
    text = readRegular(resolve(directory, file)).toString("utf8");
  } catch (thrown) {
    const why = thrown instanceof Error && "code" in thrown ? String(thrown.code) : messageOf(thrown);
    throw sourceProblem(
      "source.missing-file",
      about.place,
      `The certificates ${file} of the source ${about.source} cannot be read (${why}).`,
      "Correct `connection.ca`, or put the file there.",
    );
  }
  if (holdsCertificates(text)) return text;
  throw sourceProblem(
    "source.unreadable-file",
    about.place,
    `The certificates ${file} of the source ${about.source} contain no readable certificate.`,
    "Put the certificate of the authority into the file as PEM: it begins with -----BEGIN CERTIFICATE-----.",
  );
}

/** What a driver's connection tells of its end. */
interface Line {
  on(event: "error" | "end", told: () => void): unknown;
}

/** A view over a connection to a server, as far as it is the same whatever server it is. */
export abstract class ServerSnapshot implements Pick<Snapshot, "openedAt" | "isOpen" | "close"> {
  #openedAt = "";
  #isOpen = true;

  constructor(line: Line) {
    const ended = (): void => {
      this.#isOpen = false;
    };
    line.on("error", ended);
    line.on("end", ended);
  }

  get openedAt(): string {
    return this.#openedAt;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Begins the view. One that cannot begin is closed. */
  async begin(): Promise<this> {
    try {
      this.#openedAt = await this.start();
      return this;
    } catch (thrown) {
      await this.close();
      throw thrown;
    }
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.disconnect();
  }

  /** Connects and begins the view; returns the time of the database. */
  protected abstract start(): Promise<string>;

  /** Lets go of the connection, whatever is on. */
  protected abstract disconnect(): Promise<void>;
}

/** By codes and by words: a driver may put a code of its own in the place of that of the certificate. */
const faults: readonly (readonly [RegExp, TlsFault])[] = [
  [/HANDSHAKE_NO_SSL_SUPPORT|EENCRYPT|does not support SSL/u, "none-offered"],
  [/CERT_HAS_EXPIRED|certificate has expired/u, "expired"],
  [/CERT_NOT_YET_VALID|certificate is not yet valid/u, "not-yet-valid"],
  [/ERR_TLS_CERT_ALTNAME_INVALID|does not match certificate's altnames|HOSTNAME_MISMATCH/u, "other-name"],
  [/UNABLE_TO_|SELF_SIGNED_|unable to (?:get|verify)|self[- ]signed/u, "unknown-authority"],
  [/^(?:ERR_TLS_|ERR_SSL_|CERT_|EPROTO|HANDSHAKE_SSL_ERROR)/u, "other"],
];

/** What kept TLS from being trusted; undefined where it was something else. */
export function tlsFailure(thrown: unknown): Failure | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const code = "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
  const tls = faults.find(([pattern]) => pattern.test(code) || pattern.test(thrown.message))?.[1];
  if (tls === undefined) return undefined;
  const name = "host" in thrown && typeof thrown.host === "string" ? thrown.host : undefined;
  return { kind: "tls", tls, name, code: code === "" || tls === "none-offered" ? undefined : code };
}

/** How a certificate is checked: by its authority, and by the name that is written, or by that of the host. */
export function verifying({ host, tls }: Pick<Server, "host" | "tls">): ConnectionOptions {
  const { ca, serverName } = tls ?? {};
  return {
    rejectUnauthorized: true,
    // A driver may say another name than the one that is written.
    checkServerIdentity: (_name, certificate) => checkServerIdentity(serverName ?? host, certificate),
    ...(ca === undefined ? {} : { ca }),
  };
}

const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu;

/** Whether a text holds certificates, and good ones: without any, those of the system would be trusted. */
function holdsCertificates(pem: string): boolean {
  const found = pem.match(certificate) ?? [];
  try {
    return found.length > 0 && found.every((one) => new X509Certificate(one).raw.length > 0);
  } catch {
    return false;
  }
}
