import type { JsonObject } from "../base/canonical-json.ts";
import { messageOf, usage } from "../base/errors.ts";
import { isPlainHttp } from "../base/loopback.ts";
import type { Environment } from "../config/load.ts";
import { credentialOf, readSecret } from "../http/secrets.ts";

/** What addresses are asked with: the token, and `auth` of the source that asks them later. */
export interface AddressAccess {
  token: string;
  auth: JsonObject;
}

/**
 * The access that `--token` gives to these addresses: `env:NAME` or `file:/path`. `folder` is where the configuration
 * will be, which relative files of secrets are beside. Throws a Problem where it would go to several services, or in
 * the open.
 */
export function accessBy(
  token: string,
  { addresses, environment, folder }: { addresses: readonly string[]; environment: Environment; folder: string },
): AddressAccess {
  const origins = new Set(addresses.map((input) => (URL.canParse(input) ? new URL(input).origin : "")));
  if (origins.size === 0) throw usage("a token is for addresses, and none is given", "leave it out for files");
  if (origins.size > 1) throw usage("one token would go to several services", "propose one service at a time");
  if (addresses.some((input) => isPlainHttp(input)))
    throw usage("a token would go over plain http, where everybody on the way can read it", "give an https address");
  try {
    const secret = credentialOf(readSecret(token, { environment, directory: folder }));
    return { token: secret, auth: { kind: "bearer", token } };
  } catch (error) {
    // The reference may be a secret itself and is not repeated.
    throw usage(`--token leads to no secret: ${messageOf(error)}`, "name it as env:NAME or file:/path");
  }
}
