import { isPlainHttp } from "../base/loopback.ts";
import { credentialOf } from "../http/secrets.ts";
import { undici } from "../http/undici.ts";

interface WebhookTarget {
  url: string;
  token?: string | undefined;
  timeoutMs: number;
}

/** No answer came; further messages to this place would wait as long. */
export class Unreached extends Error {}

/** Posts JSON. Throws an Error for any answer but 2xx, and after the time-out. */
export async function postJson(
  { url, token, timeoutMs }: WebhookTarget,
  body: string,
  secret: (reference: string) => string,
): Promise<void> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (token !== undefined) headers["authorization"] = `Bearer ${credentialOf(secret(token))}`;
  await call({ url, method: "POST", headers, body, timeoutMs, what: "the webhook" });
}

/** Calls a secret address, which no error contains. Throws an Error for any answer but 2xx, and after the time-out. */
export async function callSecret(
  { url, timeoutMs, what }: { url: string; timeoutMs: number; what: string },
  secret: (reference: string) => string,
): Promise<void> {
  const address = credentialOf(secret(url)).trim();
  if (!/^https?:\/\//iu.test(address) || !URL.canParse(address))
    throw new Error(`${url} holds no address that begins with https://`);
  if (isPlainHttp(address)) throw new Error(`${url} holds an address that is not https, and it is a secret`);
  await call({ url: address, method: "GET", headers: {}, body: null, timeoutMs, what });
}

async function call(to: {
  url: string;
  method: "GET" | "POST";
  headers: Record<string, string>;
  body: string | null;
  timeoutMs: number;
  what: string;
}): Promise<void> {
  const { url, method, headers, body, timeoutMs, what } = to;
  const signal = AbortSignal.timeout(timeoutMs);
  let status;
  try {
    const answer = await undici().request(url, { method, headers, body, signal });
    status = answer.statusCode;
    await answer.body.dump({ limit: 65_536, signal });
  } catch (thrown) {
    if (signal.aborted) throw new Unreached(`${what} took longer than ${timeoutMs} ms`, { cause: thrown });
    throw new Unreached(`${what} could not be reached (${codeOf(thrown)})`, { cause: thrown });
  }
  if (status < 200 || status > 299) throw new Error(`${what} answered HTTP ${status}`);
}

/** The full message may contain the address. */
function codeOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" && /^[A-Z0-9_]{1,60}$/u.test(code) ? code : "no connection";
}
