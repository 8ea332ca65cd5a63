import { createHash, createSign, generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

interface Begun {
  nonce: string;
  challenge: string;
  redirect: string;
}

/** An OpenID provider as the standard says it, which lies where a test has it lie. */
export interface Provider {
  issuer: string;
  /** Who signs in next. */
  person: Record<string, unknown>;
  /** What the next ID token says otherwise, and with which key and algorithm it is signed. */
  lie: { claims?: Record<string, unknown>; key?: KeyObject; header?: Record<string, unknown>; body?: string };
  /** As a browser that follows a link to it and signs in: where it is sent back to. */
  visit(url: string): string;
  /** What came with requests for tokens. */
  tokenRequests: URLSearchParams[];
}

const json = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const newPair = () => generateKeyPairSync("rsa", { modulusLength: 2048 });

export const strangeKey = (): KeyObject => newPair().privateKey;

export async function openidProvider(clientId: string): Promise<Provider> {
  const { privateKey, publicKey } = newPair();
  const begun = new Map<string, Begun>();
  let codes = 0;
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const provider: Provider = {
    issuer,
    person: { sub: "id-1", preferred_username: "anna.lee", groups: ["crm-operators"] },
    lie: {},
    tokenRequests: [],
    visit(url) {
      const asked = new URL(url).searchParams;
      codes += 1;
      const code = `code-${codes}`;
      const redirect = asked.get("redirect_uri") ?? "";
      begun.set(code, { nonce: asked.get("nonce") ?? "", challenge: asked.get("code_challenge") ?? "", redirect });
      const back = new URL(redirect);
      back.search = new URLSearchParams({ code, state: asked.get("state") ?? "" }).toString();
      return `${back.pathname}${back.search}`;
    },
  };

  function idToken(nonce: string): string {
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: issuer,
      aud: clientId,
      iat: now,
      exp: now + 300,
      nonce,
      ...provider.person,
      ...provider.lie.claims,
    };
    const signed = `${json({ alg: "RS256", kid: "one", ...provider.lie.header })}.${json(claims)}`;
    const key = provider.lie.key ?? privateKey;
    return `${signed}.${createSign("sha256").update(signed).sign(key).toString("base64url")}`;
  }

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const say = (value: unknown, status = 200): void => {
      outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    };
    const { pathname } = new URL(incoming.url ?? "/", issuer);
    if (pathname === "/.well-known/openid-configuration")
      return say({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        id_token_signing_alg_values_supported: ["RS256"],
      });
    if (pathname === "/keys")
      return say({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "one", use: "sig", alg: "RS256" }] });
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    provider.tokenRequests.push(form);
    const found = begun.get(form.get("code") ?? "");
    begun.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (found === undefined || found.challenge !== challenge || found.redirect !== form.get("redirect_uri"))
      return say({ error: "invalid_grant" }, 400);
    if (provider.lie.body !== undefined) {
      outgoing.writeHead(200, { "content-type": "application/json" }).end(provider.lie.body);
      return undefined;
    }
    return say({ access_token: "at", token_type: "bearer", expires_in: 60, id_token: idToken(found.nonce) });
  }

  return provider;
}
