import type { Problem } from "../../base/errors.ts";
import { scrub } from "../../http/redaction.ts";
import { sourceProblem, type SourceProblemCode } from "../problems.ts";

export interface Query {
  text: string;
  settings: string;
  place: string;
}

/** Lines that `statementOf` puts before the query. */
const linesBefore = 1;

interface Words {
  code: SourceProblemCode;
  message: string;
  cure: string;
}

type Names = Record<"source" | "query" | "name", string>;

const wordsOf = ({ source, query, name }: Names) => {
  const database = `The database of the source ${source}`;
  return {
    missing: {
      code: "source.missing-file",
      message: `${database} is missing: there is no file ${name}`,
      cure: "Correct `connection.file`.",
    },
    down: {
      code: "source.down",
      message: `${database} cannot be reached`,
      cure: "Check that the database runs and can be reached from here, and that `connection` is right.",
    },
    lost: {
      code: "source.down",
      message: `The connection to the database of the source ${source} was lost`,
      cure: "The next run reads it again. If this happens again, look into the log of the database.",
    },
    login: {
      code: "source.wrong-password",
      message: `${database} does not let us in`,
      cure: "Correct `user`, `password` and `database` in `connection`, or let the server accept this machine.",
    },
    forbidden: {
      code: "source.refused",
      message: `The user of ${query} may not read a table of the query`,
      cure: "Give that user the right to read the table.",
    },
    "timed-out": {
      code: "source.timed-out",
      message: `${query} took longer than \`statementTimeout\``,
      cure: "Raise `statementTimeout`, or make the query quicker.",
    },
    row: {
      code: "source.half-read",
      message: `${query} failed at a row of its result`,
      cure: "Run the query directly on the database to find the row. Then correct the query or the row.",
    },
    query: {
      code: "source.wrong-query",
      message: `${query} is refused by the database`,
      cure: "Correct the query. It must be a single one that only reads, such as select … or with …, without placeholders.",
    },
    writes: {
      code: "source.wrong-query",
      message: `${query} writes, which the session does not allow`,
      cure: "A query must only read: remove the parts that write, also functions that write, such as nextval.",
    },
  } satisfies Record<string, Words>;
};

const tlsWordsOf = ({ source, name }: Names) => {
  const database = `The database of the source ${source}`;
  const certificate = `The certificate of the database of the source ${source}`;
  return {
    "no-tls": {
      code: "source.down",
      message: `${database} offers no TLS`,
      cure: "Turn TLS on at the server. Without TLS (`connection.tls: off`), only a server on this machine is allowed.",
    },
    "tls-expired": {
      code: "source.down",
      message: `${certificate} has expired`,
      cure: "Renew the certificate at the server, and check that the clock of this machine is right.",
    },
    "tls-not-yet-valid": {
      code: "source.down",
      message: `${certificate} is not valid yet`,
      cure: "Check that the clock of this machine is right.",
    },
    "tls-other-name": {
      code: "source.down",
      message: `${certificate} has another name than ${name}`,
      cure: "Correct `connection.host`. If the server is right, set `connection.serverName` to the name in its certificate.",
    },
    "tls-unknown-authority": {
      code: "source.down",
      message: `${certificate} comes from an authority that is not trusted`,
      cure: "Set `connection.ca` to a file with the certificate of that authority (PEM).",
    },
    "tls-other": {
      code: "source.down",
      message: `${database} offers no TLS that can be trusted`,
      cure: "Look into the log of the database, and check which TLS versions it offers.",
    },
  } satisfies Record<string, Words>;
};

export type FailureKind = keyof ReturnType<typeof wordsOf> | keyof ReturnType<typeof tlsWordsOf>;

interface Failure {
  kind: FailureKind;
  name?: string | undefined;
  code?: string | undefined;
  line?: number | undefined;
  /** The database's own words. Set only if they can name nothing but parts of the query and the schema. */
  words?: string | undefined;
}

/** The driver's own error is not kept: it may quote values of rows. */
export class DatabaseFailure extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.words ?? failure.code ?? failure.kind);
    this.failure = failure;
  }
}

export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
}

export interface About {
  source: string;
  place: string;
  query?: Query | undefined;
}

/** Turns a thrown DatabaseFailure into a problem of the source. Rethrows any other error. */
export function databaseProblem(thrown: unknown, { source, place, query }: About): Problem {
  if (!(thrown instanceof DatabaseFailure)) throw thrown;
  const { kind, name = "`connection`", code, line, words } = thrown.failure;
  const where = line === undefined ? "" : `, line ${Math.max(1, line - linesBefore)} of the query,`;
  const asked = query === undefined ? "A statement of crm-sync" : `\`${query.settings}.query\`${where}`;
  const names = { source, name, query: asked };
  const all: Readonly<Record<FailureKind, Words>> = { ...wordsOf(names), ...tlsWordsOf(names) };
  const { code: problem, message, cure } = all[kind];
  const ended = `${code === undefined ? "" : ` (${code})`}${words === undefined ? "" : `: ${scrub(words)}`}`;
  return sourceProblem(problem, query?.place ?? place, `${message}${ended}.`, cure);
}

export function queryProblem({ settings, place }: Query, message: string, cure: string): Problem {
  return sourceProblem("source.wrong-query", place, `\`${settings}.query\` ${message}.`, cure);
}
