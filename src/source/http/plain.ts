import type { AuthSettings } from "./settings.ts";

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

interface Asked {
  baseUrl?: string | undefined;
  auth: AuthSettings;
  allowPlainHttp: boolean;
  streams: Readonly<Record<string, { url: string } | undefined>>;
}

/** Where credentials would go to another machine over plain http, which everybody on the way can read. */
export function checkPlainHttp({
  baseUrl,
  auth,
  allowPlainHttp,
  streams,
}: Asked): { path: string[]; message: string }[] {
  if (allowPlainHttp || auth.kind === "none") return [];
  const message =
    "must be https, since credentials are sent there; plain http is allowed to this machine only, or with `allowPlainHttp: true` for this source";
  const issues: { path: string[]; message: string }[] = [];
  if (auth.kind === "oauth2" && isPlain(auth.tokenUrl)) issues.push({ path: ["auth", "tokenUrl"], message });
  if (baseUrl !== undefined && isPlain(baseUrl)) issues.push({ path: ["baseUrl"], message });
  for (const [name, stream] of Object.entries(streams))
    if (stream !== undefined && isPlain(stream.url)) issues.push({ path: ["streams", name, "url"], message });
  return issues;
}

function isPlain(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return url.protocol === "http:" && !loopback.test(url.hostname);
}
