import { describe, expect, it } from "vitest";
import { pagePath } from "../../../src/report/page-links.ts";
import { auditEntries, operationsOf, unsettled } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { operator, showing } from "../../support/showing.ts";
import { company, privateText } from "../../support/world/crm.ts";

/** Two customers whose orders were sent and never answered, each of which waits for a person. */
async function inDoubt(): Promise<{ w: World; first: string; second: string }> {
  const w = await world({ records: { ...company(2, 1), staff: [] } });
  w.extra = "orders: { unseen: ask }\n";
  w.write();
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
  expect((await w.run("run", "everything")).exitCode).toBe(5);
  w.sandbox.faults.clear();
  const ids = [];
  for (const order of ["O1", "O2"]) ids.push((await operationsOf(w, "order", order))[0].id);
  const [first = "", second = ""] = ids;
  return { w, first, second };
}

const open = async (w: World): Promise<Set<string>> => new Set((await unsettled(w)).map(({ id }) => id));

describe("the pages on which outcomes are settled", () => {
  it("take the decision of an operator with their name and reason, on one operation alone", async () => {
    const { w, first, second } = await inDoubt();
    const pages = await showing(w);
    const support = await showing(w, { ...operator, name: "sam.see", role: "see", mayAskForPrivate: false });
    const list = await pages.get("/settle");
    for (const id of [first, second]) expect(list.text).toContain(pagePath.settle(id));
    const one = await support.get(pagePath.settle(first));
    expect(one.text).toContain("O1-A1-P");
    expect(one.text).not.toMatch(privateText);
    expect(one.text).not.toContain('name="decision"');
    // What the service answered is shown to whoever may see personal data, and the audit log says to whom.
    const answer = `${pagePath.settle(first)}/answer`;
    expect((await support.post(answer, {})).status).toBe(403);
    expect((await pages.post(answer, {})).status).toBe(200);
    expect((await auditEntries(w)).at(-1)).toMatchObject({ kind: "private-shown", subject: `operation:${first}` });
    // What is no operation is written down by nobody: an address may say anything.
    expect((await pages.post(`${pagePath.settle("Jana Novak")}/answer`, {})).status).toBe(404);
    expect((await auditEntries(w)).at(-1)).toMatchObject({ subject: `operation:${first}` });
    const words = { decision: "not-applied", reason: "the desk found none" };
    expect((await support.post(pagePath.settle(first), words)).status).toBe(403);
    for (const wrong of [{ reason: "x" }, { decision: "applied" }, { ...words, reason: "asked bjork@example.com" }])
      expect((await pages.post(pagePath.settle(first), wrong)).status).toBe(400);
    expect(await open(w)).toEqual(new Set([first, second]));
    expect((await pages.post(pagePath.settle(first), words)).status).toBe(200);
    expect(await open(w)).toEqual(new Set([second]));
    const said = (await auditEntries(w)).find(({ kind }) => kind === "not-applied");
    expect(JSON.parse(said.body)).toMatchObject({ by: "anna.lee", reason: "the desk found none" });
    expect((await pages.get("/settle")).text).not.toContain(pagePath.settle(first));
  });

  it("say that it was settled meanwhile, and decide nothing a second time", { tags: "long" }, async () => {
    const { w, first } = await inDoubt();
    const pages = await showing(w);
    expect((await pages.get(pagePath.settle(first))).text).toContain('name="decision"');
    expect((await w.run("settle", first, "--not-applied", "--reason", "none", "--by", "bo")).exitCode).toBe(0);
    const late = await pages.post(pagePath.settle(first), { decision: "applied", reason: "it is there" });
    expect(late.status).toBe(409);
    expect(late.text).not.toContain('name="decision"');
    expect((await auditEntries(w)).filter(({ kind }) => /not-applied|place-order/u.test(kind))).toHaveLength(1);
  });

  it("refuse a decision that what was read does not bear, and keep what was written", { tags: "long" }, async () => {
    const { w, first, second } = await inDoubt();
    w.environment["CRM_SYNC__settle__timeMs"] = "3600000";
    const pages = await showing(w);
    const early = await pages.post(pagePath.settle(first), { decision: "not-applied", reason: "I <think> so" });
    expect([early.status, early.text]).toEqual([409, expect.stringContaining("I &lt;think&gt; so</textarea>")]);
    expect(await open(w)).toEqual(new Set([first, second]));
    expect((await pages.get(pagePath.settle("op_nowhere"))).status).toBe(404);
    expect((await pages.post(pagePath.settle("op_nowhere"), { decision: "applied", reason: "x" })).status).toBe(404);
  });
});
