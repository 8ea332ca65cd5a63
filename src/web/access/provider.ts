import type { Context, Hono } from "hono";
import * as oauth from "oauth4webapi";
import { Agent, fetch } from "undici";
import type { Access } from "../../app/access.ts";
import { messageOf } from "../../base/errors.ts";
import type { AccessSettings } from "../../config/access-settings.ts";
import type { WebEnvironment } from "../page.ts";
import { noRole, tried } from "./access.ts";
import { browserOf, pathOf, signedIn, unusable } from "./begin-session.ts";
import { cookieOf } from "./cookies.ts";
import { mostOf } from "./person.ts";
import { refuse } from "./refused.ts";
import type { Answer } from "./refused.ts";

type ProviderSettings = NonNullable<AccessSettings["oidc"]>;

const timeoutMs = 10_000;
/** How long what a provider says of itself is believed. */
const discoveredForMs = 5 * 60_000;
const agent = new Agent({ connections: 4, maxResponseSize: 1024 * 1024, connect: { timeout: timeoutMs } });
const longestName = 100;

/**
 * Signing in at an OpenID provider: by a code, with PKCE, a state and a nonce, and an ID token whose signature holds.
 */
export function registerProvider(routes: Hono<WebEnvironment>, deps: Access): void {
  const discover = discovery(deps);
  routes.get("/login/oidc", async (context) => {
    const { oidc } = deps.settings.access;
    if (oidc === undefined) return notConfigured(context);
    try {
      const server = await discover(oidc);
      const [nonce, verifier] = [oauth.generateRandomNonce(), oauth.generateRandomCodeVerifier()];
      const browser = browserOf(context, deps);
      const path = pathOf(context.req.query("to") ?? null);
      const state = tried(deps, () => deps.sessions.beginSignIn({ browser, nonce, verifier, path }));
      if (state === undefined) return unusable(context);
      const url = new URL(server.authorization_endpoint ?? "");
      const asked = {
        client_id: oidc.clientId,
        response_type: "code",
        redirect_uri: redirectUri(deps),
        scope: [...new Set(["openid", ...oidc.scopes])].join(" "),
        state,
        nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      };
      for (const [key, value] of Object.entries(asked)) url.searchParams.set(key, value);
      context.header("cache-control", "no-store");
      return context.redirect(url.href, 303);
    } catch (error) {
      return refusedAnswer(context, deps, error);
    }
  });
  routes.get("/login/oidc/callback", async (context) => {
    const { oidc } = deps.settings.access;
    if (oidc === undefined) return notConfigured(context);
    const parameters = new URL(context.req.url).searchParams;
    const browser = cookieOf(context, "browser", deps.settings) ?? "";
    const [state = "", ...more] = parameters.getAll("state");
    const begun = more.length > 0 ? undefined : tried(deps, () => deps.sessions.takeSignIn(state, browser));
    if (begun === undefined)
      return refuse(context, 403, {
        code: "sign-in-over",
        text: "This sign-in was begun in another browser, is over, or took longer than ten minutes.",
        cure: "Begin again at /login.",
      });
    try {
      const claims = await claimsOf(deps, oidc, await discover(oidc), { ...begun, state, parameters });
      const person = nameOf(claims, oidc);
      const role = roleOf(claims, oidc);
      if (role === undefined) return noRole(context, person);
      return signedIn(context, deps, { person, role, way: "oidc", path: begun.path });
    } catch (error) {
      return refusedAnswer(context, deps, error);
    }
  });
}

async function claimsOf(
  deps: Access,
  oidc: ProviderSettings,
  server: oauth.AuthorizationServer,
  begun: { nonce: string; verifier: string; state: string; parameters: URLSearchParams },
): Promise<oauth.IDToken> {
  const client: oauth.Client = {
    client_id: oidc.clientId,
    // The library reads the clock of the machine.
    [oauth.clockSkew]: Math.round((deps.clock.now() - Date.now()) / 1_000),
    [oauth.clockTolerance]: 30,
  };
  const authentication =
    oidc.clientSecret === undefined ? oauth.None() : oauth.ClientSecretPost(deps.secret(oidc.clientSecret).trim());
  const callback = oauth.validateAuthResponse(server, client, begun.parameters, begun.state);
  const options = requestOptions(oidc);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    authentication,
    callback,
    redirectUri(deps),
    begun.verifier,
    options,
  );
  const result = await oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: begun.nonce,
    requireIdToken: true,
  });
  await oauth.validateApplicationLevelSignature(server, response, options);
  const claims = oauth.getValidatedIdTokenClaims(result);
  if (claims === undefined) throw new Error("the answer holds no ID token");
  return claims;
}

/** What a provider says of itself, asked again after a while. */
function discovery(deps: Access): (oidc: ProviderSettings) => Promise<oauth.AuthorizationServer> {
  let known: { issuer: string; at: number; server: oauth.AuthorizationServer } | undefined;
  return async (oidc) => {
    const now = deps.clock.monotonic();
    if (known?.issuer === oidc.issuer && now - known.at < discoveredForMs) return known.server;
    const issuer = new URL(oidc.issuer);
    const response = await oauth.discoveryRequest(issuer, requestOptions(oidc));
    const server = await oauth.processDiscoveryResponse(issuer, response);
    known = { issuer: oidc.issuer, at: now, server };
    return server;
  };
}

function requestOptions(oidc: ProviderSettings) {
  return {
    signal: () => AbortSignal.timeout(timeoutMs),
    // The settings let plain http pass for this machine alone.
    [oauth.allowInsecureRequests]: oidc.issuer.startsWith("http:"),
    [oauth.customFetch]: fetchOverAgent,
  };
}

const fetchOverAgent = async (
  url: string,
  { method, headers, body, redirect, signal }: oauth.CustomFetchOptions<string, URLSearchParams | undefined>,
): Promise<Awaited<ReturnType<typeof oauth.discoveryRequest>>> =>
  await fetch(url, { method, headers, redirect, dispatcher: agent, signal: signal ?? null, ...(body ? { body } : {}) });

function redirectUri({ settings }: Access): string {
  return `${(settings.publicUrl ?? "").replace(/\/+$/u, "")}/login/oidc/callback`;
}

function nameOf(claims: oauth.IDToken, oidc: ProviderSettings): string {
  const given = claims[oidc.person];
  const name = typeof given === "string" ? given.trim() : "";
  return name === "" || name.length > longestName || /[\p{C}\p{Zl}\p{Zp}]/u.test(name) ? claims.sub : name;
}

function roleOf(claims: oauth.IDToken, { claim, roles }: ProviderSettings) {
  const given = claims[claim];
  const values = (Array.isArray(given) ? given : [given]).filter((value) => typeof value === "string");
  return mostOf(values.flatMap((value) => (Object.hasOwn(roles, value) ? (roles[value] ?? []) : [])));
}

function notConfigured(context: Context): Answer {
  return refuse(context, 400, {
    code: "no-provider",
    text: "No OpenID provider is configured.",
    cure: "Sign in at /login by another way.",
  });
}

/** The log says what did not hold; nothing of what the provider wrote is repeated. */
function refusedAnswer(context: Context, deps: Access, error: unknown): Answer {
  const isAnswer = error instanceof oauth.OperationProcessingError || error instanceof oauth.AuthorizationResponseError;
  const isRefusal =
    isAnswer || error instanceof oauth.ResponseBodyError || error instanceof oauth.WWWAuthenticateChallengeError;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const reason = isRefusal ? code : messageOf(error);
  deps.logger.warn({ event: "access.provider", code, reason }, "nobody was signed in by the OpenID provider");
  if (isRefusal)
    return refuse(context, 403, {
      code: "provider-refused",
      text: "What the OpenID provider answered was refused; nobody was signed in.",
      cure: "Begin again at /login; the log of crm-sync says what did not hold.",
    });
  return refuse(context, 502, {
    code: "provider-unreachable",
    text: "The OpenID provider gave no usable answer.",
    cure: "Try again in a moment; the log of crm-sync says what is wrong.",
  });
}
