import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import { guarded, type Guarded, type Sent } from "../../support/guarded.ts";

const token = "a-token-of-the-monitoring";

async function served(settings: Parameters<typeof guarded>[1]): Promise<Guarded> {
  const w = await world();
  await w.run("status");
  w.environment["METRICS_TOKEN"] = token;
  return await guarded(w, settings);
}

async function statusOf(pages: Guarded, sent: Sent = {}): Promise<number> {
  const { status, text } = await pages.ask("/metrics", sent);
  expect(text.includes("figures")).toBe(status === 200);
  expect(text).not.toContain(token);
  return status;
}

const bearing = (value: string): Sent => ({ headers: { authorization: `Bearer ${value}` } });

it("metrics are read by nobody where nothing is said, this machine included", async () => {
  const pages = await served({});
  expect(await statusOf(pages)).toBe(401);
  expect(JSON.parse((await pages.ask("/metrics")).text).cure).toContain("serve.metrics.token");
  expect(await statusOf(pages, bearing(token))).toBe(401);
});

it("metrics are read by everybody where the settings say so", async () => {
  expect(await statusOf(await served({ metrics: { open: true } }), { headers: { host: "10.0.0.7:8787" } })).toBe(200);
});

it("metrics with a token are read by who shows it, whole, and by listed addresses", async () => {
  const pages = await served({ metrics: { token: "env:METRICS_TOKEN", from: ["127.0.0.3"] } });
  expect(await statusOf(pages)).toBe(401);
  for (const wrong of ["", "another", token.slice(0, -1), `${token}x`])
    expect(await statusOf(pages, bearing(wrong)), wrong).toBe(401);
  expect(await statusOf(pages, { headers: { authorization: `Basic ${token}` } })).toBe(401);
  expect(await statusOf(pages, bearing(token))).toBe(200);
  expect(await statusOf(pages, { from: "127.0.0.3" })).toBe(200);
  expect(await statusOf(pages, { from: "127.0.0.4" })).toBe(401);
});

it("metrics for listed addresses alone are for no other, this machine included", async () => {
  const pages = await served({ metrics: { from: ["127.0.0.3"] } });
  expect(await statusOf(pages)).toBe(401);
  expect(await statusOf(pages, { from: "127.0.0.3" })).toBe(200);
  // A browser on this machine, whose page is of another site that had its name lead here.
  const browser = { from: "127.0.0.3", headers: { host: "evil.example" } };
  expect(await statusOf(pages, browser)).toBe(401);
  expect(await statusOf(pages, { ...browser, headers: { host: `localhost:${pages.port}` } })).toBe(200);
});
