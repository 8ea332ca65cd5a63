import { request } from "undici";
import { describe, expect, it } from "vitest";
import { world } from "../support/cli.ts";
import { operator, showing } from "../support/showing.ts";

describe("the frame of the pages", () => {
  it("has everything from this server, and lets nothing else in", async () => {
    const w = await world();
    await w.run("run", "everything");
    const pages = await showing(w);
    const { status, headers, text } = await pages.get("/today");
    expect(status).toBe(200);
    expect(headers["content-security-policy"]).toContain("default-src 'none'");
    expect(headers["content-security-policy"]).not.toContain("unsafe");
    expect(headers["cache-control"]).toBe("no-store");
    expect(text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//u);
    expect(text).not.toMatch(/\son[a-z]+=|\sstyle=|<script>/u);
    const sheet = /href="(\/assets\/[^"]+\.css)"/u.exec(text)?.[1] ?? "";
    const answer = await request(`${pages.url}${sheet}`);
    expect([answer.statusCode, answer.headers["content-type"]]).toEqual([200, "text/css; charset=utf-8"]);
    await answer.body.dump();
  });

  it("shows the places that the person may see, and no others", { tags: "long" }, async () => {
    const w = await world();
    await w.run("run", "everything");
    const support = await showing(w, { ...operator, name: "sam <b>", role: "see" });
    const { text } = await support.get("/today");
    expect(text).not.toContain("/reports");
    expect(text).toContain("sam &lt;b&gt;");
    expect((await (await showing(w)).get("/today")).text).toContain("/reports");
  });

  it("says of a page that is not there what can be done, and nothing of the program", { tags: "long" }, async () => {
    const w = await world();
    await w.run("run", "everything");
    const { status, text } = await (await showing(w)).get("/nowhere/%2e%2e/x");
    expect(status).toBe(404);
    expect(text).toContain("Look for it by its name");
  });

  it(
    "takes forms as its pages have them, and refuses any other body before a page reads it",
    { tags: "long" },
    async () => {
      const w = await world();
      await w.run("run", "everything");
      const { url } = await showing(w);
      for (const type of ["multipart/form-data", "multipart/form-data; boundary=x", "application/json", "x"]) {
        const headers = { "content-type": type, "sec-fetch-site": "same-origin" };
        const answer = await request(`${url}/today`, { method: "POST", headers, body: "--x" });
        expect([answer.statusCode, await answer.body.text()], type).toEqual([
          400,
          expect.stringContaining("no form of these pages"),
        ]);
      }
    },
  );

  it("says what to do where no ledger is there yet", async () => {
    const { status, text } = await (await showing(await world({ isNew: true }))).get("/today");
    expect(status).toBe(503);
    expect(text).toContain("run a job first");
  });
});
