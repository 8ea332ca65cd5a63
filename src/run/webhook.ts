import { request } from "undici";
import { credentialOf } from "../http/secrets.ts";

/** Where something is posted, with a bearer token where one is named. */
export interface WebhookTarget {
  url: string;
  /** `env:NAME` or `file:/path`. */
  token?: string | undefined;
  timeoutMs: number;
}

/** Posts a text that is JSON. Throws an Error for any answer but 2xx, and after the time-out. */
export async function postJson(
  { url, token, timeoutMs }: WebhookTarget,
  body: string,
  secret: (reference: string) => string,
): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (token !== undefined) headers["authorization"] = `Bearer ${credentialOf(secret(token))}`;
  try {
    const answer = await request(url, { method: "POST", headers, body, signal });
    await answer.body.dump({ limit: 65_536, signal });
    if (answer.statusCode < 200 || answer.statusCode > 299)
      throw new Error(`the webhook answered HTTP ${answer.statusCode}`);
  } catch (thrown) {
    throw signal.aborted ? new Error(`the webhook took longer than ${timeoutMs} ms`, { cause: thrown }) : thrown;
  }
}
