import type { Clock } from "../../base/clock.ts";
import type { Randomness } from "../../base/ids.ts";
import type { KnownSecrets } from "../../base/known-secrets.ts";
import { streams, type Stream } from "../../crm/model.ts";
import { createPace } from "../../http/pace.ts";
import { timeouts, undici } from "../../http/undici.ts";
import { placeInRecord } from "../group-settings.ts";
import { formatRawPath } from "../mapping/path.ts";
import { hiddenPlaces, openPlaces, waysOf, type Way } from "../mapping/ways.ts";
import type { OpenedReader, ReadOutcome, SourceItem, Staging } from "../reader.ts";
import type { HttpSourceSettings, HttpStream } from "../source-settings.ts";
import { createCredentials, createSession } from "./credentials.ts";
import { addressOf } from "./http-source-settings.ts";
import { List } from "./list.ts";
import type { SeenRequest } from "./request.ts";
import { StreamReading, type ListMaker } from "./stream.ts";

interface HttpSourceDeps {
  clock: Clock;
  random: Randomness;
  secrets: (ref: string) => Promise<string> | string;
  known: KnownSecrets;
  staging: Staging;
  onRequest?: ((source: string, seen: SeenRequest) => void) | undefined;
}

export function createHttpSource(name: string, settings: HttpSourceSettings, deps: HttpSourceDeps): OpenedReader {
  const { clock, random, secrets, known, staging } = deps;
  const onRequest = (seen: SeenRequest): void => deps.onRequest?.(name, seen);
  const { auth, baseUrl, connectTimeoutMs, headersTimeoutMs, requestsAtOnce, requestsPerSecond } = settings;
  const agent = new (undici().Agent)({
    connections: requestsAtOnce,
    ...timeouts(settings),
  });
  const timeoutMs = connectTimeoutMs + headersTimeoutMs;
  const pace = createPace({
    callsPerSecond: requestsPerSecond ?? null,
    turnTimeoutMs: Number.POSITIVE_INFINITY,
    clock,
  });
  const shared = { clock, random, known, dispatcher: agent, settings, pace, onRequest };
  const credentials =
    auth.kind === "session"
      ? createSession(auth, { ...shared, secrets, source: name, baseUrl: settings.baseUrl })
      : createCredentials(auth, { clock, secrets, known, source: name, connectTimeoutMs, timeoutMs });
  const listOf: ListMaker = (list, { who, url, mayLack }) => {
    const request = { ...shared, credentials, who, lacking: mayLack === true ? [404] : [] };
    return new List(list, url ?? addressOf(list.url, baseUrl), { request, staging });
  };
  const readingOf = (stream: Stream, declared: HttpStream): StreamReading =>
    new StreamReading(declared, {
      who: `source ${name}, stream ${stream}`,
      listOf,
      baseUrl,
      atOnce: requestsAtOnce,
      staging,
    });
  return {
    read(stream, options) {
      const declared = settings.streams[stream];
      if (declared === undefined) return nothing();
      const { reached: _, ...unkept } = options;
      return readingOf(stream, declared).read(isPagedPrivately(stream, declared) ? unkept : options);
    },
    async check(signal) {
      for (const stream of streams) {
        const declared = settings.streams[stream];
        const problem = declared === undefined ? undefined : await readingOf(stream, declared).check(signal);
        if (problem !== undefined) return problem;
      }
      return undefined;
    },
    close: () => agent.destroy(),
  };
}

/** The paging key may be personal: a private field or hash has it, or nothing maps it and it is not the shown `key`. */
function isPagedPrivately(stream: Stream, { paging, key, group, mapping, skip }: HttpStream): boolean {
  if (paging.kind !== "keyset") return false;
  const ways = waysOf(stream, mapping, skip);
  const named = (steps: Way["reads"][number]): string => formatRawPath(placeInRecord(steps, group));
  const position = paging.key ?? key ?? "";
  if (hiddenPlaces(stream, ways, named).has(position)) return true;
  return position !== key && !openPlaces(stream, ways, named).has(position);
}

// oxlint-disable-next-line require-yield
async function* nothing(): AsyncGenerator<SourceItem[], ReadOutcome, void> {
  return { complete: true, full: true, rows: 0 };
}
