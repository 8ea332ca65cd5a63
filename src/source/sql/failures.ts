import type { Problem } from "../../base/errors.ts";
import { scrub } from "../../http/redaction.ts";
import { sourceProblem, type SourceProblemCode } from "../problems.ts";
import { DatabaseFailure, tlsFailure, type Failure, type TlsFault } from "./dialect.ts";
import { linesBefore, queryProblem, type Query } from "./query.ts";

const down = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EHOSTDOWN",
  "ENOENT",
  "EACCES",
]);
const lost = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED"]);

/**
 * What went wrong between this machine and the server; undefined where it was something else. What ends while the
 * connection is made has not been there.
 */
export function networkFailure(thrown: unknown, connecting: boolean): Failure | undefined {
  const code = codeOf(thrown);
  if (down.has(code)) return { kind: "down", code };
  if (lost.has(code)) return { kind: connecting ? "down" : "lost", code };
  return tlsFailure(thrown);
}

/** The code of a thrown error; empty where it has none. */
export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
}

/** What a problem is about. */
export interface About {
  /** Name of the source. */
  source: string;
  /** Where its settings stand in the configuration. */
  place: string;
  /** The query that was on, where there was one. */
  query?: Query | undefined;
}

interface Words {
  code: SourceProblemCode;
  message: string;
  cure: string;
}

/** Anything that a dialect threw, as a problem of the source; what was no failure of a database is thrown again. */
export function databaseProblem(thrown: unknown, about: About): Problem {
  if (!(thrown instanceof DatabaseFailure)) throw thrown;
  const { failure } = thrown;
  const { query } = about;
  const code = failure.code === undefined ? "" : ` (${failure.code})`;
  if (query !== undefined && (failure.kind === "query" || failure.kind === "writes")) {
    const line = failure.line === undefined ? undefined : Math.max(1, failure.line - linesBefore);
    const words = failure.words === undefined ? "" : `: ${scrub(failure.words)}`;
    return failure.kind === "writes"
      ? queryProblem(
          query,
          line,
          `writes, which the session does not allow${code}`,
          "A query must only read: remove the parts that write, also functions that write, such as nextval.",
        )
      : queryProblem(query, line, `is refused by the database${code}${words}`, "Correct the query.");
  }
  const { code: problem, message, cure } = wordsOf(failure, about);
  return sourceProblem(problem, query?.place ?? about.place, `${message}${code}.`, cure);
}

/** In one piece: a sentence for each kind. */
function wordsOf(failure: Failure, { source, query }: About): Words {
  const { kind, name } = failure;
  const of = query === undefined ? `the source ${source}` : `\`${query.settings}.query\``;
  const database = `The database of the source ${source}`;
  switch (kind) {
    case "missing":
      return {
        code: "source.missing-file",
        message: `${database} is missing${name === undefined ? "" : `: there is no file ${name}`}`,
        cure: "Correct `connection.file`.",
      };
    case "down":
      return {
        code: "source.down",
        message: `${database} cannot be reached`,
        cure: "Check that the database runs and can be reached from here, and that `connection` is right.",
      };
    case "lost":
      return {
        code: "source.down",
        message: `The connection to the database of the source ${source} was lost`,
        cure: "The next run reads it again. If this happens again, look into the log of the database.",
      };
    case "login":
      return {
        code: "source.wrong-password",
        message: `${database} does not let us in`,
        cure: "Correct `user`, `password` and `database` in `connection`, or let the server accept this machine.",
      };
    case "tls":
      return { code: "source.down", ...tlsWords(failure, source) };
    case "forbidden":
      return {
        code: "source.refused",
        message: `The user of ${of} may not read a table of the query`,
        cure: "Give that user the right to read the table.",
      };
    case "timed-out":
      return {
        code: "source.timed-out",
        message: `${of.startsWith("the") ? "A statement of " : ""}${of} took longer than \`statementTimeout\``,
        cure: "Raise `statementTimeout`, or make the query quicker.",
      };
    case "row":
      return {
        code: "source.half-read",
        message: `${of} failed at a row of its result`,
        cure: "Run the query directly on the database to find the row. Then correct the query or the row.",
      };
    case "query":
    case "writes":
      return {
        code: "source.wrong-query",
        message: `${database} refuses the query`,
        cure: "Read the reason in the log of the database, then correct the query.",
      };
  }
}

function tlsWords({ tls = "other", name = "`connection`" }: Failure, source: string): Omit<Words, "code"> {
  const [what, cure] = tlsFaults[tls];
  return { message: what.replace("SOURCE", source).replace("NAME", name), cure };
}

const certificate = "The certificate of the database of the source SOURCE";
const clock = "check that the clock of this machine is right.";

/** What is wrong with TLS, and what helps. */
const tlsFaults: Readonly<Record<TlsFault, readonly [string, string]>> = {
  "none-offered": [
    "The database of the source SOURCE offers no TLS",
    "Turn TLS on at the server. Without TLS (`connection.tls: off`), only a server on this machine is allowed.",
  ],
  expired: [`${certificate} has expired`, `Renew the certificate at the server, and ${clock}`],
  "not-yet-valid": [`${certificate} is not valid yet`, `C${clock.slice(1)}`],
  "other-name": [
    `${certificate} has another name than NAME`,
    "Correct `connection.host`. If the server is right, set `connection.serverName` to the name in its certificate.",
  ],
  "unknown-authority": [
    `${certificate} comes from an authority that is not trusted`,
    "Set `connection.ca` to a file with the certificate of that authority (PEM).",
  ],
  other: [
    "The database of the source SOURCE offers no TLS that can be trusted",
    "Look into the log of the database, and check which TLS versions it offers.",
  ],
};
