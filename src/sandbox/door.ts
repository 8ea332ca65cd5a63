import type { IncomingHttpHeaders } from "node:http";
import { sha256 } from "../base/canonical-json.ts";
import type { Randomness } from "../base/ids.ts";
import { Refusal } from "./answers.ts";
import type { ServiceName } from "./endpoints.ts";
import type { SandboxSettings } from "./sandbox-settings.ts";
import type { Store } from "./store.ts";

export type Door = (
  service: ServiceName,
  headers: IncomingHttpHeaders,
  hasBody: boolean,
  query: URLSearchParams,
) => void;

/** Member-center: also clientToken and userToken; Content-Type only with a body (R5, R6). */
export function createDoor(tokens: Tokens): Door {
  const seen = { order: new Set<string>(), member: new Set<string>() };

  function checkTokens(service: ServiceName, headers: IncomingHttpHeaders): void {
    const { authorization } = headers;
    const bearer = authorization?.startsWith("Bearer ") === true ? authorization.slice("Bearer ".length) : "";
    if (!tokens.accepts("app", bearer)) {
      throw new Refusal(service === "order" ? "401" : "60000", "Authorization holds no valid application token");
    }
    if (service === "order") return;
    if (!tokens.accepts("app", textOf(headers["clienttoken"]))) {
      throw new Refusal("60000", "clientToken holds no valid application token");
    }
    if (!tokens.accepts("user", textOf(headers["usertoken"]))) {
      throw new Refusal("60005", "userToken holds no valid user token");
    }
  }

  return (service, headers, hasBody, query) => {
    checkTokens(service, headers);
    const invalid = service === "order" ? "13004" : "70001";
    const type = headers["content-type"] ?? "";
    if ((service === "order" || hasBody) && !/^application\/json\s*(;|$)/i.test(type)) {
      throw new Refusal(invalid, "Content-Type: application/json is expected");
    }
    const nonce = query.get("g_nonce") ?? "";
    if (nonce === "") throw new Refusal(invalid, "g_nonce: missing");
    const own = seen[service];
    if (own.has(nonce)) throw new Refusal(invalid, "g_nonce: used before");
    own.add(nonce);
    const [oldest = ""] = own;
    if (own.size > noncesRemembered) own.delete(oldest);
  };
}

function textOf(header: string | string[] | undefined): string {
  return typeof header === "string" ? header : "";
}

const noncesRemembered = 100_000;

type TokenKind = "app" | "user";

export const staticTokens: Record<TokenKind, string> = { app: "sandbox-app-token", user: "sandbox-user-token" };

export interface Tokens {
  accepts(kind: TokenKind, token: string): boolean;
  /** POST /oauth/token: grant types client_credentials and password (RFC 6749). */
  answer(form: string, authorization: string | undefined): { status: number; body: object };
  expireAll(): void;
  restore(): void;
}

/** Tokens contain kind, epoch, end and a keyed hash, so they stay valid after a restart. */
export function createTokens(store: Store, settings: SandboxSettings, now: () => number, random: Randomness): Tokens {
  const read = (key: string): string | undefined =>
    store.get<{ value: string }>("SELECT value FROM meta WHERE key = ?", key)?.value;
  const write = (key: string, value: string): unknown =>
    store.run("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", key, value);
  const secret = read("token-secret") ?? random.hex(16);
  let epoch = Number(read("token-epoch") ?? "1");

  function restore(): void {
    write("token-secret", secret);
    write("token-epoch", String(epoch));
  }
  restore();

  const sealed = (content: string) => `${content}.${sha256(`${secret}.${content}`).slice(0, 32)}`;

  function give(kind: TokenKind): { status: number; body: object } {
    const expiresAt = now() + settings.tokenLifetimeMs;
    return {
      status: 200,
      body: {
        access_token: sealed(`${kind}.${epoch}.${expiresAt}.${random.hex(8)}`),
        token_type: "Bearer",
        expires_in: Math.floor(settings.tokenLifetimeMs / 1000),
      },
    };
  }

  const denied = (status: number, error: string) => ({ status, body: { error, error_description: error } });

  return {
    restore,
    accepts(kind, token) {
      if (token === staticTokens[kind]) return true;
      const cut = token.lastIndexOf(".");
      if (cut < 0 || sealed(token.slice(0, cut)) !== token) return false;
      const [tokenKind, tokenEpoch, expiresAt] = token.split(".");
      return tokenKind === kind && Number(tokenEpoch) === epoch && Number(expiresAt) > now();
    },
    answer(form, authorization) {
      const fields = new URLSearchParams(form);
      const { client, secret: clientSecret } = clientOf(fields, authorization);
      if (client !== settings.appKey || clientSecret !== settings.appSecret) return denied(401, "invalid_client");
      const grant = fields.get("grant_type");
      if (grant === "client_credentials") return give("app");
      if (grant !== "password") return denied(400, "unsupported_grant_type");
      const { userName, userPassword } = settings;
      if (fields.get("username") !== userName || fields.get("password") !== userPassword) {
        return denied(400, "invalid_grant");
      }
      return give("user");
    },
    expireAll() {
      epoch += 1;
      write("token-epoch", String(epoch));
    },
  };
}

function clientOf(fields: URLSearchParams, authorization: string | undefined): { client: string; secret: string } {
  if (authorization?.startsWith("Basic ") !== true) {
    return { client: fields.get("client_id") ?? "", secret: fields.get("client_secret") ?? "" };
  }
  const pair = Buffer.from(authorization.slice("Basic ".length), "base64").toString("utf8");
  const cut = pair.indexOf(":");
  const decode = (text: string) => new URLSearchParams(`text=${text}`).get("text") ?? "";
  return { client: decode(pair.slice(0, cut)), secret: decode(pair.slice(cut + 1)) };
}
