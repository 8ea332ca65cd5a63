import { z } from "zod";
import { isLoopback } from "../base/loopback.ts";
import type { Config } from "../config/config.ts";
import type { ConfigHeader } from "../config/load.ts";
import { undici } from "../http/undici.ts";
import { anySandbox } from "../ledger/identity.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

const sandboxIdentity = z.object({ identity: z.string().regex(/^[0-9a-f]{12}$/u) });

interface Services {
  config: Pick<Config, "orderService" | "memberCenter">;
  header: Pick<ConfigHeader, "profiles">;
  sandbox: Pick<Sandbox, "identity"> | undefined;
}

/** The platform's name in the ledger. Ports on this machine change, so they are left out. */
export async function platformName({ config, header, sandbox }: Services): Promise<string> {
  if (header.profiles.includes("sandbox")) return await sandboxName(config, sandbox);
  const name = (url: string): string => {
    const { protocol, host, pathname } = new URL(url);
    return isLoopback(new URL(url)) ? "this machine" : `${protocol}//${host}${pathname.replace(/\/+$/u, "")}`;
  };
  return [...new Set([name(config.orderService.baseUrl), name(config.memberCenter.baseUrl)])].join(" and ");
}

/** Each sandbox has its own name, because orders of one do not exist in another. */
async function sandboxName(config: Services["config"], sandbox: Services["sandbox"]): Promise<string> {
  if (sandbox !== undefined) return `${anySandbox} ${sandbox.identity()}`;
  // A sandbox uses plain http. Servers with certificates are not asked.
  if (!config.orderService.baseUrl.startsWith("http:")) return anySandbox;
  try {
    const answer = await undici().request(`${config.orderService.baseUrl.replace(/\/+$/u, "")}/_sandbox/identity`, {
      signal: AbortSignal.timeout(5_000),
    });
    const { identity } = sandboxIdentity.parse(await answer.body.json());
    return `${anySandbox} ${identity}`;
  } catch {
    return anySandbox;
  }
}
