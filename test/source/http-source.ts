import type { Clock } from "../../src/base/clock.ts";
import type { Source, SourceDeps } from "../../src/source/source.ts";
import { customerMapping, openSource } from "./support.ts";

/** A clock that does not wait, and remembers what it was asked to wait for. */
export function patientClock(): Clock & { waits: number[]; time: number } {
  const clock = {
    waits: [] as number[],
    time: Date.UTC(2026, 10, 20, 12),
    now: () => clock.time,
    monotonic: () => clock.time,
    sleep: (ms: number) => {
      clock.waits.push(ms);
      return Promise.resolve();
    },
  };
  return clock;
}

/** A source of customers over HTTP. */
export function customersOver(
  origin: string,
  stream: object,
  source: object = {},
  deps: Partial<SourceDeps> = {},
): Source {
  const settings = {
    kind: "http",
    baseUrl: `${origin}/api/`,
    streams: { customers: { url: "customers", mapping: customerMapping, ...stream } },
    retryBaseMs: 1,
    retryMaxMs: 2,
    ...source,
  };
  return openSource(settings, ".", deps);
}

export const people = (from: number, to: number): { id: string; name: string }[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => ({ id: `C${from + index}`, name: `N${from + index}` }));
export const ids = (reading: { raws: { value: Record<string, unknown> }[] }): unknown[] =>
  reading.raws.map((raw) => raw.value["id"]);
