import { Agent } from "undici";
import type { Clock } from "../../base/clock.ts";
import type { Problem } from "../../base/errors.ts";
import type { Randomness } from "../../base/ids.ts";
import { timeouts } from "../../http/timeouts.ts";
import type { ReadOutcome, SourceItem, SourceReader, Staging } from "../reader.ts";
import type { HttpSourceSettings, HttpStream } from "../source-settings.ts";
import { createCredentials } from "./credentials.ts";
import { addressOf } from "./http-source-settings.ts";
import { createList } from "./list.ts";
import type { List } from "./list.ts";

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
  const credentials = createCredentials(auth, { clock, secrets, source: name, connectTimeoutMs, timeoutMs });
  const listOf = (stream: string, declared: HttpStream): List => {
    const who = `source ${name}, stream ${stream}`;
    const request = { clock, random, credentials, dispatcher: agent, settings, who };
    return createList(declared, addressOf(declared.url, settings.baseUrl), { request, staging: deps.staging });
  };
  return {
    read(stream, options) {
      const declared = settings.streams[stream];
      return declared === undefined ? nothing() : listOf(stream, declared).read(options);
    },
    async check(signal) {
      for (const [stream, declared] of Object.entries(settings.streams)) {
        const problem = declared === undefined ? undefined : await listOf(stream, declared).check(signal);
        if (problem !== undefined) return problem;
      }
      return undefined;
    },
    close: () => agent.destroy(),
  };
}

// oxlint-disable-next-line require-yield
async function* nothing(): AsyncGenerator<SourceItem[], ReadOutcome, void> {
  return { complete: true, full: true, rows: 0 };
}
