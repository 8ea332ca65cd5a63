import type { Clock } from "../base/clock.ts";
import { scopes, type Endpoint, type EndpointId, type PathTarget, type ServiceName } from "../contract/endpoints.ts";
import type { ServiceSettings, TokenSource } from "./http-settings.ts";
import { readTokenSource, type TokenSourceDependencies } from "./token-sources.ts";
import { createTokenProvider, TokenFailure, type TokenProvider } from "./tokens.ts";

/** The headers of one attempt. */
export interface SignedHeaders {
  /** Names and values in turn. */
  headers: string[];
  /**
   * Until when the service may accept a request with these tokens: the end of the one that lasts longest, epoch
   * milliseconds; undefined where nobody told the end of one.
   */
  acceptedUntil(): number | undefined;
  /** The service refused the application's tokens, the user's, or does not say which. */
  reject(which: "application" | "user" | "all"): void;
  /** The service took all of them. */
  accepted(): void;
}

/** Writes the headers that an endpoint requires: the contract's, and no others of ours but Accept and User-Agent. */
export interface HeaderWriter {
  /** Rejects with TokenFailure or with the signal's reason. `enterprise` chooses the user token (A7). */
  write(endpoint: Endpoint, enterprise: string | undefined, signal: AbortSignal | undefined): Promise<SignedHeaders>;
  /** The same where every token is at hand; undefined where one has to be asked for, or there is none. */
  writeAtOnce(endpoint: Endpoint, enterprise: string | undefined): SignedHeaders | undefined;
}

/** A header with a token, and whose token it is. */
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

  /** Written last for each endpoint: the same as long as no token is renewed. */
  const last = new Map<EndpointId, { signed: SignedHeaders; used: readonly Used[]; enterprise: string | undefined }>();

  return {
    async write(endpoint, enterprise, signal) {
      const used: Used[] = [];
      for (const signature of signatures(endpoint, enterprise)) {
        // One that two headers share is asked for once.
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

  /** An enterprise whose own token is used. */
  function ownTokenOf(enterprise: string | undefined): string | undefined {
    return enterprise !== undefined && userTokens.has(enterprise) ? enterprise : undefined;
  }
}

/** A little before the last time that a date can hold, epoch milliseconds: no token ends after it. */
const latestTime = 8e15;

/** A token as it stands in the headers of a call. */
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
      // Where nobody says which token it was, those that can be replaced are; one that cannot is given up only when
      // it is named.
      const renewable = meant.filter(({ provider }) => provider.renewable);
      const rejected = which === "all" && renewable.length > 0 ? renewable : meant;
      for (const { provider, token } of rejected) provider.reject(token);
    },
  };
}

/** Path and query of a call: the contract's path, `g_nonce` first, then the parameters in the order given. */
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

/** What an endpoint's path is about, for counting customers: the enterprise, else the staff member or asset. */
export function subjectOfTarget(target: PathTarget): string | undefined {
  return target.enterpriseGlobalId ?? target.memberGlobalId ?? target.assetId;
}
