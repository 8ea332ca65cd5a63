import type { Clock } from "../base/clock.ts";
import { scopes } from "../contract/endpoints.ts";
import type { PathTarget, ServiceName, Endpoint } from "../contract/endpoints.ts";
import type { ServiceSettings, TokenSource } from "./http-settings.ts";
import { readTokenSource } from "./token-sources.ts";
import type { TokenSourceDependencies } from "./token-sources.ts";
import { TokenFailure } from "./token.ts";
import { createTokenProvider } from "./tokens.ts";
import type { TokenProvider } from "./tokens.ts";

/** The headers of one attempt and the tokens in them. */
export interface SignedHeaders {
  /** Names and values in turn. */
  headers: string[];
  /** Values that must not be seen. */
  tokens: string[];
  /** The service refused the application's tokens, the user's, or does not say which. */
  reject(which: "application" | "user" | "all"): void;
  /** The service took all of them. */
  accepted(): void;
}

/** Writes the headers that an endpoint requires: the contract's, and no others of ours but Accept and User-Agent. */
export interface HeaderWriter {
  /** Rejects with TokenFailure or with the signal's reason. `enterprise` chooses the user token (A7). */
  write(endpoint: Endpoint, enterprise: string | undefined, signal: AbortSignal | undefined): Promise<SignedHeaders>;
}

export function createHeaderWriter(
  service: ServiceName,
  settings: ServiceSettings["tokens"],
  dependencies: TokenSourceDependencies & { clock: Clock },
): HeaderWriter {
  const scope = scopes[service];
  const provider = (source: TokenSource, needed?: string): TokenProvider =>
    createTokenProvider(readTokenSource(source, dependencies), dependencies.clock, needed);
  const authorization = provider(settings.authorization, scope);
  const clientToken = settings.clientToken === undefined ? authorization : provider(settings.clientToken, scope);
  const userToken = settings.userToken === undefined ? undefined : provider(settings.userToken);
  const userTokens = new Map<string, TokenProvider>();
  for (const [enterprise, source] of Object.entries(settings.userTokens)) {
    userTokens.set(enterprise, provider(source));
  }

  return {
    async write(endpoint, enterprise, signal) {
      const application = await authorization.token(signal);
      const headers = ["Authorization", `Bearer ${application}`];
      const used: [TokenProvider, string, "application" | "user"][] = [[authorization, application, "application"]];
      if (endpoint.headers.includes("clientToken")) {
        const token = clientToken === authorization ? application : await clientToken.token(signal);
        headers.push("clientToken", token);
        used.push([clientToken, token, "application"]);
      }
      if (endpoint.headers.includes("userToken")) {
        const user = (enterprise === undefined ? undefined : userTokens.get(enterprise)) ?? userToken;
        if (user === undefined) {
          throw new TokenFailure(
            `no userToken is configured for ${service === "member-center" ? "this enterprise" : service}`,
          );
        }
        const token = await user.token(signal);
        headers.push("userToken", token);
        used.push([user, token, "user"]);
      }
      if (endpoint.headers.includes("Content-Type")) headers.push("Content-Type", "application/json");
      headers.push("Accept", "application/json", "User-Agent", "crm-sync");
      return {
        headers,
        tokens: [...new Set(used.map(([, token]) => token))],
        accepted() {
          for (const [one] of used) one.accepted();
        },
        reject(which) {
          const meant = used.filter(([, , kind]) => which === "all" || which === kind);
          // Where nobody says which token it was, those that can be replaced are; one that cannot is given up only when
          // it is named.
          const renewable = meant.filter(([one]) => one.renewable);
          const rejected = which === "all" && renewable.length > 0 ? renewable : meant;
          for (const [one, token] of rejected) one.reject(token);
        },
      };
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
  for (const [name, value] of Object.entries(query)) text += `&${name}=${encodeURIComponent(value)}`;
  return text;
}

/** What an endpoint's path is about, for counting customers: the enterprise, else the staff member or asset. */
export function subjectOfTarget(target: PathTarget): string | undefined {
  return target.enterpriseGlobalId ?? target.memberGlobalId ?? target.assetId;
}
