import type { Json } from "../../base/canonical-json.ts";
import { messageOf, Problem, usage } from "../../base/errors.ts";
import { undici } from "../../http/undici.ts";
import { parseExact } from "../json.ts";
import { shownUrl } from "./request.ts";

const longestAnswer = 8_000_000;
const patience = 30_000;

/**
 * One answer of an address, for people to look at; `token` is what it is asked with. Throws a Problem that says why it
 * has none.
 */
export async function readDocument(url: URL, token: string | undefined, signal: AbortSignal): Promise<Json> {
  const shown = shownUrl(url);
  const agent = new (undici().Agent)({
    headersTimeout: patience,
    bodyTimeout: patience,
    maxResponseSize: longestAnswer,
  });
  try {
    const headers = {
      accept: "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const { statusCode, body } = await undici().request(url, { dispatcher: agent, signal, headers });
    const text = await body.text();
    if (statusCode === 401 || statusCode === 403) throw refused(shown, statusCode, token !== undefined);
    if (statusCode === 429 || statusCode >= 500)
      throw usage(`${shown} answers HTTP ${statusCode}`, "the service is busy or in trouble: ask it again later");
    if (statusCode !== 200) throw usage(`${shown} answers HTTP ${statusCode}`, "give the address of a list");
    try {
      return parseExact(text.replace(/^\uFEFF/u, ""));
    } catch {
      throw usage(`${shown} answers with something that is no JSON`, "give the address of a list in JSON");
    }
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw usage(`${shown} cannot be read: ${messageOf(error)}`, "see that the service runs and can be reached");
  } finally {
    await agent.destroy();
  }
}

function refused(shown: string, statusCode: number, hadToken: boolean): Problem {
  return usage(
    `${shown} answers HTTP ${statusCode}`,
    hadToken
      ? "see that the token is right and may read the list"
      : "name its bearer token with --token env:NAME; if it wants another log-in, save an answer into a file, " +
          "give that file, and write `auth` yourself",
  );
}
