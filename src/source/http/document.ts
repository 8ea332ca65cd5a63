import { Agent, request } from "undici";
import type { Json } from "../../base/canonical-json.ts";
import { messageOf, Problem, usage } from "../../base/errors.ts";
import { parseExact } from "../json.ts";
import { shownUrl } from "./request.ts";

const longestAnswer = 8_000_000;
const patience = 30_000;

/** One answer of an address that needs no log-in, for people to look at. Throws a Problem that says why it has none. */
export async function readDocument(url: URL, signal: AbortSignal): Promise<Json> {
  const shown = shownUrl(url);
  const agent = new Agent({ headersTimeout: patience, bodyTimeout: patience, maxResponseSize: longestAnswer });
  try {
    const headers = { accept: "application/json" };
    const { statusCode, body } = await request(url, { dispatcher: agent, signal, headers });
    const text = await body.text();
    if (statusCode !== 200)
      throw usage(`${shown} answers HTTP ${statusCode}`, "give an address that can be read without a log-in");
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
