import { generateKeyPairSync, sign, type KeyObject } from "node:crypto";

/** A reverse proxy that people signed in at: it signs who they are. */
export interface ReverseProxy {
  /** `serve.access.proxy` for it; its key is in a file beside the configuration. */
  settings: { header: string; issuer: string; audience: string; keys: string };
  publicPem: string;
  publicJwk: Record<string, unknown>;
  /** The token for somebody, with the claims and the header that are given over its usual ones. */
  token(claims: Readonly<Record<string, unknown>>, lie?: Lie): string;
  /** The header of a request with that token. */
  as(claims: Readonly<Record<string, unknown>>, lie?: Lie): Record<string, string>;
}

interface Lie {
  header?: Record<string, unknown>;
  key?: KeyObject;
  signature?: string;
}

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** `now`: its time, in milliseconds. */
export function reverseProxy(keys = "proxy.pem", now: () => number = Date.now): ReverseProxy {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const settings = { header: "X-Assertion", issuer: "https://proxy.example", audience: "crm-sync", keys };
  const token: ReverseProxy["token"] = (claims, lie = {}) => {
    const seconds = Math.floor(now() / 1_000);
    const usual = { iss: settings.issuer, aud: settings.audience, iat: seconds, exp: seconds + 300 };
    const named = typeof claims["email"] === "string" ? { sub: `id-${claims["email"]}` } : {};
    const signed = `${part({ alg: "EdDSA", kid: "one", ...lie.header })}.${part({ ...usual, ...named, ...claims })}`;
    const key = lie.key ?? privateKey;
    const algorithm = key.asymmetricKeyType === "ed25519" ? null : "sha256";
    return `${signed}.${lie.signature ?? sign(algorithm, Buffer.from(signed), key).toString("base64url")}`;
  };
  return {
    settings,
    publicPem: publicKey.export({ format: "pem", type: "spki" }),
    publicJwk: { ...publicKey.export({ format: "jwk" }), kid: "one", use: "sig", alg: "EdDSA" },
    token,
    as: (claims, lie) => ({ [settings.header.toLowerCase()]: token(claims, lie) }),
  };
}
