import type { MiddlewareHandler } from "hono";
import { html } from "hono/html";
import { type Access, access, foreignForm, guard, isOwnRequest, toSignIn, noRole } from "./access.ts";
import { thisMachine } from "../../base/who.ts";
import type { PageContext, Routes, WebEnvironment } from "../page.ts";
import { browserOf, pathOf, signedIn, cookieOf, takeCookie, csrfOf, isSame, proofOf, giveCookie } from "./session.ts";
import { failedSignIns, type Failed } from "./rate-limit.ts";
import { barePage, refuse, unusable, type Answer } from "./refused.ts";
import { sealData, unsealData } from "iron-session";
import * as openid from "openid-client";
import { z } from "zod";
import { messageOf } from "../../base/errors.ts";
import type { AccessSettings } from "../../config/access-settings.ts";
import { fetchOverAgent, timeoutMs } from "./assertion.ts";
import { isSubject, personIn } from "./person.ts";

const token = "[0-9a-f]{64}";

/** Adds the paths by which people sign in and out, and says who asks for every other. */
export function behindAccess(routes: Routes, deps: Access): MiddlewareHandler<WebEnvironment> {
  for (const one of guard(deps)) routes.use(one);
  const failed = failedSignIns(deps);
  registerSignIn(routes, deps, failed);
  return access(deps, failed);
}

function registerSignIn(routes: Routes, deps: Access, failed: Failed): void {
  for (const path of ["/login", "/login/*", "/logout"])
    routes.use(path, async (context, next) => {
      if (!context.var.place.takesCookies) return await toSignIn(context, deps);
      return await next();
    });
  routes.get("/login", (context) => signInPage(context, deps));
  registerLink(routes, deps, failed);
  registerProvider(routes, deps, failed);
  routes.post("/logout", async (context) => {
    const held = cookieOf(context, "session");
    const session = held === undefined ? undefined : deps.tried(() => deps.session(held));
    if (held !== undefined && session !== undefined) {
      if (!isOwnRequest(context, deps) || !isSame(await csrfOf(context), session.csrf)) return foreignForm(context);
      deps.tried(() => deps.sessions.end(held));
    }
    takeCookie(context, "session");
    return context.redirect("/login", 303);
  });
}

function registerLink(routes: Routes, deps: Access, failed: Failed): void {
  const path = `/login/link/:token{${token}}`;
  routes.get(path, (context) => {
    const csrf = browserProof(context, deps);
    if (csrf === undefined) return unusable(context);
    // A program that only looks at links must not use it up.
    const body = html`<form method="post">
      <input type="hidden" name="csrf" value="${csrf}" />
      <p>This link signs in once, within a minute of when it was made.</p>
      <button>Sign in</button>
    </form>`;
    return barePage(context, { title: "Sign in", body });
  });
  routes.post(path, async (context) => {
    if (!(await isOurSignIn(context, deps))) return await failed(context, () => foreignForm(context));
    const user = deps.tried(() => deps.sessions.useLink(context.req.param("token")));
    if (user === undefined)
      return await failed(context, () =>
        refuse(context, 403, {
          code: "link-over",
          text: "This sign-in link was used before, or is older than a minute.",
          cure: "Run `crm-sync login` again and open the new link.",
        }),
      );
    const who = { name: user, way: "link", issuer: thisMachine, subject: user } as const;
    return signedIn(context, deps, { ...who, role: "decide", path: "/" });
  });
}

/** What a form of signing in bears in this browser; `undefined` where it cannot be made. */
function browserProof(context: PageContext, deps: Access): string | undefined {
  const browser = browserOf(context);
  const key = deps.own()?.key;
  return key === undefined ? undefined : proofOf(key, "sign-in", browser);
}

/** Whether a log-in was begun on our own page in this browser: nobody is to be signed in as somebody else unseen. */
async function isOurSignIn(context: PageContext, deps: Access): Promise<boolean> {
  const browser = cookieOf(context, "browser");
  const key = deps.own()?.key;
  if (browser === undefined || key === undefined || !isOwnRequest(context, deps)) return false;
  return isSame(await csrfOf(context), proofOf(key, "sign-in", browser));
}

function signInPage(context: PageContext, deps: Access): Answer {
  const { oidc, proxy } = deps.settings.access;
  const to = pathOf(context.req.query("to") ?? null);
  const parts = [
    ...(oidc === undefined
      ? []
      : [html`<p><a href="${providerPage(deps, to)}">Sign in at ${new URL(oidc.issuer).host}</a></p>`]),
    ...(proxy === undefined ? [] : [html`<p>People sign in at the reverse proxy before these pages.</p>`]),
    html`<p>On the machine itself, <code>crm-sync login</code> prints a link that signs in.</p>`,
  ];
  return barePage(context, { title: "Sign in", body: parts });
}

type ProviderSettings = NonNullable<AccessSettings["oidc"]>;

/** How long what a provider says of itself is believed. */
const discoveredForMs = 5 * 60_000;
/** Anybody may ask for it as often as they like. */
const unreachableForMs = 2_000;
const underWayForMs = 10 * 60_000;

/** A sign-in under way; the browser that began it holds it, sealed, and no other can end it. */
const underWaySchema = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** Where the person wanted to go. */
  path: z.string(),
  begunAt: z.number(),
});
type UnderWay = z.output<typeof underWaySchema>;

/**
 * Signing in at an OpenID provider: by a code, with PKCE, a state and a nonce, and an ID token whose signature holds.
 */
function registerProvider(routes: Routes, deps: Access, failed: Failed): void {
  const configured = discovery(deps);
  routes.get("/login/oidc", async (context) => {
    const { oidc } = deps.settings.access;
    if (oidc === undefined) return await notConfigured(context);
    const password = passwordOf(deps);
    if (password === undefined) return await unusable(context);
    try {
      const provider = await configured(oidc);
      const begun: UnderWay = {
        state: openid.randomState(),
        nonce: openid.randomNonce(),
        verifier: openid.randomPKCECodeVerifier(),
        path: pathOf(context.req.query("to") ?? null),
        begunAt: deps.clock.now(),
      };
      const url = openid.buildAuthorizationUrl(provider, {
        redirect_uri: redirectUri(deps).href,
        scope: [...new Set(["openid", ...oidc.scopes])].join(" "),
        state: begun.state,
        nonce: begun.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(begun.verifier),
        code_challenge_method: "S256",
      });
      // How old it is, is told by the clock of the program.
      const sealed = await sealData(begun, { password, ttl: 0 });
      giveCookie(context, "underWay", sealed, { maxAge: underWayForMs / 1_000 });
      context.header("cache-control", "no-store");
      return context.redirect(url.href, 303);
    } catch (error) {
      return await failed(context, () => refusedAnswer(context, deps, error));
    }
  });
  routes.get("/login/oidc/callback", async (context) => {
    const { oidc } = deps.settings.access;
    if (oidc === undefined) return await notConfigured(context);
    const begun = await underWay(context, deps);
    takeCookie(context, "underWay");
    const [state, ...more] = new URL(context.req.url).searchParams.getAll("state");
    if (begun === undefined || begun.state !== state || more.length > 0)
      return await failed(context, () => signInOver(context));
    try {
      const claims = await claimsOf(context, deps, await configured(oidc), begun);
      const { name, role } = personIn(claims, oidc);
      if (role === undefined) return await noRole(context, name);
      const who = { name, way: "oidc", issuer: oidc.issuer, subject: claims.sub } as const;
      return await signedIn(context, deps, { ...who, role, path: begun.path });
    } catch (error) {
      return await failed(context, () => refusedAnswer(context, deps, error));
    }
  });
}

/** The sign-in that this browser began, as long as it is not over. */
async function underWay(context: PageContext, deps: Access): Promise<UnderWay | undefined> {
  const [sealed, password] = [cookieOf(context, "underWay"), passwordOf(deps)];
  if (sealed === undefined || password === undefined) return undefined;
  const read = underWaySchema.safeParse(await unsealData(sealed, { password, ttl: 0 }));
  if (!read.success) return undefined;
  const age = deps.clock.now() - read.data.begunAt;
  return age >= -60_000 && age <= underWayForMs ? read.data : undefined;
}

function passwordOf(deps: Access): string | undefined {
  const key = deps.own()?.key;
  return key === undefined ? undefined : proofOf(key, "oidc");
}

async function claimsOf(
  context: PageContext,
  deps: Access,
  provider: openid.Configuration,
  { state, nonce, verifier }: UnderWay,
): Promise<openid.IDToken> {
  const callback = redirectUri(deps);
  callback.search = new URL(context.req.url).search;
  const tokens = await openid.authorizationCodeGrant(provider, callback, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (claims === undefined || !isSubject(claims.sub)) throw new NoSubject("the ID token names nobody");
  return claims;
}

class NoSubject extends Error {}

/** The provider as it describes itself; that is asked again after a while, and once for all who wait for it. */
function discovery(deps: Access): (oidc: ProviderSettings) => Promise<openid.Configuration> {
  let known: { issuer: string; until: number; server: Promise<openid.ServerMetadata> } | undefined;
  return async (oidc) => {
    const { issuer, clientId, clientSecret } = oidc;
    const secret = clientSecret === undefined ? undefined : deps.secret(clientSecret).trim();
    const authentication = secret === undefined ? openid.None() : openid.ClientSecretPost(secret);
    const metadata = {
      // The library reads the clock of the machine.
      [openid.clockSkew]: Math.round((deps.clock.now() - Date.now()) / 1_000),
      [openid.clockTolerance]: 30,
    };
    // The settings let plain http pass for this machine alone.
    const insecure = issuer.startsWith("http:") ? [openid.allowInsecureRequests] : [];
    const execute = [...insecure, openid.enableNonRepudiationChecks];
    const now = deps.clock.monotonic();
    if (known?.issuer !== issuer || now >= known.until) {
      const options = { execute, timeout: timeoutMs / 1_000, [openid.customFetch]: fetchOverAgent };
      const found = openid.discovery(new URL(issuer), clientId, metadata, authentication, options);
      const own = { issuer, until: Infinity, server: found.then((one) => one.serverMetadata()) };
      const isFor = (ms: number) => () => (own.until = deps.clock.monotonic() + ms);
      own.server.then(isFor(discoveredForMs), isFor(unreachableForMs));
      known = own;
    }
    const provider = new openid.Configuration(await known.server, clientId, metadata, authentication);
    provider.timeout = timeoutMs / 1_000;
    provider[openid.customFetch] = fetchOverAgent;
    for (const apply of execute) apply(provider);
    return provider;
  };
}

/** Where a sign-in at the provider begins: under the name that it sends people back to, or it could not end. */
function providerPage(deps: Access, to: string): string {
  const page = new URL("../oidc", redirectUri(deps));
  page.searchParams.set("to", to);
  return page.href;
}

function redirectUri({ settings }: Access): URL {
  return new URL(`${(settings.publicUrl ?? "").replace(/\/+$/u, "")}/login/oidc/callback`);
}

function signInOver(context: PageContext): Answer {
  return refuse(context, 403, {
    code: "sign-in-over",
    text: "This sign-in was started in another browser, has ended, or took longer than ten minutes.",
    cure: "Begin again at /login.",
  });
}

function notConfigured(context: PageContext): Answer {
  return refuse(context, 400, {
    code: "no-provider",
    text: "No OpenID provider is configured.",
    cure: "Sign in at /login in another way.",
  });
}

/** What the provider said and could not be believed, and not that it said nothing. */
function isRefusal(error: unknown): boolean {
  if (error instanceof openid.ClientError)
    return error.code !== undefined && error.code !== "OAUTH_TIMEOUT" && error.code !== "OAUTH_ABORT";
  return [
    NoSubject,
    openid.AuthorizationResponseError,
    openid.ResponseBodyError,
    openid.WWWAuthenticateChallengeError,
  ].some((kind) => error instanceof kind);
}

/** The log says what did not hold; nothing of what the provider wrote is repeated. */
function refusedAnswer(context: PageContext, deps: Access, error: unknown): Answer {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const reason = isRefusal(error) ? code : messageOf(error);
  deps.logger.warn({ event: "access.provider", code, reason }, "nobody was signed in by the OpenID provider");
  if (isRefusal(error))
    return refuse(context, 403, {
      code: "provider-refused",
      text: "You were not signed in: crm-sync could not accept the answer of the OpenID provider.",
      cure: "Begin again at /login. If it fails again, ask the operator: the log of crm-sync has the reason.",
    });
  return refuse(context, 502, {
    code: "provider-unreachable",
    text: "You were not signed in: the OpenID provider gave no usable answer.",
    cure: "Try again in a moment. If it fails again, ask the operator: the log of crm-sync has the reason.",
  });
}
