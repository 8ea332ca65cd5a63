import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import { guarded } from "../../support/guarded.ts";
import type { Guarded, Sent } from "../../support/guarded.ts";

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

it("metrics are read by this machine alone where nothing is said, and not by what a reverse proxy passes on", async () => {
  const pages = await served({});
  expect(await statusOf(pages)).toBe(200);
  expect(await statusOf(pages, { headers: { "x-forwarded-for": "203.0.113.9" } })).toBe(401);
  expect(await statusOf(await served({ access: { loopback: "none" } }))).toBe(401);
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
});
