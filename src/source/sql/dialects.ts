import { resolve } from "node:path";
import { readRegular } from "../../base/regular-file.ts";
import type { Clock } from "../../base/clock.ts";
import { credentialOf } from "../../http/secrets.ts";
import { messageOf } from "../../base/errors.ts";
import { sourceProblem } from "../problems.ts";
import type { Dialect, Server, SessionLimits } from "./dialect.ts";
import type { About } from "./failures.ts";
import { holdsCertificates } from "./tls.ts";
import type { SqlConnection, ServerConnection } from "./sql-source-settings.ts";

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
    case "mysql": {
      const { mysql } = await import("./mysql.ts");
      return mysql(await serverOf(connection, deps), limits);
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
