import { serve } from "@hono/node-server";
import type { ServerType } from "@hono/node-server";
import { Hono } from "hono";
import { toInstant } from "../base/clock.ts";
import { messageOf, Problem } from "../base/errors.ts";
import type { Health, HealthDependencies, HealthServer } from "../app/health.ts";

/**
 * `/livez`: 200 as long as the program answers. `/healthz`: 200 when the ledger can be read and every circuit is
 * closed, else 503; `wrong` in the body says what is wrong, also work that is not done. What waits for a person does
 * not make the program ill: that alone is no 503.
 */
export function healthRoutes(deps: HealthDependencies): Hono {
  const app = new Hono();
  const started = deps.clock.monotonic();
  app.use(async (context, next) => {
    await next();
    context.header("cache-control", "no-store");
    context.header("x-content-type-options", "nosniff");
  });
  app.get("/livez", (context) => context.json({ alive: true, upMs: Math.round(deps.clock.monotonic() - started) }));
  app.get("/healthz", async (context) => {
    const at = toInstant(deps.clock.now());
    try {
      const health = await inTime(deps.read(), deps.readTimeoutMs ?? 5_000);
      const ill = complaints(health);
      const wrong = [...ill, ...notDone(health)];
      return context.json({ healthy: wrong.length === 0, at, wrong, ...health }, ill.length === 0 ? 200 : 503);
    } catch (thrown) {
      const code = thrown instanceof Problem ? thrown.code : "ledger.unreachable";
      deps.logger.error({ event: "health.unreadable", code, reason: messageOf(thrown) }, "the state could not be read");
      return context.json({ healthy: false, at, wrong: [code], ledger: { reachable: false } }, 503);
    }
  });
  app.notFound((context) => context.json({ error: "not found", paths: ["/livez", "/healthz"] }, 404));
  app.onError((error, context) => {
    deps.logger.error({ event: "web.failed", reason: messageOf(error) }, "a request failed");
    return context.json({ error: "internal error" }, 500);
  });
  return app;
}

function complaints(health: Health): string[] {
  const open = Object.entries(health.breakers).filter(([, state]) => state === "open");
  return [
    ...(health.ledger.reachable ? [] : ["ledger.unreachable"]),
    ...open.map(([service]) => `breaker.open:${service}`),
    ...health.jobs.filter((job) => job.clockBehind === true).map((job) => `clock.behind:${job.job}`),
  ];
}

/** Work that is not done, with its count: the same that exit codes, `status` and alerts speak of. */
function notDone({ open }: Health): string[] {
  return [
    ...(open.unknown === 0 ? [] : [`operations.unknown:${open.unknown}`]),
    ...(open.holds === 0 ? [] : [`holds.open:${open.holds}`]),
    ...open.runs,
    ...open.streams.map((stream) => `source.incomplete:${stream}`),
    ...(open.deliveries ?? []),
    ...open.records.map((row) => `records.${row.standing}:${row.stream}:${row.code}:${row.count}`),
  ];
}

async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const message = `The state could not be read within ${ms} ms.`;
      reject(new Problem({ code: "ledger.slow", message, cure: "Look at the disk and at what else uses it." }));
    }, ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Listens at the configured address. Rejects with a Problem when the port is taken. */
export async function startHealthServer(deps: HealthDependencies): Promise<HealthServer> {
  const app = healthRoutes(deps);
  const { host, port } = deps.settings;
  const server = await new Promise<ServerType>((resolve, reject) => {
    const listening = serve({ fetch: app.fetch, hostname: host, port, overrideGlobalObjects: false }, () =>
      resolve(listening),
    );
    listening.once("error", (cause) => {
      reject(
        new Problem({
          code: "web.cannot-listen",
          message: `The web server cannot listen on ${host}:${port} (${messageOf(cause)}).`,
          cure: "Set `serve.port` to a free port, or stop what uses it.",
          cause,
        }),
      );
    });
  });
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ("closeAllConnections" in server) server.closeAllConnections();
      }),
  };
}
