import type { Clock } from "../base/clock.ts";
import { scopes, type Endpoint, type EndpointId, type PathTarget, type ServiceName } from "../contract/endpoints.ts";
import type { ServiceSettings, TokenSource } from "./http-settings.ts";
import { readTokenSource, type TokenSourceDependencies } from "./token-sources.ts";
import { createTokenProvider, TokenFailure, type TokenProvider } from "./tokens.ts";

export interface SignedHeaders {
  /** Names and values alternate. */
  headers: string[];
  /** End of the longest token, in epoch milliseconds. Until then the service may accept the request. */
  acceptedUntil(): number | undefined;
  /** The service rejected these tokens. `all`: it does not say which. */
  reject(which: "application" | "user" | "all"): void;
  accepted(): void;
}

export interface HeaderWriter {
  /** Throws TokenFailure or the signal's reason. `enterprise` chooses the user token (A7). */
  write(endpoint: Endpoint, enterprise: string | undefined, signal: AbortSignal | undefined): Promise<SignedHeaders>;
  /** Undefined if a token must be requested. */
  writeAtOnce(endpoint: Endpoint, enterprise: string | undefined): SignedHeaders | undefined;
}

interface Signature {
  name: "Authorization" | "clientToken" | "userToken";
  provider: TokenProvider;
  of: "application" | "user";
}

export function createHeaderWriter(
  service: ServiceName,
  settings: ServiceSettings["tokens"],
  dependencies: TokenSourceDependencies & { clock: Clock },
): HeaderWriter {
  const scope = scopes[service];
  const provider = (source: TokenSource, needed?: string): TokenProvider =>
    createTokenProvider(readTokenSource(source, dependencies), dependencies, needed);
  const authorization = provider(settings.authorization, scope);
  const clientToken = settings.clientToken === undefined ? authorization : provider(settings.clientToken, scope);
  const userToken = settings.userToken === undefined ? undefined : provider(settings.userToken);
  const userTokens = new Map<string, TokenProvider>();
  for (const [enterprise, source] of Object.entries(settings.userTokens)) {
    userTokens.set(enterprise, provider(source));
  }

  function* signatures(endpoint: Endpoint, enterprise: string | undefined): Generator<Signature, void, void> {
    yield { name: "Authorization", provider: authorization, of: "application" };
    if (endpoint.headers.includes("clientToken"))
      yield { name: "clientToken", provider: clientToken, of: "application" };
    if (!endpoint.headers.includes("userToken")) return;
    const user = (enterprise === undefined ? undefined : userTokens.get(enterprise)) ?? userToken;
    if (user === undefined) {
      throw new TokenFailure(
        `no userToken is configured for ${service === "member-center" ? "this enterprise" : service}`,
      );
    }
    yield { name: "userToken", provider: user, of: "user" };
  }

  /** The last headers of each endpoint, valid until a token is renewed. */
  const last = new Map<EndpointId, { signed: SignedHeaders; used: readonly Used[]; enterprise: string | undefined }>();

  return {
    async write(endpoint, enterprise, signal) {
      const used: Used[] = [];
      for (const signature of signatures(endpoint, enterprise)) {
        // A token that two headers share is requested once.
        const known = used.find((one) => one.provider === signature.provider);
        const token = known?.token ?? (await signature.provider.token(signal));
        used.push({ ...signature, token, endsAt: signature.provider.endOf(token) });
      }
      const signed = signedWith(endpoint, used, dependencies.clock);
      last.set(endpoint.id, { signed, used, enterprise: ownTokenOf(enterprise) });
      return signed;
    },
    writeAtOnce(endpoint, enterprise) {
      const kept = last.get(endpoint.id);
      if (kept === undefined || kept.enterprise !== ownTokenOf(enterprise)) return undefined;
      return kept.used.every((one) => one.provider.held() === one.token) ? kept.signed : undefined;
    },
  };

  function ownTokenOf(enterprise: string | undefined): string | undefined {
    return enterprise !== undefined && userTokens.has(enterprise) ? enterprise : undefined;
  }
}

/** In epoch milliseconds, a little below the maximum of a date. No token ends later. */
const latestTime = 8e15;

type Used = Signature & { token: string; endsAt: number | undefined };

function signedWith(endpoint: Endpoint, used: readonly Used[], clock: Clock): SignedHeaders {
  const headers = used.flatMap(({ name, token }) => [name, name === "Authorization" ? `Bearer ${token}` : token]);
  if (endpoint.headers.includes("Content-Type")) headers.push("Content-Type", "application/json");
  headers.push("Accept", "application/json", "User-Agent", "crm-sync");
  return {
    headers,
    acceptedUntil() {
      let last = 0;
      for (const { endsAt = Number.POSITIVE_INFINITY } of used) last = Math.max(last, endsAt);
      const until = clock.now() + last - clock.monotonic();
      return until < latestTime ? until : undefined;
    },
    accepted() {
      for (const { provider } of used) provider.accepted();
    },
    reject(which) {
      const meant = used.filter((one) => which === "all" || which === one.of);
      // If the service names no token, only renewable ones are rejected. Others need a name.
      const renewable = meant.filter(({ provider }) => provider.renewable);
      const rejected = which === "all" && renewable.length > 0 ? renewable : meant;
      for (const { provider, token } of rejected) provider.reject(token);
    },
  };
}

/** `g_nonce` comes first, then the parameters in the given order. */
export function requestPath(
  base: string,
  path: string,
  nonce: string,
  query: Readonly<Record<string, string>>,
): string {
  let text = `${base}${path}?g_nonce=${encodeURIComponent(nonce)}`;
  for (const name in query) text += `&${name}=${encodeURIComponent(query[name] ?? "")}`;
  return text;
}

export function subjectOfTarget(target: PathTarget): string | undefined {
  return target.enterpriseGlobalId ?? target.memberGlobalId ?? target.assetId;
}
