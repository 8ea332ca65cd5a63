import { statSync } from "node:fs";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { isLoopbackHost } from "../base/loopback.ts";
import { sessionsOf } from "./access.ts";
import type { Application } from "./application.ts";

/** Makes a link to the pages of the running program that signs `person` in as an operator, once and within a minute. */
export function loginLink(application: Application, person: string): string {
  const { host, port, pages, tls } = application.config.serve;
  if (!pages || port === 0)
    throw refused(
      pages
        ? "serve.port is 0, so nobody knows which port the pages are at"
        : "serve.pages is false: there are no pages",
      pages ? "set serve.port to a port of your choice, and start the program again" : "set serve.pages to true",
    );
  application.requireLedger();
  const owner = statSync(application.ledgerPath).uid;
  const own = process.geteuid?.();
  // What another user made beside the ledger, the program could not use any more.
  if (own !== undefined && own !== owner)
    throw refused("the ledger belongs to another user", "run it as the user that runs `crm-sync serve`");
  const sessions = sessionsOf(application, application.clock);
  try {
    const token = sessions.makeLink(person);
    const isAny = host === "0.0.0.0" || host === "::" || isLoopbackHost(host);
    const name = isAny ? (host === "::1" ? "[::1]" : "localhost") : host.includes(":") ? `[${host}]` : host;
    return `${tls === undefined ? "http" : "https"}://${name}:${port}/login/link/${token}`;
  } catch (error) {
    throw refused(`the file of who is signed in cannot be written (${messageOf(error)})`, "look at the disk");
  } finally {
    sessions.close();
  }
}

function refused(why: string, cure: string): Problem {
  const message = `No link was made: ${why}.`;
  return new Problem({ code: "login.refused", message, cure, exitCode: exitCodes.configuration });
}
