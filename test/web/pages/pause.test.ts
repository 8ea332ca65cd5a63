import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import { operator, showing } from "../../support/showing.ts";
import { company } from "../../support/world/crm.ts";

it("pauses and resumes by a button, and every page says who paused, and why", async () => {
  const w = await world({ records: company(1, 1) });
  await w.run("plan");
  const pages = await showing(w);
  const banner = "by anna.lee (the service &lt;b&gt; is repaired): nothing is written";
  expect((await pages.get("/today")).text).toContain('href="/pause"');
  expect((await pages.post("/pause", { decision: "pause", reason: "" })).status).toBe(400);
  expect((await pages.post("/pause", { decision: "stop", reason: "x" })).status).toBe(400);
  expect((await pages.get("/runs")).text).not.toContain("Paused since");
  const done = await pages.post("/pause", { decision: "pause", reason: "the service <b> is repaired" });
  expect([done.status, done.text.includes(banner), done.text.includes("Resume</button>")]).toEqual([200, true, true]);
  for (const path of ["/today", "/runs", "/plan", "/settle", "/alerts", "/customer/crm/C1", "/nowhere"])
    expect((await pages.get(path)).text, path).toContain(banner);
  expect((await w.run("run", "everything")).exitCode).toBe(4);

  const viewer = await showing(w, { ...operator, name: "sam", role: "see" });
  expect((await viewer.get("/pause")).text).not.toContain("Resume</button>");
  expect((await viewer.post("/pause", { decision: "resume", reason: "back" })).status).toBe(403);

  expect((await pages.post("/pause", { decision: "resume", reason: "it is back" })).status).toBe(200);
  expect((await pages.get("/today")).text).not.toContain("Paused since");
  expect((await w.run("run", "everything")).exitCode).toBe(0);
});
