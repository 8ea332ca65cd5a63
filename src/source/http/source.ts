import { Agent } from "undici";
import type { Clock } from "../../base/clock.ts";
import type { Problem } from "../../base/errors.ts";
import type { Randomness } from "../../base/ids.ts";
import { timeouts } from "../../http/timeouts.ts";
import { streams } from "../../crm/model.ts";
import type { Stream } from "../../crm/model.ts";
import { columnsOf, neededColumns } from "../file/columns.ts";
import type { ReadOutcome, SourceItem, SourceReader, Staging } from "../reader.ts";
import type { HttpSourceSettings, HttpStream } from "../source-settings.ts";
import { createCredentials } from "./credentials.ts";
import { addressOf } from "./http-source-settings.ts";
import { createList } from "./list.ts";
import type { List } from "./list.ts";
import { createSession } from "./session.ts";

export interface HttpSourceDeps {
  clock: Clock;
  random: Randomness;
  secrets: (ref: string) => Promise<string> | string;
  staging: Staging;
}

/** Reads streams over HTTP as the settings declare them, each from its list. */
export function createHttpSource(
  name: string,
  settings: HttpSourceSettings,
  deps: HttpSourceDeps,
): SourceReader & { check(signal?: AbortSignal): Promise<Problem | undefined>; close(): Promise<void> } {
  const agent = new Agent({
    connections: 4,
    ...timeouts(settings),
  });
  const { clock, random, secrets } = deps;
  const { auth, connectTimeoutMs, headersTimeoutMs } = settings;
  const timeoutMs = connectTimeoutMs + headersTimeoutMs;
  const shared = { clock, random, dispatcher: agent, settings };
  const credentials =
    auth.kind === "session"
      ? createSession(auth, { ...shared, secrets, source: name, baseUrl: settings.baseUrl })
      : createCredentials(auth, { clock, secrets, source: name, connectTimeoutMs, timeoutMs });
  const listOf = (stream: Stream, declared: HttpStream): List => {
    const { baseUrl } = settings;
    const request = { ...shared, credentials, who: `source ${name}, stream ${stream}` };
    const columns = declared.answer === "csv" ? columnsRead(stream, declared) : [];
    return createList(declared, addressOf(declared.url, baseUrl), { request, staging: deps.staging, baseUrl, columns });
  };
  return {
    read(stream, options) {
      const declared = settings.streams[stream];
      return declared === undefined ? nothing() : listOf(stream, declared).read(options);
    },
    async check(signal) {
      for (const stream of streams) {
        const declared = settings.streams[stream];
        const problem = declared === undefined ? undefined : await listOf(stream, declared).check(signal);
        if (problem !== undefined) return problem;
      }
      return undefined;
    },
    close: () => agent.destroy(),
  };
}

/** The columns of a CSV answer that somebody reads. */
function columnsRead(stream: Stream, { key, mapping, skip, since, paging }: HttpStream): string[] {
  const keys = paging.kind === "keyset" ? [paging.key, since?.changedAt] : [since?.changedAt];
  return [...neededColumns(stream, { key, mapping, skip }).own, ...keys.flatMap(columnsOf)];
}

// oxlint-disable-next-line require-yield
async function* nothing(): AsyncGenerator<SourceItem[], ReadOutcome, void> {
  return { complete: true, full: true, rows: 0 };
}
