import * as oauth from "oauth4webapi";
import { Agent, fetch } from "undici";

import { readSecret } from "./secrets.ts";
import type { OAuth2Settings } from "./settings.ts";
import { TokenFailure } from "./token-failure.ts";
import type { TokenReading, TokenSourceDependencies } from "./token-sources.ts";

/** Used for token requests only: small answers, few connections. */
const tokenAgent = new Agent({ connections: 2, maxResponseSize: 1024 * 1024, connect: { timeout: 10_000 } });

/**
 * Asks a token endpoint for a token, by client_credentials or password. A request that got no answer or a 5xx is made once more. Rejects with
 * TokenFailure; its text holds the OAuth2 error code (such as invalid_client) and never what the endpoint wrote beside it.
 */
export async function requestOAuthToken(
  settings: OAuth2Settings,
  dependencies: TokenSourceDependencies,
): Promise<TokenReading> {
  const { host } = new URL(settings.tokenUrl);
  try {
    return await request(settings, dependencies);
  } catch (thrown) {
    if (isRefusal(thrown)) throw asFailure(thrown, host);
  }
  try {
    return await request(settings, dependencies);
  } catch (thrown) {
    throw asFailure(thrown, host);
  }
}

async function request(settings: OAuth2Settings, dependencies: TokenSourceDependencies): Promise<TokenReading> {
  const url = new URL(settings.tokenUrl);
  const server: oauth.AuthorizationServer = { issuer: url.origin, token_endpoint: settings.tokenUrl };
  const client: oauth.Client = { client_id: settings.clientId };
  const secret = await readSecret(settings.clientSecret, dependencies.environment);
  const authentication =
    settings.clientAuth === "basic" ? oauth.ClientSecretBasic(secret) : oauth.ClientSecretPost(secret);
  const parameters = new URLSearchParams();
  if (settings.scope !== undefined) parameters.set("scope", settings.scope);
  const options = {
    signal: AbortSignal.timeout(settings.timeoutMs),
    // The settings allow plain http to this machine only.
    [oauth.allowInsecureRequests]: url.protocol === "http:",
    [oauth.customFetch]: undiciFetch,
  };
  if (settings.grant === "client_credentials") {
    const response = await oauth.clientCredentialsGrantRequest(server, client, authentication, parameters, options);
    return reading(await oauth.processClientCredentialsResponse(server, client, response));
  }
  if (settings.username === undefined || settings.password === undefined)
    throw new TokenFailure("the password grant needs username and password");
  parameters.set("username", settings.username);
  parameters.set("password", await readSecret(settings.password, dependencies.environment));
  const response = await oauth.genericTokenEndpointRequest(
    server,
    client,
    authentication,
    "password",
    parameters,
    options,
  );
  return reading(await oauth.processGenericTokenEndpointResponse(server, client, response));
}

function reading(answer: oauth.TokenEndpointResponse): TokenReading {
  return {
    token: answer.access_token,
    lifeMs: answer.expires_in === undefined ? undefined : answer.expires_in * 1000,
    scope: answer.scope,
  };
}

/** A refusal that asking again will not change. */
function isRefusal(
  thrown: unknown,
): thrown is oauth.ResponseBodyError | oauth.WWWAuthenticateChallengeError | TokenFailure {
  return (
    thrown instanceof TokenFailure ||
    thrown instanceof oauth.ResponseBodyError ||
    thrown instanceof oauth.WWWAuthenticateChallengeError
  );
}

function asFailure(thrown: unknown, host: string): TokenFailure {
  if (thrown instanceof TokenFailure) return thrown;
  if (thrown instanceof oauth.ResponseBodyError) {
    const code = /^[\w-]{1,40}$/.test(thrown.error) ? thrown.error : "an error";
    return new TokenFailure(`the token endpoint ${host} refused: ${code} (HTTP ${thrown.status})`);
  }
  if (thrown instanceof oauth.WWWAuthenticateChallengeError) {
    return new TokenFailure(`the token endpoint ${host} refused the application (HTTP ${thrown.status})`);
  }
  if (thrown instanceof Error && thrown.message.startsWith("the environment variable "))
    return new TokenFailure(thrown.message);
  return new TokenFailure(`the token endpoint ${host} gave no usable answer`);
}

type OAuthFetch = (
  url: string,
  options: oauth.CustomFetchOptions<"POST", URLSearchParams>,
) => Promise<Awaited<ReturnType<typeof oauth.clientCredentialsGrantRequest>>>;

const undiciFetch: OAuthFetch = (url, options) =>
  fetch(url, {
    method: options.method,
    headers: options.headers,
    body: options.body,
    redirect: options.redirect,
    signal: options.signal ?? null,
    dispatcher: tokenAgent,
  });
