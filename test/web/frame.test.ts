import { request } from "undici";
import { expect, it } from "vitest";
import { world } from "../support/cli.ts";
import { operator, showing } from "../support/showing.ts";

it("a page has everything from this server, and the places that the person may see", async () => {
  const w = await world();
  await w.run("status");
  const pages = await showing(w);
  const { status, headers, text } = await pages.get("/today");
  expect(status).toBe(200);
  expect(headers["content-security-policy"]).toContain("default-src 'none'");
  expect(headers["content-security-policy"]).not.toContain("unsafe");
  expect(headers["cache-control"]).toBe("no-store");
  expect(text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//u);
  expect(text).not.toMatch(/\son[a-z]+=|\sstyle=|<script>/u);
  const sheet = await pages.get(/href="(\/assets\/[^"]+\.css)"/u.exec(text)?.[1] ?? "");
  expect([sheet.status, sheet.headers["content-type"]]).toEqual([200, "text/css; charset=utf-8"]);
  const support = await (await showing(w, { ...operator, name: "sam <b>", role: "see" })).get("/today");
  expect([text.includes("/reports"), support.text.includes("/reports")]).toEqual([true, false]);
  expect(support.text).toContain("sam &lt;b&gt;");
  expect((await pages.get("/nowhere/%2e%2e/x")).status).toBe(404);
  for (const type of ["multipart/form-data", "multipart/form-data; boundary=x", "application/json", "x"]) {
    const sent = { "content-type": type, "sec-fetch-site": "same-origin" };
    const { statusCode, body } = await request(`${pages.url}/today`, { method: "POST", headers: sent, body: "--x" });
    await body.dump();
    expect(statusCode, type).toBe(400);
  }
});

it("a page says what to do where no ledger is there yet", async () => {
  expect((await (await showing(await world({ isNew: true }))).get("/today")).status).toBe(503);
});
