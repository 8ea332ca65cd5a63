import * as oauth from "oauth4webapi";
import { fetch } from "undici";
import type { Dispatcher } from "undici";
import type { Clock } from "../../base/clock.ts";
import type { Problem } from "../../base/errors.ts";
import { sourceProblem } from "../problems.ts";
import type { AuthSettings } from "./settings.ts";

/** How a source knows us. */
export interface Credentials {
  /** Headers of every request. */
  headers(): Promise<Record<string, string>>;
  /** Query parameters of every request. They are secret: no place, message or log may show them. */
  parameters(): Promise<Record<string, string>>;
  /** Drops what is remembered, so that the next call reads the secret again or asks for a new token. */
  refresh(): Promise<void>;
}

export interface CredentialDeps {
  clock: Clock;
  secrets: (ref: string) => Promise<string> | string;
  dispatcher: Dispatcher;
  /** What the problems call the source. */
  source: string;
  timeoutMs: number;
}

type HeaderAuth = Exclude<AuthSettings, { kind: "oauth2" }>;

/** Credentials from the settings. Secrets are read at the first request and kept until `refresh`; one reading is shared by all callers. */
export function createCredentials(auth: AuthSettings, deps: CredentialDeps): Credentials {
  return auth.kind === "oauth2" ? tokenCredentials(auth, deps) : secretCredentials(auth, deps);
}

interface Shown {
  headers: Record<string, string>;
  parameters: Record<string, string>;
}

function secretCredentials(auth: HeaderAuth, deps: CredentialDeps): Credentials {
  let shown: Promise<Shown> | undefined;
  const current = (): Promise<Shown> => {
    const reading = (shown ??= showSecret(auth, deps));
    reading.catch(() => {
      if (shown === reading) shown = undefined;
    });
    return reading;
  };
  return {
    headers: async () => (await current()).headers,
    parameters: async () => (await current()).parameters,
    refresh: () => {
      shown = undefined;
      return Promise.resolve();
    },
  };
}

async function showSecret(auth: HeaderAuth, deps: CredentialDeps): Promise<Shown> {
  switch (auth.kind) {
    case "none":
      return { headers: {}, parameters: {} };
    case "bearer":
      return { headers: { authorization: `Bearer ${await secretOf(auth.token, deps)}` }, parameters: {} };
    case "basic": {
      const pair = Buffer.from(`${auth.user}:${await secretOf(auth.password, deps)}`, "utf8").toString("base64");
      return { headers: { authorization: `Basic ${pair}` }, parameters: {} };
    }
    case "apiKey": {
      const key = await secretOf(auth.key, deps);
      if (auth.header !== undefined) return { headers: { [auth.header.toLowerCase()]: key }, parameters: {} };
      return { headers: {}, parameters: auth.query === undefined ? {} : { [auth.query]: key } };
    }
  }
}

async function secretOf(ref: string, deps: CredentialDeps): Promise<string> {
  let secret: string;
  try {
    secret = await deps.secrets(ref);
  } catch (thrown) {
    throw noSecret(ref, deps, thrown);
  }
  if (secret === "") throw noSecret(ref, deps, undefined);
  return secret;
}

function noSecret(ref: string, deps: CredentialDeps, cause: unknown): Problem {
  return sourceProblem(
    "source.wrong-password",
    deps.source,
    `The secret ${ref} of the source ${deps.source} is not there.`,
    "Set the environment variable, or write the file.",
    cause,
  );
}

type OAuth2Settings = Extract<AuthSettings, { kind: "oauth2" }>;

interface Token {
  value: string;
  /** Monotonic time after which it is not used any more. */
  staleAt: number;
}

/** A token is replaced when nine tenths of its life are over. */
const usableShare = 0.9;

function tokenCredentials(auth: OAuth2Settings, deps: CredentialDeps): Credentials {
  let token: Promise<Token> | undefined;
  const ask = (): Promise<Token> => {
    const asking = requestToken(auth, deps);
    token = asking;
    asking.catch(() => {
      if (token === asking) token = undefined;
    });
    return asking;
  };
  return {
    async headers() {
      const known = await (token ?? ask());
      const usable = known.staleAt > deps.clock.monotonic() ? known : await ask();
      return { authorization: `Bearer ${usable.value}` };
    },
    parameters: () => Promise.resolve({}),
    refresh: () => {
      token = undefined;
      return Promise.resolve();
    },
  };
}

async function requestToken(auth: OAuth2Settings, deps: CredentialDeps): Promise<Token> {
  const url = new URL(auth.tokenUrl);
  const server: oauth.AuthorizationServer = { issuer: url.origin, token_endpoint: auth.tokenUrl };
  const client: oauth.Client = { client_id: auth.clientId };
  const secret = await secretOf(auth.clientSecret, deps);
  const clientAuth = auth.clientAuth === "basic" ? oauth.ClientSecretBasic(secret) : oauth.ClientSecretPost(secret);
  const parameters = new URLSearchParams(auth.parameters);
  if (auth.scope !== undefined) parameters.set("scope", auth.scope);
  const options = {
    signal: AbortSignal.timeout(deps.timeoutMs),
    // The settings allow plain http to this machine only, unless the source says otherwise (allowPlainHttp).
    [oauth.allowInsecureRequests]: url.protocol === "http:",
    [oauth.customFetch]: fetchWith(deps.dispatcher),
  };
  const askedAt = deps.clock.monotonic();
  let answer: oauth.TokenEndpointResponse;
  try {
    if (auth.grant === "client_credentials") {
      const response = await oauth.clientCredentialsGrantRequest(server, client, clientAuth, parameters, options);
      answer = await oauth.processClientCredentialsResponse(server, client, response);
    } else {
      parameters.set("username", auth.user ?? "");
      parameters.set("password", auth.password === undefined ? "" : await secretOf(auth.password, deps));
      const response = await oauth.genericTokenEndpointRequest(
        server,
        client,
        clientAuth,
        "password",
        parameters,
        options,
      );
      answer = await oauth.processGenericTokenEndpointResponse(server, client, response);
    }
  } catch (thrown) {
    throw tokenProblem(thrown, url, deps.source);
  }
  const lifeMs = answer.expires_in === undefined ? Number.POSITIVE_INFINITY : answer.expires_in * 1_000;
  return { value: answer.access_token, staleAt: askedAt + lifeMs * usableShare };
}

function tokenProblem(thrown: unknown, url: URL, source: string): Problem {
  const place = `${url.origin}${url.pathname}`;
  // The description beside the error code is the service's own text and may quote what was sent.
  const code =
    thrown instanceof oauth.ResponseBodyError && /^[\w-]{1,40}$/.test(thrown.error) ? ` (${thrown.error})` : "";
  if (thrown instanceof oauth.ResponseBodyError || thrown instanceof oauth.WWWAuthenticateChallengeError) {
    return sourceProblem(
      "source.wrong-password",
      place,
      `The token service of the source ${source} refused our credentials with HTTP ${thrown.status}${code}.`,
      "Correct client id, secret, user and password of `auth`.",
    );
  }
  return sourceProblem(
    "source.down",
    place,
    `The token service of the source ${source} gave no usable answer.`,
    "See that it can be reached, and that `auth.tokenUrl` is right.",
  );
}

type TokenFetch = (
  url: string,
  options: oauth.CustomFetchOptions<"POST", URLSearchParams>,
) => Promise<Awaited<ReturnType<typeof oauth.clientCredentialsGrantRequest>>>;

function fetchWith(dispatcher: Dispatcher): TokenFetch {
  return (url, { headers, body, redirect, signal }) =>
    fetch(url, { method: "POST", headers, body, redirect, signal: signal ?? null, dispatcher });
}
