import * as oauth from "oauth4webapi";
import type { Agent } from "undici";
import { messageOf } from "../base/errors.ts";
import { toldCode, toldWords } from "../base/told-words.ts";
import { credentialOf } from "./secrets.ts";
import { TokenFailure, type TokenReading } from "./tokens.ts";
import { undici } from "./undici.ts";

/** The settings must reject plain http. */
export interface OAuth2Request {
  tokenUrl: string;
  grant: "client_credentials" | "password";
  clientId: string;
  clientSecret: string;
  clientAuth: "basic" | "body";
  username?: string | undefined;
  password?: string | undefined;
  scope?: string | undefined;
  parameters?: Readonly<Record<string, string>> | undefined;
  connectTimeoutMs?: number | undefined;
  timeoutMs: number;
}

export type SecretResolver = (reference: string) => string | Promise<string>;

/** Repeats once without an answer or after a 5xx. Throws TokenFailure, with words that surely name nobody. */
export async function requestOAuthToken(request: OAuth2Request, secret: SecretResolver): Promise<TokenReading> {
  const { host } = new URL(request.tokenUrl);
  try {
    return await ask(request, secret);
  } catch (thrown) {
    if (isRefusal(thrown)) throw asFailure(thrown, host);
  }
  try {
    return await ask(request, secret);
  } catch (thrown) {
    throw asFailure(thrown, host);
  }
}

async function ask(request: OAuth2Request, secret: SecretResolver): Promise<TokenReading> {
  const url = new URL(request.tokenUrl);
  const server: oauth.AuthorizationServer = { issuer: url.origin, token_endpoint: request.tokenUrl };
  const client: oauth.Client = { client_id: request.clientId };
  const clientSecret = await credential(request.clientSecret, secret);
  const authentication = request.clientAuth === "basic" ? basic(clientSecret) : oauth.ClientSecretPost(clientSecret);
  const parameters = new URLSearchParams(request.parameters);
  if (request.scope !== undefined) parameters.set("scope", request.scope);
  const options = {
    signal: AbortSignal.timeout(request.timeoutMs),
    [oauth.allowInsecureRequests]: url.protocol === "http:",
    [oauth.customFetch]: fetchOver(agentFor(request.connectTimeoutMs ?? 10_000)),
  };
  if (request.grant === "client_credentials") {
    const response = await oauth.clientCredentialsGrantRequest(server, client, authentication, parameters, options);
    return reading(await oauth.processClientCredentialsResponse(server, client, response));
  }
  if (request.username === undefined || request.password === undefined)
    throw new TokenFailure("the password grant needs username and password");
  parameters.set("username", request.username);
  parameters.set("password", await credential(request.password, secret));
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

/** In the Authorization header, encoded as RFC 6749 says (2.3.1, appendix B). */
function basic(clientSecret: string): oauth.ClientAuth {
  return (_server, { client_id: clientId }, _body, headers) => {
    const pair = `${formEncoded(clientId)}:${formEncoded(clientSecret)}`;
    headers.set("authorization", `Basic ${Buffer.from(pair).toString("base64")}`);
  };
}

function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}

async function credential(reference: string, secret: SecretResolver): Promise<string> {
  let text: string;
  try {
    text = credentialOf(await secret(reference));
  } catch (thrown) {
    throw new TokenFailure(messageOf(thrown), { kind: "no-secret", reference }, thrown);
  }
  if (text === "") throw new TokenFailure(`${reference} is empty`, { kind: "no-secret", reference });
  return text;
}

function reading(answer: oauth.TokenEndpointResponse): TokenReading {
  return {
    token: answer.access_token,
    expiresInMs: answer.expires_in === undefined ? undefined : answer.expires_in * 1000,
    scope: answer.scope,
  };
}

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
    const { status } = thrown;
    const code = toldCode(thrown.error);
    const said = toldWords(thrown.error_description ?? "");
    const words = said === "" ? "" : `: ${said}`;
    const text = `the token endpoint ${host} refused: ${code ?? "an error"} (HTTP ${status})${words}`;
    return new TokenFailure(text, { kind: "refused", status, code, said: said === "" ? undefined : said });
  }
  if (thrown instanceof oauth.WWWAuthenticateChallengeError) {
    const { status } = thrown;
    const text = `the token endpoint ${host} refused the application (HTTP ${status})`;
    return new TokenFailure(text, { kind: "refused", status });
  }
  return new TokenFailure(`the token endpoint ${host} gave no usable answer`, { kind: "no-answer" });
}

const agents = new Map<number, Agent>();

function agentFor(connectTimeoutMs: number): Agent {
  let agent = agents.get(connectTimeoutMs);
  if (agent === undefined) {
    agent = new (undici().Agent)({
      connections: 2,
      maxResponseSize: 1024 * 1024,
      connect: { timeout: connectTimeoutMs },
    });
    agents.set(connectTimeoutMs, agent);
  }
  return agent;
}

type TokenFetch = (
  url: string,
  options: oauth.CustomFetchOptions<"POST", URLSearchParams>,
) => Promise<Awaited<ReturnType<typeof oauth.clientCredentialsGrantRequest>>>;

function fetchOver(dispatcher: Agent): TokenFetch {
  return (url, { headers, body, redirect, signal }) =>
    undici().fetch(url, { method: "POST", headers, body, redirect, signal: signal ?? null, dispatcher });
}
