import { Hono, type MiddlewareHandler } from "hono";
import { messageOf, Problem } from "../base/errors.ts";
import { Access } from "./access/access.ts";
import type { WebDependencies, WebServer } from "../operate/health.ts";
import { dashboardRoutes } from "./dashboard.ts";
import { healthRoutes } from "./health.ts";
import { requireHost } from "./access/host.ts";
import { mayReadMetrics, metricsRoutes } from "./metrics.ts";
import type { WebEnvironment } from "./page.ts";
import { createServer as createTlsServer } from "node:https";
import { serve, type ServerType } from "@hono/node-server";
import type { Certificate } from "../operate/certificate.ts";

/** `whoAsks` replaces the check of the configuration. */
type ServedBy = WebDependencies & { whoAsks?: MiddlewareHandler<WebEnvironment> };

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

export async function startWebServer(deps: ServedBy): Promise<WebServer> {
  const access = deps.dashboard === undefined ? undefined : new Access(deps.dashboard);
  const server = await listen(routesOf(deps, access), deps);
  return {
    get url() {
      return server.url;
    },
    close: async () => {
      await server.close();
      access?.sessions.close();
    },
  };
}

const triedAgainAfterMs = 30_000;

type Served = Pick<Hono, "fetch">;
type Listening = Pick<WebDependencies, "settings" | "clock" | "logger" | "certificate" | "goesOn">;

/**
 * Listens with TLS if a certificate is configured, never without it. On failure it rejects with a Problem; with
 * `goesOn` it logs the reason and tries again.
 */
async function listen(app: Served, deps: Listening): Promise<WebServer> {
  const { host, port } = deps.settings;
  const ended = new AbortController();
  let server: ServerType | undefined;
  const begin = async (): Promise<void> => {
    server = await listenOnce(app, deps);
    if (ended.signal.aborted) await closed(server);
  };
  let trying: Promise<void> | undefined;
  try {
    await begin();
  } catch (error) {
    if (deps.goesOn !== true) throw error;
    tell(deps, error);
    trying = tryAgain(deps, ended.signal, begin);
  }
  const scheme = deps.certificate === undefined ? "http" : "https";
  return {
    get url() {
      const address = server?.address();
      const bound = typeof address === "object" && address !== null ? address.port : port;
      return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${bound}`;
    },
    close: async () => {
      ended.abort();
      await trying;
      if (server !== undefined) await closed(server);
    },
  };
}

async function tryAgain(deps: Listening, signal: AbortSignal, begin: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await deps.clock.sleep(triedAgainAfterMs, signal).catch(() => {});
    if (signal.aborted) return;
    try {
      await begin();
      deps.logger.info({ event: "web.listens" }, "the web server listens");
      return;
    } catch (error) {
      tell(deps, error);
    }
  }
}

async function listenOnce(app: Served, { settings, certificate, logger }: Listening): Promise<ServerType> {
  const { host, port } = settings;
  const own = certificate?.();
  warn(logger, own);
  const common = { fetch: app.fetch, hostname: host, port, overrideGlobalObjects: false };
  return await new Promise<ServerType>((resolve, reject) => {
    const listening =
      own === undefined
        ? serve(common, () => resolve(listening))
        : serve({ ...common, createServer: createTlsServer, serverOptions: { cert: own.cert, key: own.key } }, () =>
            resolve(listening),
          );
    listening.once("error", (cause) => {
      reject(
        new Problem({
          code: "web.cannot-listen",
          message: `The web server cannot listen on ${host}:${port} (${messageOf(cause)}).`,
          cure: "Set `serve.port` to a free port, or stop the program that uses this port.",
          cause,
        }),
      );
    });
  });
}

function warn(logger: Listening["logger"], own: Certificate | undefined): void {
  if (own?.warning === undefined) return;
  const { code, message, cure } = own.warning;
  logger.error({ event: "web.certificate", code, reason: message, cure }, "the certificate is not valid now");
}

function tell({ logger }: Listening, error: unknown): void {
  const code = error instanceof Problem ? error.code : "web.cannot-listen";
  const cure = error instanceof Problem ? error.cure : undefined;
  logger.error({ event: "web.not-served", code, reason: messageOf(error), cure }, "the web server is not reached");
}

async function closed(server: ServerType): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    if ("closeAllConnections" in server) server.closeAllConnections();
  });
}
