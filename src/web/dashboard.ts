import { Hono, type MiddlewareHandler } from "hono";
import type { Dashboard } from "../operate/dashboard.ts";
import { messageOf, Problem, Problems, usage } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import { pausedText } from "../report/status.ts";
import type { Access } from "./access/access.ts";
import { fewAtOnce } from "./access/rate-limit.ts";
import { isForm } from "./access/session.ts";
import { behindAccess } from "./access/sign-in.ts";
import { assetRoutes } from "./assets.ts";
import { notFoundPage, problemPage } from "./frame.ts";
import type { Page, WebEnvironment } from "./page.ts";
import { planPage } from "./pages/plan.ts";
import { runsPage, sourcePage } from "./pages/runs.ts";
import { customerPage, personPage } from "./pages/customer.ts";
import { orderPage } from "./pages/order.ts";
import { pausePage } from "./pages/pause.ts";
import { searchPage } from "./pages/search.ts";
import { alertsPage } from "./pages/alerts.ts";
import { assumptionsPage } from "./pages/assumptions.ts";
import { auditPage } from "./pages/audit.ts";
import { quarantinePage } from "./pages/quarantine.ts";
import { reportsPage } from "./pages/reports.ts";
import { settlePage } from "./pages/settle.ts";
import { todayPage } from "./pages/today.ts";
import { secureHeaders } from "hono/secure-headers";

const pages: readonly Page[] = [
  alertsPage,
  assumptionsPage,
  auditPage,
  customerPage,
  orderPage,
  pausePage,
  personPage,
  planPage,
  quarantinePage,
  reportsPage,
  runsPage,
  searchPage,
  settlePage,
  sourcePage,
  todayPage,
];

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;").replaceAll("'", "&#39;");
}

function withSuggestions(dashboard: Dashboard): MiddlewareHandler<WebEnvironment> {
  return async (context, next) => {
    await next();
    const { res } = context;
    if (context.get("isSandboxed") === true || res.headers.get("content-type")?.startsWith("text/html") !== true)
      return;
    const page = dashboard.application.suggested(await res.text(), escaped);
    context.res = context.newResponse(page, res);
  };
}

/** The pages behind one check of who asks. A failing page is logged and stops nothing else. */
export function dashboardRoutes(
  dashboard: Dashboard,
  logger: Logger,
  whoAsks: MiddlewareHandler<WebEnvironment> | Access,
): Hono<WebEnvironment> {
  const routes = new Hono<WebEnvironment>();
  routes.use(securityHeaders());
  routes.route("/", assetRoutes());
  routes.use(async (context, next) => {
    context.set("pausedLine", async () => {
      const paused = await dashboard.read(async (inquiry) => inquiry.paused());
      return paused && pausedText(paused, { terminal: false, zone: dashboard.application.config.zone });
    });
    await next();
  });
  routes.use(typeof whoAsks === "function" ? whoAsks : behindAccess(routes, whoAsks));
  routes.use(async (context, next) => {
    await next();
    if (!context.res.headers.has("cache-control")) context.header("cache-control", "no-store");
  });
  routes.use(withSuggestions(dashboard));
  routes.use(fewAtOnce());
  routes.use(formsAlone());
  routes.get("/", (context) => context.redirect("/today", 303));
  for (const page of pages) page(routes, dashboard);
  routes.all("*", (context) => notFoundPage(context));
  routes.onError((error, context) => {
    if (error instanceof Problem || error instanceof Problems) return problemPage(context, error);
    logger.error({ event: "web.failed", route: context.req.routePath, reason: messageOf(error) }, "a page failed");
    return context.text("This page failed; the log of the program says why. Nothing else is harmed.\n", 500);
  });
  return routes;
}

/** A statement has its own style. It has no origin, and can neither send nor load. */
const statementPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/** Pages load only from this server, appear in no other site's frame, and are not cached. */
export function securityHeaders(): MiddlewareHandler<WebEnvironment> {
  const own = ["'self'"];
  const none = ["'none'"];
  const headers = secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: none,
      styleSrc: own,
      scriptSrc: own,
      imgSrc: own,
      connectSrc: own,
      formAction: own,
      baseUri: none,
      frameAncestors: none,
    },
    xFrameOptions: "DENY",
    // With no-referrer, browsers would also hide that a form came from our pages.
    referrerPolicy: "same-origin",
    crossOriginOpenerPolicy: "same-origin",
    crossOriginResourcePolicy: "same-origin",
    strictTransportSecurity: false,
    permissionsPolicy: { camera: [], microphone: [], geolocation: [] },
  });
  return async (context, next) => {
    await headers(context, next);
    if (context.var.isSandboxed === true) context.header("content-security-policy", statementPolicy);
  };
}

function formsAlone(): MiddlewareHandler<WebEnvironment> {
  return async (context, next) => {
    const type = context.req.header("content-type");
    if (type === undefined || isForm(type)) return await next();
    return await problemPage(
      context,
      usage("The request is not a form of these pages.", "Open the page again and send it from there."),
    );
  };
}
