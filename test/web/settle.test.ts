import { describe, expect, it } from "vitest";
import { pagePath } from "../../src/report/page-links.ts";
import { world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { operator, showing } from "../support/showing.ts";
import { company, privateText } from "../support/world/crm.ts";

/** Two customers whose orders were sent and never answered, each of which waits for a person. */
async function inDoubt(): Promise<{ w: World; first: string; second: string }> {
  const w = await world({ records: { ...company(2, 1), staff: [] } });
  w.extra = "orders: { unseen: ask }\n";
  w.write();
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
  expect((await w.run("run", "everything")).exitCode).toBe(5);
  w.sandbox.faults.clear();
  const rows = w.rows<{ id: string }>("select id from operation where state = 'parked' order by subject");
  const [first, second] = rows.map(({ id }) => id);
  if (rows.length !== 2 || first === undefined || second === undefined) throw new Error("two orders were to wait");
  return { w, first, second };
}

const states = (w: World): unknown[] =>
  w.rows("select id, state from operation where kind = 'place-order' order by subject");

describe("the pages on which outcomes are settled", () => {
  it("show what was sent beside what the platform showed, with private values by name alone", async () => {
    const { w, first, second } = await inDoubt();
    const pages = await showing(w, { ...operator, role: "see" });
    const list = await pages.get("/settle");
    expect(list.text).toContain(pagePath.settle(first));
    expect(list.text).toContain(pagePath.settle(second));
    const one = await pages.get(pagePath.settle(first));
    expect(one.text).toContain("What we sent");
    expect(one.text).toContain("not seen");
    expect(one.text).toContain("(private: ");
    expect(one.text).not.toMatch(privateText);
    expect(one.text).not.toContain('name="decision"');
  });

  it(
    "take the decision of an operator with their name and reason, on one operation alone",
    { tags: "long" },
    async () => {
      const { w, first, second } = await inDoubt();
      const before = states(w);
      const support = await showing(w, { ...operator, name: "sam.see", role: "see" });
      const words = { decision: "not-applied", reason: "the desk found none" };
      expect((await support.post(pagePath.settle(first), words)).status).toBe(403);
      const pages = await showing(w);
      for (const wrong of [{ reason: "x" }, { decision: "applied" }, { ...words, reason: "asked bjork@example.com" }]) {
        const refused = await pages.post(pagePath.settle(first), wrong);
        expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("Nothing was decided")]);
      }
      expect(states(w)).toEqual(before);

      const done = await pages.post(pagePath.settle(first), words);
      expect([done.status, done.text]).toEqual([200, expect.stringContaining("planned anew by the next run")]);
      expect(states(w)).toEqual([
        { id: first, state: "dropped" },
        { id: second, state: "parked" },
      ]);
      const [said] = w.rows<{ body: string }>("select body from audit where kind = 'not-applied'");
      expect(JSON.parse(said?.body ?? "{}")).toMatchObject({ by: "anna.lee", reason: "the desk found none" });
      expect((await pages.get("/settle")).text).not.toContain(pagePath.settle(first));
    },
  );

  it("say that it was settled meanwhile, and decide nothing a second time", { tags: "long" }, async () => {
    const { w, first } = await inDoubt();
    const pages = await showing(w);
    expect((await pages.get(pagePath.settle(first))).text).toContain('name="decision"');
    expect((await w.run("settle", first, "--not-applied", "--reason", "none", "--by", "bo")).exitCode).toBe(0);
    const late = await pages.post(pagePath.settle(first), { decision: "applied", reason: "it is there" });
    expect([late.status, late.text]).toEqual([409, expect.stringContaining("it is dropped already")]);
    expect(late.text).not.toContain('name="decision"');
    expect(w.rows("select sequence from audit where kind in ('not-applied', 'place-order')")).toHaveLength(1);
  });

  it("refuse a decision that what was read does not bear, and keep what was written", { tags: "long" }, async () => {
    const { w, first } = await inDoubt();
    w.environment["CRM_SYNC__settle__timeMs"] = "3600000";
    const pages = await showing(w);
    const applied = await pages.post(pagePath.settle(first), { decision: "not-applied", reason: "I <think> so" });
    expect([applied.status, applied.text]).toEqual([409, expect.stringContaining("it may still land")]);
    expect(applied.text).toContain("I &lt;think&gt; so</textarea>");
    expect(states(w)).toContainEqual({ id: first, state: "parked" });
    expect((await pages.get(pagePath.settle("op_nowhere"))).status).toBe(404);
    expect((await pages.post(pagePath.settle("op_nowhere"), { decision: "applied", reason: "x" })).status).toBe(404);
  });
});
