import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import { startCollector } from "../../support/collector.ts";
import { personal, secrets } from "../../support/world/crm.ts";

it("traces plans and runs, and says nothing private in them", { tags: "long" }, async () => {
  const collector = await startCollector();
  const w = await world();
  w.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.url;
  w.environment["OTEL_EXPORTER_OTLP_HEADERS"] = "api-key=otel%20secret";
  w.sandbox.faults.add({ operation: "E2", fault: "oddCode", code: "words of its own" });
  for (const words of [["plan"], ["run", "everything"], ["run", "verify"]]) await w.run(...words);
  const runs = collector.spans().filter(({ name }) => name === "run");
  expect(runs.map(({ facts }) => facts["crm_sync.kind"])).toEqual(["plan", "sync", "verify"]);
  expect(new Set(runs.map(({ traceId }) => traceId)).size).toBe(3);
  const bytes = collector.asked.map(({ body }) => body).join("\n");
  for (const text of [...personal, ...secrets, "otel secret", "words of its own", "sandbox-app-token"])
    expect(bytes).not.toContain(text);
});
