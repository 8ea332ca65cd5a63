import { statSync } from "node:fs";
import type { Clock } from "../base/clock.ts";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { isLoopbackHost } from "../base/loopback.ts";
import { Sessions } from "../ledger/sessions/sessions.ts";
import type { Application } from "./application.ts";

/** Signs in a user of this machine as an operator, once, within a minute. A certificate belongs to a network name. */
export function loginLink(application: Application, user: string): string {
  const { port, host, publicUrl, pages, tls } = application.config.serve;
  if (!pages || port === 0)
    throw refused(
      pages ? "serve.port is 0, so the port of the pages is not known" : "serve.pages is false, so there are no pages",
      pages ? "set serve.port to a port of your choice, and start the program again" : "set serve.pages to true",
    );
  application.requireLedger();
  const owner = statSync(application.ledgerPath).uid;
  const own = process.geteuid?.();
  // The program could not use files that another user creates beside the ledger.
  if (own !== undefined && own !== owner)
    throw refused("the ledger belongs to another user", "run `crm-sync login` as the user that runs `crm-sync serve`");
  const sessions = sessionsOf(application, application.clock);
  try {
    const path = `/login/link/${sessions.makeLink(user)}`;
    if (tls === undefined) return `http://${sessions.own().name}:${port}${path}`;
    if (publicUrl !== undefined) return `${new URL(publicUrl).origin}${path}`;
    const isAny = host === "0.0.0.0" || host === "::" || isLoopbackHost(host);
    const name = isAny ? sessions.own().name : host.includes(":") ? `[${host}]` : host;
    return `https://${name}:${port}${path}`;
  } catch (error) {
    throw refused(`the file of sign-ins cannot be written (${messageOf(error)})`, "check the disk");
  } finally {
    sessions.close();
  }
}

function refused(why: string, cure: string): Problem {
  const message = `No sign-in link was made: ${why}.`;
  return new Problem({ code: "login.refused", message, cure, exitCode: exitCodes.configuration });
}

export function sessionsOf(application: Application, clock: Clock): Sessions {
  return new Sessions({
    path: `${application.ledgerPath}.sessions`,
    clock,
    random: application.random,
    anew: (why) =>
      application.logger.warn(
        { event: "sessions.anew", why },
        "the file of who is signed in was made anew: everybody signs in again",
      ),
  });
}
