import { secureHeaders } from "hono/secure-headers";
import type { MiddlewareHandler } from "hono";
import type { WebEnvironment } from "./page.ts";

/** A statement brings its style with it, and the hash of that; it is of no origin, and can neither send nor load. */
const statementPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/** Everything on a page comes from this server; nothing of it stands in another site's frame, and nothing is kept. */
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
    // With no-referrer a browser would not say either that a form was sent from one of our pages.
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
