import type { MiddlewareHandler } from "hono";
import { onTestFinished } from "vitest";
import { sessionsOf } from "../../src/operate/login-link.ts";
import { openApplication } from "../../src/app/application.ts";
import type { Application } from "../../src/operate/application.ts";
import { createDashboard, type FireTimes } from "../../src/operate/dashboard.ts";
import { toInstant, type Clock } from "../../src/base/clock.ts";
import { nextFireTime } from "../../src/operate/fire-times.ts";
import type { Person } from "../../src/web/access/person.ts";
import { dashboardRoutes } from "../../src/web/dashboard.ts";
import type { WebEnvironment } from "../../src/web/page.ts";
import { startWebServer } from "../../src/web/server.ts";
import { environmentAt, type Place } from "./program.ts";

/** The pages of a ledger as somebody gets them, with what the program logs of it. */
export interface ServedPages {
  url: string;
  /** The own name of the pages on this machine. */
  host: string;
  logged: string[];
  /** Every method and path that the pages answer. */
  routes: { method: string; path: string }[];
  /** Ends it before the test does. */
  close(): Promise<void>;
}

/** Serves the pages to somebody who is signed in already, or to `whoever` comes as the configuration says. */
export async function servePages(place: Place, asking: Person | "whoever"): Promise<ServedPages> {
  const logged: string[] = [];
  const face = { log: undefined, wholeLog: { write: (line: string) => void logged.push(line) }, progress: () => {} };
  const { config, sandbox } = place;
  const application = await openApplication({ config, sandbox }, environmentAt(place), face);
  const ended = new AbortController();
  const dashboard = createDashboard({
    application,
    fireTimes: async () => firesNext(application),
    signal: ended.signal,
  });
  const { clock, logger } = application;
  const server = await startWebServer({
    settings: { host: "127.0.0.1", port: 0 },
    clock,
    logger,
    dashboard,
    ...(asking === "whoever" ? {} : { whoAsks: as(asking) }),
  });
  let open = true;
  const close = async (): Promise<void> => {
    if (!open) return;
    open = false;
    ended.abort();
    await server.close();
    dashboard.close();
    await application.close();
  };
  onTestFinished(close);
  const { routes } = dashboardRoutes(dashboard, logger, as(operator));
  return {
    url: server.url,
    host: ownName(application, clock),
    logged,
    routes: routes.filter(({ path }) => !path.includes("*")).map(({ method, path }) => ({ method, path })),
    close,
  };
}

export const operator: Person = {
  name: "anna.lee",
  way: "proxy",
  issuer: "proxy.example",
  subject: "id-anna",
  role: "decide",
  mayAskForPrivate: true,
};

function ownName(application: Application, clock: Clock): string {
  const sessions = sessionsOf(application, clock);
  const { name } = sessions.own();
  sessions.close();
  return name;
}

/** Whoever asks is this person, with a token that every form bears. */
function as(person: Person): MiddlewareHandler<WebEnvironment> {
  return async (context, next) => {
    context.set("person", person);
    context.set("csrf", "token");
    context.set("isStillIn", async () => true);
    context.set("refuse", (needed) => Promise.resolve(context.text(`needs ${needed}`, 403)));
    await next();
  };
}

/** As the daemon would fire them. */
function firesNext(application: Application): FireTimes[] {
  return application.jobs().map(({ id, schedule }) => {
    const next =
      schedule === undefined ? undefined : nextFireTime(schedule.cron, schedule.zone, application.clock.now());
    const nextTime = next === undefined ? undefined : toInstant(next);
    return { job: id, nextFireTime: nextTime, running: false };
  });
}
