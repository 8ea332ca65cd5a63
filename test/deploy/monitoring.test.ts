import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { request } from "undici";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { serveSettingsSchema } from "../../src/config/schema.ts";
import { metricList, type MetricFacts } from "../../src/web/metric-list.ts";
import { world, type Parsed } from "../support/cli.ts";
import { readScrape } from "../support/exposition.ts";
import { promtool } from "../support/promtool.ts";
import { company } from "../support/world/crm.ts";
import { folder } from "../support/world/start.ts";

const deploy = join(import.meta.dirname, "../../deploy");
const read = (name: string): string => readFileSync(join(deploy, name), "utf8");
const invented = join(import.meta.dirname, "alerts.promtest.yaml");
const untried = "is NOT tried by promtool here, which is not installed: that Prometheus takes it is not shown";

const rules: Parsed[] = parse(read("prometheus/alerts.yaml")).groups.flatMap((group: Parsed) => group.rules);
const board: Parsed = JSON.parse(read("grafana/crm-sync.json"));
const asked: string[] = [
  ...rules.map(({ expr }) => expr),
  ...board.panels.flatMap((panel: Parsed) => panel.targets.map((target: Parsed) => target.expr)),
  ...board.templating.list.map((variable: Parsed) => JSON.stringify(variable.query)),
];

/** Names of metrics, and of the labels that each is asked by. */
function namesIn(expression: string): { name: string; labels: string[] }[] {
  return [...expression.matchAll(/\b((?:crm_sync|process|nodejs)_\w+)(?:\{([^}]*)\})?/gu)].map(
    ([, name = "", labels = ""]) => ({
      name: name.replace(/_(?:bucket|sum|count)$/u, ""),
      labels: [...labels.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/gu)].map(([, label = ""]) => label),
    }),
  );
}

/** What promtool says of files that lie beside each other. */
function promtoolSays(...words: string[]): { status: number | null; said: string } {
  const place = folder();
  for (const name of ["alerts.yaml", "scrape.yaml"]) copyFileSync(join(deploy, "prometheus", name), join(place, name));
  copyFileSync(invented, join(place, "alerts.promtest.yaml"));
  writeFileSync(join(place, "crm-sync.token"), "token");
  const { status, stdout, stderr } = spawnSync(promtool ?? "", words, { cwd: place, encoding: "utf8" });
  return { status, said: stdout + stderr };
}

describe("the alert rules", () => {
  it("have a name of their own each, a severity, and a summary and a cure without a name of anybody", () => {
    const names = rules.map(({ alert }) => alert);
    expect(new Set(names).size).toBe(names.length);
    for (const { alert, labels, annotations, expr } of rules) {
      expect(alert).toMatch(/^CrmSync[A-Za-z]+$/u);
      expect(["critical", "warning"], alert).toContain(labels.severity);
      expect(Object.keys(annotations), alert).toEqual(["summary", "cure"]);
      expect(expr, alert).not.toBe("");
    }
  });

  it("tell each its worlds apart in the tests that stand beside them, as far as these name it", () => {
    const known = new Set(rules.map(({ alert }) => alert));
    for (const { alert_rule_test: cases } of parse(readFileSync(invented, "utf8")).tests)
      for (const { alertname } of cases) expect(known.has(alertname), alertname).toBe(true);
  });

  if (promtool === undefined) it(untried, () => expect(promtool).toBeUndefined());
  else
    it.each([
      ["check", "rules", "--lint=all", "--lint-fatal", "alerts.yaml"],
      ["check", "config", "scrape.yaml"],
      ["test", "rules", "alerts.promtest.yaml"],
    ])("and the example of a scrape are taken by Prometheus: promtool %s %s %s", (...words) => {
      const { status, said } = promtoolSays(...words);
      expect(status, said).toBe(0);
    });
});

describe("the board", () => {
  it("has panels that each ask something of the data source that is chosen, and nothing of another host", () => {
    const ids = board.panels.map(({ id }: Parsed) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(15);
    for (const panel of board.panels) {
      expect(panel.targets.length, panel.title).toBeGreaterThan(0);
      for (const { datasource } of [panel, ...panel.targets])
        expect(datasource, panel.title).toEqual({ type: "prometheus", uid: "${datasource}" });
    }
    expect(read("grafana/crm-sync.json")).not.toMatch(/https?:/u);
  });
});

describe("what rules and board ask for", () => {
  it(
    "is exposed by a program that runs, at the address that the example of a scrape names, by labels that it has",
    { tags: "long" },
    async () => {
      const { host, port } = serveSettingsSchema.parse({});
      const [scrape] = parse(read("prometheus/scrape.yaml")).scrape_configs;
      expect(scrape.static_configs).toEqual([{ targets: [`${host}:${port}`] }]);
      expect(scrape.authorization).toEqual({ credentials_file: "crm-sync.token" });
      const w = await world({ isOnMachineTime: true, records: company(1, 1) });
      w.extra = "serve: { port: 0, metrics: { token: env:METRICS_TOKEN } }\n";
      w.environment["METRICS_TOKEN"] = "token-of-the-monitoring";
      w.write();
      const running = w.start("serve");
      onTestFinished(() => void running.child.kill("SIGKILL"));
      await running.says(/health at \S+\/healthz/u);
      const [, url = ""] = /health at (\S+)\/healthz/u.exec(running.stderr()) ?? [];
      const headers = { authorization: "Bearer token-of-the-monitoring" };
      const text = await (await request(`${url}/metrics`, { headers })).body.text();
      const { metrics } = readScrape(text);
      const found = asked.flatMap(namesIn);
      expect(found.length).toBeGreaterThan(40);
      expect(found.filter(({ name }) => !metrics.has(name))).toEqual([]);
      const listed = new Map(Object.values<MetricFacts>(metricList).map(({ name, labels }) => [name, labels]));
      for (const { name, labels } of found)
        for (const label of labels)
          expect(["instance", ...(listed.get(name) ?? [])], `${name}{${label}}`).toContain(label);
      const named = new Set(found.map(({ name }) => name));
      for (const { name } of [metricList.settleBacklog, metricList.jobLastEnd, metricList.ledgerReadable])
        expect(named.has(name), name).toBe(true);
      if (promtool === undefined) return;
      const { status, stdout, stderr } = spawnSync(promtool, ["check", "metrics"], { input: text, encoding: "utf8" });
      expect(status, stdout + stderr).toBe(0);
    },
  );
});
