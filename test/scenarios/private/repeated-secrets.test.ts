import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { stringify } from "yaml";
import { startService } from "../../source/http-service.ts";
import { documents, world, type World } from "../../support/cli.ts";
import { crmSync } from "../../support/program.ts";
import { startMailServer } from "../../support/mail-server.ts";
import { startChangingProxy } from "../../support/reversing-proxy.ts";
import { showing } from "../../support/showing.ts";
import { around, shownOf, spellings } from "../../support/secret-spellings.ts";
import { fileSource, mappingOf } from "../../support/world/crm-files.ts";
import { company, customerRow } from "../../support/world/crm.ts";
import { line } from "../../support/world/placed-orders.ts";

const crmKey = "sk_Live-9f8E7d6C5b4A 3z<q>&%41";
const mailPassword = "m4il+Passw0rd/of-sync";
const token = "sandbox-app-token";
const hookPath = "T0k8Zq3VwN5xR7bY2cJd";

/** Every file below a folder. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}

/** A company whose customers come from a service that repeats our key in each record. */
async function repeating(change: (id: string) => object): Promise<{ w: World; said: string[] }> {
  const w = await world({ records: company(3, 1) });
  const texts = [...spellings(crmKey), ...around(crmKey)];
  const links = Object.fromEntries(texts.map(([name, text]) => [name, { href: `https://crm/c?x=1%&${text}` }]));
  const service = await startService(({ headers }) => {
    if (headers["x-key"] !== crmKey.replaceAll(/[^ -~]/gu, "")) return { status: 401 };
    return {
      body: w.customers.map((row) => ({ ...customerRow(row), self: links, [`k ${crmKey}`]: 1, ...change(row.id) })),
    };
  });
  const mail = await startMailServer({
    refuse: `550 no such person, you said AUTH PLAIN ${Buffer.from(`\0sync\0${mailPassword}`).toString("base64")}`,
  });
  const hook = await startService(() => ({ status: 500 }));
  w.environment["CRM_KEY"] = crmKey;
  w.environment["MAIL_PASSWORD"] = mailPassword;
  w.environment["ORDERS_URL"] = `${service.origin}/customers`;
  writeFileSync(
    w.path("crm-sync.yaml"),
    stringify({
      ledger: { path: "ledger.db", sealKey: "env:SEAL_KEY" },
      zone: "UTC",
      log: { level: "trace" },
      sources: {
        shop: {
          kind: "http",
          auth: { kind: "apiKey", header: "X-Key", key: "env:CRM_KEY" },
          streams: { customers: { url: "env:ORDERS_URL", key: "id", mapping: mappingOf("customers") } },
        },
        crm: fileSource("data", ["orders", "staff"]),
      },
      mail: {
        host: "127.0.0.1",
        port: mail.port,
        tls: "none",
        user: "sync",
        password: "env:MAIL_PASSWORD",
        from: "crm-sync@example.com",
      },
      alerts: {
        channels: [
          { kind: "mail", to: ["operations@example.com"] },
          { kind: "webhook", url: `${hook.origin}/services/${hookPath}` },
        ],
      },
      jobs: { everything: { kind: "sync", streams: ["customers", "orders", "staff"] } },
    }),
  );
  return { w, said: [] };
}

it("a CRM, a mail server and a service that repeat our secrets find them nowhere again", async () => {
  const { w, said } = await repeating((id) => (id === "C2" ? { name: `Works ${crmKey}` } : {}));
  const proxy = await startChangingProxy(w.sandbox.url, (_url, text) =>
    text.includes('"code":0') ? undefined : text.replace('"message":"', `"message":"you are ${token}, `),
  );
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", times: 1 });
  mkdirSync(w.path("temporary"));
  vi.stubEnv("TMPDIR", w.path("temporary"));
  onTestFinished(() => void vi.unstubAllEnvs());
  const does = async (...words: string[]): Promise<void> => {
    w.later(1);
    const ended = await crmSync({ ...w.place, sandbox: proxy.url }, ...words);
    said.push(`${words.join(" ")}: ${ended.exitCode}\n${ended.stdout}\n${ended.stderr}`);
  };
  try {
    await does("check");
    await does("map", "shop", "customers", "--show-private");
    await does("plan", "--out", w.path("plan.ndjson"));
    await does("run", "everything");
    await does("alerts", "test");
    await does("status");
    await does("--json", "status");
    await does("quarantine", "list");
    const [waiting] = documents(await w.run("--json", "quarantine", "list")).flat();
    expect(waiting).toMatchObject({ code: "secret", field: "name" });
    await does("quarantine", "show", waiting.id, "--raw");
    await does("explain", "customer", "C1");
    await does("audit", "subject", "--by", "anna", "--customer", "C1");
    await does("audit", "export", "--out", w.path("audit.ndjson"));
    await does("backup", "--to", w.path("backups"));
    const pages = await showing(w);
    for (const path of ["/", "/quarantine", `/quarantine/${waiting.id}`, "/sources", "/customer/crm/C1", "/alerts"])
      said.push((await pages.get(path)).text);
  } finally {
    await proxy.close();
  }
  expect(w.sandbox.state().enterprises, said.join("\n")).toBe(2);
  const written = filesBelow(w.folder).filter(
    (path) => !path.startsWith(w.path("data/")) && path !== w.path("crm-sync.yaml"),
  );
  expect(written).toEqual(expect.arrayContaining([w.path("plan.ndjson"), w.path("audit.ndjson"), w.path("ledger.db")]));
  const texts = new Map(written.map((path) => [path, readFileSync(path).toString("latin1")]));
  texts.set("what was said", said.join("\n"));
  for (const [where, text] of texts)
    for (const secret of [crmKey, mailPassword, hookPath, token]) expect.soft(shownOf(secret, text), where).toEqual([]);
});

it("a parameter that is only named like a secret hides nothing", async () => {
  const { w } = await repeating(() => ({}));
  const { origin } = await startService(() => ({ body: w.customers.map(customerRow) }));
  const text = readFileSync(w.path("crm-sync.yaml"), "utf8");
  const query = "query: { orderKey: customers, auth: none }";
  const url = `url: ${origin}/customers?sort_key=name&auth_mode=plain`;
  writeFileSync(w.path("crm-sync.yaml"), text.replace("url: env:ORDERS_URL", `${url}\n        ${query}`));
  const { exitCode, stdout } = await w.run("run", "everything");
  expect(exitCode, stdout).toBe(0);
  const checked = await w.run("check");
  expect(checked.stdout).not.toMatch(/sources\.shop.*contains the secret itself/u);
});

it("a secret of digits alone stops no record whose id is a longer number with the same digits", async () => {
  const id = "KD-202610010007";
  const orders = [{ id: "1", customer: id, assets: [{ id: "A1" }], products: [line("P1", "A1")] }];
  const w = await world({
    records: { customers: [{ id }], orders, staff: [{ id: "S1", customer: id, holds: ["A1"] }] },
  });
  w.environment["MAIL_PASSWORD"] = "20261001";
  w.extra = stringify({
    mail: { host: "127.0.0.1", tls: "none", user: "sync", password: "env:MAIL_PASSWORD", from: "a@example.com" },
  });
  w.write();
  const { exitCode, stdout } = await w.run("run", "everything");
  expect(exitCode, stdout).toBe(0);
});
