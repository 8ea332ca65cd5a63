import { serve } from "@hono/node-server";
import type { ServerType } from "@hono/node-server";
import { Hono } from "hono";
import type { MiddlewareHandler } from "hono";
import { messageOf, Problem } from "../base/errors.ts";
import type { WebDependencies, WebServer } from "../app/health.ts";
import { dashboardRoutes } from "./dashboard.ts";
import { healthRoutes } from "./health.ts";
import { metricsRoutes } from "./metrics.ts";
import type { WebEnvironment } from "./page.ts";

/** `whoAsks`: says it in the place of what the configuration permits. */
type ServedBy = WebDependencies & { whoAsks?: MiddlewareHandler<WebEnvironment> };

/** Everything that the server answers: what machines ask, and the pages where there are any. */
function routesOf(deps: ServedBy): Hono {
  const app = new Hono();
  app.route("/", healthRoutes(deps));
  if (deps.measured !== undefined) app.route("/", metricsRoutes(deps.measured));
  if (deps.dashboard !== undefined) app.route("/", dashboardRoutes(deps.dashboard, deps.logger, deps.whoAsks));
  app.notFound((context) => context.json({ error: "not found", paths: ["/livez", "/healthz", "/metrics"] }, 404));
  app.onError((error, context) => {
    deps.logger.error({ event: "web.failed", reason: messageOf(error) }, "a request failed");
    return context.json({ error: "internal error" }, 500);
  });
  return app;
}

/** Listens at the configured address. Rejects with a Problem when the port is taken. */
export async function startWebServer(deps: ServedBy): Promise<WebServer> {
  const app = routesOf(deps);
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
