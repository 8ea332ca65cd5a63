import { Hono } from "hono";
import type { MiddlewareHandler } from "hono";
import { messageOf } from "../base/errors.ts";
import { Access } from "./access/access.ts";
import type { WebDependencies, WebServer } from "../operate/health.ts";
import { dashboardRoutes } from "./dashboard.ts";
import { healthRoutes } from "./health.ts";
import { listen } from "./listen.ts";
import { requireHost } from "./access/host.ts";
import { mayReadMetrics } from "./access/metrics-reader.ts";
import { metricsRoutes } from "./metrics.ts";
import type { WebEnvironment } from "./page.ts";

/** `whoAsks`: says it in the place of what the configuration permits. */
type ServedBy = WebDependencies & { whoAsks?: MiddlewareHandler<WebEnvironment> };

/** Everything that the server answers: what machines ask, and the pages where there are any. */
function routesOf(deps: ServedBy, access: Access | undefined): Hono<WebEnvironment> {
  const app = new Hono<WebEnvironment>();
  if (access !== undefined) app.use("/metrics", mayReadMetrics(access)).use("/healthz", requireHost(access));
  app.route("/", healthRoutes(deps));
  if (deps.measured !== undefined) app.route("/", metricsRoutes(deps.measured));
  if (deps.dashboard !== undefined && access?.settings.pages === true)
    app.route("/", dashboardRoutes(deps.dashboard, deps.logger, deps.whoAsks ?? access));
  app.notFound((context) => context.json({ error: "not found", paths: ["/livez", "/healthz", "/metrics"] }, 404));
  app.onError((error, context) => {
    deps.logger.error({ event: "web.failed", reason: messageOf(error) }, "a request failed");
    return context.json({ error: "internal error" }, 500);
  });
  return app;
}

/** Listens at the configured address. Rejects with a Problem when the port is taken, unless the program goes on. */
export async function startWebServer(deps: ServedBy): Promise<WebServer> {
  const access = deps.dashboard === undefined ? undefined : new Access(deps.dashboard);
  const server = await listen(routesOf(deps, access), deps);
  return {
    get url() {
      return server.url;
    },
    get isListening() {
      return server.isListening;
    },
    close: async () => {
      await server.close();
      access?.sessions.close();
    },
  };
}
