import { createPublicKey } from "node:crypto";
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  jwtVerify,
  type CryptoKey,
  type JWTPayload,
  type JWTVerifyGetKey,
} from "jose";
import type { Context } from "hono";
import { z } from "zod";
import type { Access } from "./access.ts";
import { pathFrom } from "../../operate/application.ts";
import { durationMs } from "../../base/duration.ts";
import { messageOf } from "../../base/errors.ts";
import { readRegular } from "../../base/regular-file.ts";
import type { Who } from "../../base/who.ts";
import { isListed, type AccessSettings, type Role } from "../../config/access-settings.ts";
import { connectionOf } from "./host.ts";
import { isSubject, personIn } from "./person.ts";
import { Agent, fetch, type HeadersInit } from "undici";

type ProxySettings = NonNullable<AccessSettings["proxy"]>;

export interface Refused {
  kind: "refused";
  why: string;
  code?: string;
  claim?: string | undefined;
}

/** Names nobody: the assertion is invalid, or its keys cannot be read. */
export type Unsaid = Refused | { kind: "unknown"; why: string; code: string };

type Asserted = { kind: "nobody" } | Unsaid | { kind: "person"; who: Who; role: Role | undefined };

/** Seconds that the clocks of two machines may differ. */
const clockTolerance = 30;

/** Only public-key algorithms: with a symmetric one, the public key itself could be used as the secret. */
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/**
 * Reads the person from the signed, short-lived token of a reverse proxy. Any program may send the header; only the
 * proxy has the key.
 */
export function assertionReader(deps: Access): (context: Context) => Promise<Asserted> {
  const keysOf = proxyKeys();
  return async (context) => {
    const { proxy } = deps.settings.access;
    if (proxy === undefined) return { kind: "nobody" };
    const { address, rawHeaders } = connectionOf(context);
    const name = proxy.header.toLowerCase();
    const [token, ...more] = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
    if (token === undefined) return { kind: "nobody" };
    if (more.length > 0) return refusal("the assertion of the reverse proxy came more than once");
    if (proxy.from !== undefined && !isListed(address, proxy.from))
      return refusal("the assertion of the reverse proxy came from an address that is not one of its own");
    try {
      const { payload } = await jwtVerify(token, keysOf(proxy.keys, deps.directory), {
        issuer: proxy.issuer,
        audience: proxy.audience,
        algorithms,
        requiredClaims: ["exp", "sub"],
        maxTokenAge: durationMs(proxy.longest) / 1_000,
        currentDate: new Date(deps.clock.now()),
        clockTolerance,
      });
      return asserted(payload, proxy);
    } catch (error) {
      return notHeld(error);
    }
  };
}

function asserted(payload: JWTPayload, proxy: ProxySettings): Asserted {
  const { sub } = payload;
  if (!isSubject(sub)) return refusal("the assertion of the reverse proxy names nobody");
  const { name, role } = personIn({ ...payload, sub }, proxy);
  return {
    kind: "person",
    who: { name, way: "proxy", issuer: proxy.issuer, subject: sub },
    role: role ?? proxy.role,
  };
}

function refusal(why: string): Asserted {
  return { kind: "refused", why };
}

/** Keys from a URL are cached; a file is read each time. */
function proxyKeys(): (keys: string, directory: string) => JWTVerifyGetKey {
  let kept: { url: string; keys: JWTVerifyGetKey } | undefined;
  return (keys, directory) => {
    if (!/^https?:/u.test(keys)) return async (header, token) => await keysIn(pathFrom(directory, keys), header, token);
    const options = { timeoutDuration: timeoutMs, [customFetch]: fetchOverAgent };
    if (kept?.url !== keys) kept = { url: keys, keys: createRemoteJWKSet(new URL(keys), options) };
    return kept.keys;
  };
}

const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

async function keysIn(path: string, ...[header, token]: Parameters<JWTVerifyGetKey>): Promise<CryptoKey> {
  const text = readRegular(path).toString("utf8");
  if (text.trimStart().startsWith("{")) return await createLocalJWKSet(keySet.parse(JSON.parse(text)))(header, token);
  // A PEM key has no id that a token could name.
  const { kid: _, ...unnamed } = header;
  return await createLocalJWKSet({ keys: [createPublicKey(text).export({ format: "jwk" })] })(unnamed, token);
}

const refusals = [
  errors.JWTClaimValidationFailed,
  errors.JWTExpired,
  errors.JWTInvalid,
  errors.JWSInvalid,
  errors.JWSSignatureVerificationFailed,
  errors.JOSEAlgNotAllowed,
  errors.JOSENotSupported,
  errors.JWKSNoMatchingKey,
  errors.JWKSMultipleMatchingKeys,
];

function notHeld(error: unknown): Asserted {
  const isRefusal = refusals.some((kind) => error instanceof kind);
  const code = error instanceof errors.JOSEError ? error.code : "";
  const claim = error instanceof errors.JWTClaimValidationFailed ? error.claim : undefined;
  if (isRefusal) {
    const why = claim === undefined ? "the assertion of the reverse proxy does not hold" : `its ${claim} does not hold`;
    return { kind: "refused", why, code, claim };
  }
  return { kind: "unknown", why: messageOf(error), code };
}

const timeoutMs = 10_000;
const agent = new Agent({ connections: 4, maxResponseSize: 1024 * 1024, connect: { timeout: timeoutMs } });

interface Asked {
  headers: HeadersInit;
  redirect: "manual";
  signal: AbortSignal;
}

async function fetchOverAgent(url: string, { headers, redirect, signal }: Asked): Promise<Response> {
  return await fetch(url, { headers, redirect, signal, dispatcher: agent });
}
