import { setImmediate as turn } from "node:timers/promises";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { systemRandomness } from "../../../src/base/ids.ts";
import { createTraces } from "../../../src/http/traces/traces.ts";
import { startCollector } from "../../support/collector.ts";

function tracesTo(url: string) {
  const traces = createTraces({
    clock: systemClock,
    random: systemRandomness,
    logger: pino({ level: "info" }, { write: () => {} }),
    version: "1",
    instance: "here",
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: url },
  });
  if (traces === undefined) throw new Error("nothing is traced");
  return traces;
}

const nothing = () => ({});

describe("spans", () => {
  it("stand under the one that their work is carried out in, also where the work of many is on at once", async () => {
    const collector = await startCollector();
    const traces = tracesTo(collector.url);
    await traces.carryOut(
      "run",
      {},
      () =>
        Promise.all(
          Array.from({ length: 50 }, (_, number) =>
            traces.carryOut(
              "customer",
              { customer: `c${number}` },
              async () => {
                for (const endpoint of ["E3", "E5"]) {
                  for (let turns = 0; turns < (number * 7) % 5; turns += 1) await turn();
                  await traces.carryOut("call", { endpoint, customer: `c${number}` }, turn, nothing);
                }
              },
              nothing,
            ),
          ),
        ),
      nothing,
    );
    await traces.close();
    const spans = collector.spans();
    expect(spans).toHaveLength(151);
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    for (const span of spans.filter(({ name }) => name.startsWith("E")))
      expect(byId.get(span.parent ?? "")?.facts).toEqual({ "crm_sync.customer": span.facts["crm_sync.customer"] });
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  });
});
