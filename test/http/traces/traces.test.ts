import { setTimeout as pause } from "node:timers/promises";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { systemRandomness } from "../../../src/base/ids.ts";
import { createTraces } from "../../../src/http/traces/traces.ts";
import { traceSettingsOf } from "../../../src/http/traces/trace-settings.ts";
import { startCollector } from "../../support/collector.ts";

function tracesTo(url: string, more: Record<string, string> = {}, lines: string[] = []) {
  const traces = createTraces({
    clock: systemClock,
    random: systemRandomness,
    logger: pino({ level: "info" }, { write: (line: string) => lines.push(line) }),
    version: "1",
    instance: "here",
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: url, ...more },
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
                  await pause((number * 7) % 5);
                  await traces.carryOut("call", { endpoint, customer: `c${number}` }, () => pause(number % 3), nothing);
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

  it("give on what the work throws, and say that it failed without its words", async () => {
    const collector = await startCollector();
    const traces = tracesTo(collector.url);
    const failing = traces.carryOut("run", {}, () => Promise.reject(new Error("Zqcanary")), nothing);
    await expect(failing).rejects.toThrow("Zqcanary");
    await traces.close();
    expect(collector.spans()).toMatchObject([{ name: "run", failed: true, facts: { "crm_sync.outcome": "failed" } }]);
    expect(collector.asked[0]?.body).not.toContain("Zqcanary");
  });

  it("are kept for whole traces, in the share that is asked for", async () => {
    const collector = await startCollector();
    const traces = tracesTo(collector.url, { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.25" });
    for (let number = 0; number < 800; number += 1)
      await traces.carryOut(
        "run",
        {},
        () => traces.carryOut("customer", {}, () => Promise.resolve(), nothing),
        nothing,
      );
    await traces.close();
    const spans = collector.spans();
    const runs = spans.filter(({ name }) => name === "run");
    expect(runs.length).toBeGreaterThan(100);
    expect(runs.length).toBeLessThan(300);
    expect(spans).toHaveLength(runs.length * 2);
  });

  it("wait in bounded number, and what finds no room is counted", async () => {
    const lines: string[] = [];
    const collector = await startCollector();
    const traces = tracesTo(collector.url, {}, lines);
    for (let number = 0; number < 5_000; number += 1)
      await traces.carryOut("run", {}, () => Promise.resolve(), nothing);
    await traces.close();
    expect(collector.spans()).toHaveLength(4_096);
    expect(lines.join("")).toContain('"spans":904');
    // What comes after the end goes nowhere and disturbs nobody.
    await traces.carryOut("run", {}, () => Promise.resolve(), nothing);
    await traces.close();
  });

  it("are sent again to a collector that was busy", { tags: "long" }, async () => {
    const wasTaken = Promise.withResolvers<void>();
    let isFirst = true;
    const collector = await startCollector((response) => {
      response.writeHead(isFirst ? 503 : 200).end("{}");
      if (!isFirst) wasTaken.resolve();
      isFirst = false;
    });
    const lines: string[] = [];
    const traces = tracesTo(collector.url, {}, lines);
    await traces.carryOut("run", {}, () => Promise.resolve(), nothing);
    await wasTaken.promise;
    await traces.close();
    expect(lines.join("")).not.toContain("lost");
    expect(new Set(collector.spans().map(({ spanId }) => spanId)).size).toBe(1);
  });
});

describe("the address of a collector", () => {
  it("may be plain http in a network of one's own, but not where a header goes with it that is a secret", () => {
    const given = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector.example.com:4318" };
    expect(traceSettingsOf(given).kind).toBe("on");
    expect(traceSettingsOf({ ...given, OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20x" })).toMatchObject({
      kind: "bad",
      bad: { variable: "OTEL_EXPORTER_OTLP_HEADERS" },
    });
  });

  it("is that of this machine where only the exporter is named", () => {
    const asked = traceSettingsOf({ OTEL_TRACES_EXPORTER: "otlp" });
    expect(asked.kind === "on" ? asked.settings.endpoint.href : asked.kind).toBe("http://localhost:4318/v1/traces");
  });
});
