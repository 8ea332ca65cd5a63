import { request } from "undici";
import { onTestFinished } from "vitest";
import { systemClock, type Clock } from "../../src/base/clock.ts";
import type { Parsed, World } from "./cli.ts";
import { crmSync, type Ended } from "./program.ts";
import { HandTime } from "./world/start.ts";

/** `serve` in this process. */
export interface Serving {
  /** What it said on stderr. */
  said(): string;
  /** Resolves when it has said this so many times (once). */
  says(text: string, times?: number): Promise<void>;
  get(path: string, headers?: Record<string, string>): Promise<{ status: number; text: string }>;
  health(): Promise<{ status: number; body: Parsed }>;
  /** As SIGTERM does. */
  ends(): Promise<Ended>;
}

/** Starts it, at the time of the world; resolves when it answers. */
export async function serves(w: World, time: HandTime = w.clock): Promise<Serving> {
  const stop = new AbortController();
  let said = "";
  let wake = (): void => {};
  // Whoever waits, waits a turn of this process: the program looks for its signal again and again.
  const clock: Clock = {
    now: time.now,
    monotonic: time.monotonic,
    async sleep(ms, signal) {
      await time.sleep(ms);
      await systemClock.sleep(1, signal);
    },
  };
  const environment = {
    CRM_SYNC__serve__port: "0",
    CRM_SYNC__serve__metrics__open: "true",
    CRM_SYNC__log__level: "info",
    ...w.environment,
  };
  const ended = crmSync(
    {
      ...w.place,
      environment,
      clock,
      signal: stop.signal,
      hear(text) {
        said += text;
        wake();
      },
    },
    "serve",
  );
  const ends = async (): Promise<Ended> => {
    stop.abort();
    return await ended;
  };
  onTestFinished(async () => void (await ends()));
  const says = async (text: string, times = 1): Promise<void> => {
    while (said.split(text).length <= times) await new Promise<void>((resolve) => (wake = resolve));
  };
  const url = /health at (\S+)\/healthz/u;
  while (!url.test(said)) await Promise.race([new Promise<void>((resolve) => (wake = resolve)), ended]);
  const [, base = ""] = url.exec(said) ?? [];
  const get: Serving["get"] = async (path, headers = {}) => {
    const answer = await request(`${base}${path}`, { headers });
    return { status: answer.statusCode, text: await answer.body.text() };
  };
  return {
    said: () => said,
    says,
    get,
    async health() {
      const { status, text } = await get("/healthz");
      return { status, body: JSON.parse(text) };
    },
    ends,
  };
}

/** A daemon learned of the schedule long ago: every job that has one is due. */
export async function hasMissedAll(w: World): Promise<void> {
  const time = new HandTime();
  time.at = Date.UTC(2020, 0, 1);
  const first = await serves(w, time);
  await first.ends();
}
