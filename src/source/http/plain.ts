import { isPlainHttp } from "../../base/loopback.ts";
import type { AuthSettings } from "./auth-settings.ts";

interface Asked {
  baseUrl?: string | undefined;
  auth: AuthSettings;
  allowPlainHttp: boolean;
}

/** A list of a source, and where it stands in its settings. */
interface AskedList {
  path: string[];
  url: string;
}

/** Where credentials would go to another machine over plain http, which everybody on the way can read. */
export function checkPlainHttp(
  { baseUrl, auth, allowPlainHttp }: Asked,
  lists: readonly AskedList[],
): { path: string[]; message: string }[] {
  if (allowPlainHttp || auth.kind === "none") return [];
  const message =
    "must be https, since credentials are sent there; plain http is allowed " +
    "to this machine only, or with `allowPlainHttp: true` for this source";
  const issues: { path: string[]; message: string }[] = [];
  if (auth.kind === "oauth2" && isPlainHttp(auth.tokenUrl)) issues.push({ path: ["auth", "tokenUrl"], message });
  if (baseUrl !== undefined && isPlainHttp(baseUrl)) issues.push({ path: ["baseUrl"], message });
  if (auth.kind === "session" && isPlainHttp(auth.login.url)) issues.push({ path: ["auth", "login", "url"], message });
  for (const { path, url } of lists) {
    if (isPlainHttp(url)) issues.push({ path: [...path, "url"], message });
  }
  return issues;
}
