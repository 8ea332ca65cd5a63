import type { JsonObject } from "../base/canonical-json.ts";
import { messageOf, usage } from "../base/errors.ts";
import { isPlainHttp } from "../base/loopback.ts";
import type { Environment } from "../config/load.ts";
import { requestOAuthToken } from "../http/oauth.ts";
import { credentialOf, readSecret } from "../http/secrets.ts";

/** What addresses are asked with: the token, and `auth` of the source that asks them later. */
export interface AddressAccess {
  token: string;
  auth: JsonObject;
}

/** How a person says what addresses are asked with. Secrets are references: `env:NAME` or `file:/path`. */
export interface AccessOptions {
  token?: string | undefined;
  tokenUrl?: string | undefined;
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  scope?: string | undefined;
  clientAuth?: "basic" | "body" | undefined;
}

const tokenTimeoutMs = 30_000;

/**
 * The access that the options of `init` give to these addresses; undefined where they give none. `folder` is where the
 * configuration will be, which relative files of secrets are beside. Throws a Problem where a secret would go to several
 * services, or in the open.
 */
export async function accessOf(
  { token, tokenUrl, clientId, clientSecret, scope, clientAuth }: AccessOptions,
  { addresses, environment, folder }: { addresses: readonly string[]; environment: Environment; folder: string },
): Promise<AddressAccess | undefined> {
  const secret = (option: string, reference: string): string => {
    try {
      return credentialOf(readSecret(reference, { environment, directory: folder }));
    } catch (error) {
      // The reference may be a secret itself and is not repeated.
      throw usage(`${option} leads to no secret: ${messageOf(error)}`, "name it as env:NAME or file:/path");
    }
  };
  const isOAuth = [tokenUrl, clientId, clientSecret, scope, clientAuth].some((option) => option !== undefined);
  if (token === undefined && !isOAuth) return undefined;
  checkAddresses(addresses);
  if (token !== undefined && isOAuth) throw usage("--token and --token-url are two ways to log in", "give one of them");
  if (token !== undefined) return { token: secret("--token", token), auth: { kind: "bearer", token } };
  if (tokenUrl === undefined || clientId === undefined || clientSecret === undefined)
    throw usage(
      "an OAuth2 log-in needs --token-url, --client-id and --client-secret",
      "give all three; --scope if the service wants one",
    );
  if (!URL.canParse(tokenUrl) || isPlainHttp(tokenUrl))
    throw usage("--token-url is no https address", "write it as https://HOST/PATH");
  const auth = {
    kind: "oauth2",
    tokenUrl,
    clientId,
    clientSecret,
    ...(clientAuth === undefined ? {} : { clientAuth }),
    ...(scope === undefined ? {} : { scope }),
  };
  const request = {
    tokenUrl,
    clientId,
    clientSecret,
    scope,
    grant: "client_credentials",
    clientAuth: clientAuth ?? "basic",
  } as const;
  try {
    const reading = await requestOAuthToken({ ...request, timeoutMs: tokenTimeoutMs }, (reference) =>
      secret("--client-secret", reference),
    );
    return { token: reading.token, auth };
  } catch (error) {
    throw usage(
      `no token came from ${new URL(tokenUrl).host}: ${messageOf(error)}`,
      `correct the client and its secret, or give --client-auth ${clientAuth === "body" ? "basic" : "body"}`,
    );
  }
}

/** A token goes to one service, and to another machine over https alone. */
function checkAddresses(addresses: readonly string[]): void {
  const origins = new Set(addresses.map((input) => (URL.canParse(input) ? new URL(input).origin : "")));
  if (origins.size === 0) throw usage("a log-in is for addresses, and none is given", "leave it out for files");
  if (origins.size > 1) throw usage("one token would go to several services", "propose one service at a time");
  if (addresses.some((input) => isPlainHttp(input)))
    throw usage("a token would go over plain http, where everybody on the way can read it", "give an https address");
}
