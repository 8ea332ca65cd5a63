import { expect, it } from "vitest";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { startCollector } from "../support/collector.ts";
import type { CollectedSpan } from "../support/collector.ts";
import { world } from "../support/cli.ts";
import { personal, secrets } from "../support/world/crm.ts";

/** All that a span of this program may say. */
const allowed = new Set([
  "crm_sync.run",
  "crm_sync.job",
  "crm_sync.kind",
  "crm_sync.trigger",
  "crm_sync.state",
  "crm_sync.exit",
  "crm_sync.customer",
  "crm_sync.service",
  "crm_sync.endpoint",
  "crm_sync.outcome",
  "crm_sync.code",
  "http.response.status_code",
]);

function parentOf(spans: readonly CollectedSpan[], { parent }: CollectedSpan): CollectedSpan | undefined {
  return spans.find(({ spanId }) => spanId === parent);
}

it(
  "two runs are two traces: each call stands under its customer, each customer under its run, and one that failed says so",
  { tags: "long" },
  async () => {
    const collector = await startCollector();
    const w = await world();
    w.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.url;
    w.environment["OTEL_EXPORTER_OTLP_HEADERS"] = "api-key=otel%20secret";
    w.environment["OTEL_RESOURCE_ATTRIBUTES"] = "deployment.environment=test";
    w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: [1] });
    const first = await w.run("run", "everything");
    expect(first.exitCode).toBe(3);
    w.sandbox.faults.clear();
    await w.run("run", "everything");

    const spans = collector.spans();
    const runs = spans.filter(({ name }) => name === "run");
    expect(runs).toHaveLength(2);
    expect(new Set(runs.map(({ traceId }) => traceId)).size).toBe(2);
    expect(runs.map(({ facts }) => facts["crm_sync.exit"])).toEqual(["3", expect.any(String)]);
    expect(runs.map(({ facts }) => facts["crm_sync.run"])).toEqual(
      w.rows<{ id: string }>("SELECT id FROM run ORDER BY id").map(({ id }) => id),
    );
    const customers = spans.filter(({ name, traceId }) => name === "customer" && traceId === runs[0]?.traceId);
    expect(new Set(customers.map(({ facts }) => facts["crm_sync.customer"]))).toHaveProperty("size", 2);
    expect(customers.filter(({ failed }) => failed)).toHaveLength(1);
    for (const customer of customers) expect(parentOf(spans, customer)).toBe(runs[0]);

    const placed = spans.filter(({ name }) => name === "E5");
    expect(placed.length).toBeGreaterThan(1);
    for (const call of placed) {
      const parent = parentOf(spans, call);
      expect(parent?.name).toBe("customer");
      expect(call.traceId).toBe(parent?.traceId);
      expect(call.start >= (parent?.start ?? 0n)).toBe(true);
      expect(call.end <= (parent?.end ?? 0n) + 1_000_000n).toBe(true);
    }
    // The customer of whom a call was refused is the one that failed.
    const refused = placed.find(({ failed }) => failed);
    expect(refused?.facts).toMatchObject({ "crm_sync.outcome": "rejected", "crm_sync.code": "13004" });
    expect(refused === undefined ? undefined : parentOf(spans, refused)).toBe(customers.find(({ failed }) => failed));
    expect(new Set(placed.map((call) => parentOf(spans, call)?.facts["crm_sync.customer"])).size).toBe(2);
    for (const span of spans) for (const key of Object.keys(span.facts)) expect(allowed).toContain(key);

    expect(collector.resource()).toMatchObject({ "service.name": "crm-sync", "deployment.environment": "test" });
    expect(collector.asked.map(({ path, headers }) => [path, headers["api-key"]])).toContainEqual([
      "/v1/traces",
      "otel secret",
    ]);
    const bytes = collector.asked.map(({ body }) => body).join("\n");
    for (const text of [...personal, ...secrets, "otel secret", "sandbox-app-token"]) expect(bytes).not.toContain(text);
    for (const said of [first.stdout, first.stderr]) expect(said).not.toContain("otel secret");
  },
);

it(
  "plans, readings and what a service answers in words of its own are traced without those words",
  { tags: "long" },
  async () => {
    const collector = await startCollector();
    const w = await world();
    w.environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = `${collector.url}/own/path`;
    w.environment["OTEL_SERVICE_NAME"] = "crm-north";
    w.sandbox.faults.add({ operation: "E2", fault: "oddCode", code: "words of its own" });
    await w.run("plan");
    await w.run("run", "everything");
    await w.run("run", "verify");
    const spans = collector.spans();
    const kinds = spans.filter(({ name }) => name === "run").map(({ facts }) => facts["crm_sync.kind"]);
    expect(kinds).toEqual(["plan", "sync", "verify"]);
    expect(spans.filter(({ name }) => name === "E2").map(({ facts }) => facts["crm_sync.code"])).toContain("other");
    expect(collector.asked.every(({ path }) => path === "/own/path")).toBe(true);
    expect(collector.resource()["service.name"]).toBe("crm-north");
    expect(collector.asked.map(({ body }) => body).join("\n")).not.toMatch(/zqcanary|words of its own/iu);
  },
);

it(
  "a collector that is down, refuses, breaks or never answers changes nothing of a run: the log says once that spans were lost",
  { tags: "long" },
  async () => {
    const refusing = await startCollector((response) => response.writeHead(400).end("no"));
    const broken = await startCollector((response) => response.writeHead(503).end("no"));
    const silent = await startCollector(() => undefined);
    const closed = createServer();
    await new Promise<void>((resolve) => void closed.listen(0, "127.0.0.1", resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise<void>((resolve) => void closed.close(() => resolve()));
    const plain = await world();
    const untraced = await plain.does("run", "everything");
    for (const url of [refusing.url, broken.url, silent.url, `http://127.0.0.1:${port}`]) {
      const w = await world();
      w.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = url;
      const ended = await w.does("run", "everything");
      expect(ended.exitCode).toBe(untraced.exitCode);
      expect(ended.calls).toEqual(untraced.calls);
      expect(ended.last).toBe(untraced.last);
      expect(ended.stderr.split("spans were lost")).toHaveLength(2);
      expect(ended.stderr.split("did not take spans")).toHaveLength(2);
    }
  },
);

it.each([
  ["OTEL_TRACES_EXPORTER", "zipkin"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:zqsecret@127.0.0.1:4318"],
  ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
  ["OTEL_TRACES_SAMPLER", "jaeger_remote"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "zqsecret"],
  ["OTEL_RESOURCE_ATTRIBUTES", "a=%zz"],
])(
  "a variable that cannot be followed (%s=%s) is named once, nothing is traced, and the run goes on",
  async (name, value) => {
    const collector = await startCollector();
    const w = await world();
    w.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.url;
    w.environment[name] = value;
    const ended = await w.run("run", "everything");
    expect(ended.exitCode).toBe(0);
    expect(ended.stderr.split(name)).toHaveLength(2);
    expect(ended.stderr).not.toContain("zqsecret");
    expect(collector.asked).toEqual([]);
  },
);

it(
  "without a word of it, with none, disabled or with a sampler that keeps nothing, no span is made",
  { tags: "long" },
  async () => {
    const collector = await startCollector();
    for (const more of [
      { OTEL_TRACES_EXPORTER: "none" },
      { OTEL_SDK_DISABLED: "true" },
      { OTEL_TRACES_SAMPLER: "always_off" },
      { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0" },
    ]) {
      const w = await world();
      Object.assign(w.environment, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...more });
      expect((await w.run("run", "everything")).exitCode).toBe(0);
    }
    const w = await world();
    w.environment["OTEL_SERVICE_NAME"] = "crm-north";
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    expect(collector.asked).toEqual([]);
  },
);
