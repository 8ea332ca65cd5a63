import { secureHeaders } from "hono/secure-headers";
import type { MiddlewareHandler } from "hono";

/** Everything on a page comes from this server; nothing of it stands in another site's frame, and nothing is kept. */
export function securityHeaders(): MiddlewareHandler {
  const own = ["'self'"];
  const none = ["'none'"];
  return secureHeaders({
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
}
