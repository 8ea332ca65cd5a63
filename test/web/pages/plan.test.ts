import { describe, expect, it } from "vitest";
import { auditEntries, openHold, openHolds, operationsOf } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { operator, showing, type Showing } from "../../support/showing.ts";
import { company, privateText } from "../../support/world/crm.ts";

const asked = { reason: "asked the customer" };

/** The operation that waits for these people, each. */
async function heldOf(w: World, ...people: string[]): Promise<Parsed[]> {
  const held = [];
  for (const id of people) held.push((await operationsOf(w, "staff", id)).find(({ state }) => state === "held"));
  return held;
}

/** What the form of a decision says that its page showed. */
async function shownBy(pages: Showing, page: string, action = page): Promise<string> {
  const { text } = await pages.get(page);
  const form = text.split("<form").find((part) => part.includes(`action="${action}"`)) ?? "";
  return /name="shown" value="([0-9a-f]*)"/u.exec(form)?.[1] ?? "";
}

/** These people of a company of four customers no longer hold what they held. */
async function losing(extra: string, ...people: string[]): Promise<World> {
  const w = await world({ records: company(4, 2) });
  w.extra = extra;
  w.write();
  await w.run("run", "everything");
  for (const person of w.staff) if (people.includes(person.id)) person.holds = [];
  w.write();
  await w.run("run", "everything");
  return w;
}

const holdEach = "policies: { assignments: { revoked: ask } }\n";
const holdSum = "limits: { removals: { run: { floor: 1, share: 0 } } }\n";

/** What was decided: the states of the holds, and what the audit log has of decisions. */
const decisions = async (w: World): Promise<unknown> => [
  (await w.ask("status")).holds.map(({ id, state }: Parsed) => ({ id, state })),
  (await auditEntries(w)).filter(({ kind }) => /hold|approve/u.test(kind)).length,
];

describe("the plan", () => {
  it("shows what each hold stops; what a person approves there is carried out, and what they reject is not", async () => {
    const w = await losing(holdEach, "S1-1", "S1-2", "S2-1");
    const pages = await showing(w);
    const { status, text } = await pages.get("/plan");
    expect(status).toBe(200);
    expect(text).not.toMatch(privateText);
    const held = await heldOf(w, "S1-1", "S1-2", "S2-1");
    for (const { id, questionId, before } of held)
      for (const shown of [id, `/hold/${questionId}`, ...Object.keys(before)]) expect(text).toContain(shown);
    const [one, , two] = held.map(({ questionId }) => `/hold/${questionId}`);
    const approved = { decision: "approve", ...asked, shown: await shownBy(pages, one ?? "") };
    expect((await pages.post(one ?? "", approved)).headers["location"]).toBe(`${one}?done=approved`);
    const rejected = { decision: "reject", reason: "still needed", shown: await shownBy(pages, two ?? "") };
    expect((await pages.post(two ?? "", rejected)).headers["location"]).toBe(`${two}?done=rejected`);
    const said = (await auditEntries(w)).filter(({ kind }) => kind.startsWith("hold-"));
    expect(said.map(({ body }) => JSON.parse(body))).toMatchObject([
      { by: "anna.lee", ...asked, hold: held[0].questionId },
      { by: "anna.lee", reason: "still needed", hold: held[2].questionId },
    ]);
    expect((await w.does("run", "everything")).calls).toEqual({ M9: 2 });
    const back = await pages.post(two ?? "", { decision: "take-back", reason: "it was the wrong one" });
    expect(back.headers["location"]).toBe(`${two}?done=taken-back`);
    await w.run("run", "everything");
    expect(await openHolds(w)).toHaveLength(1);
  });

  it("lets a person approve one operation of a hold, and no other is carried out", { tags: "long" }, async () => {
    const w = await losing(holdEach, "S1-1", "S1-2");
    const pages = await showing(w);
    const path = `/hold/${await openHold(w)}`;
    const [one] = await heldOf(w, "S1-1");
    const answer = await pages.post(path, { decision: one.id, ...asked });
    expect(answer.headers["location"]).toBe(`${path}?done=approved-one`);
    expect((await w.does("run", "everything")).calls).toEqual({ M9: 1 });
  });

  it(
    "lets a person approve what a run held because of its sums, once, as the page showed it",
    { tags: "long" },
    async () => {
      const w = await losing(holdSum, "S1-1", "S2-1", "S3-1");
      const pages = await showing(w);
      const [{ runId, id }] = (await heldOf(w, "S1-1")) as [Parsed];
      const all = `/plan/run/${runId}`;
      const shown = await shownBy(pages, "/plan", all);
      expect((await w.run("approve", id, "--reason", "this one", "--by", "ben")).exitCode).toBe(0);
      const before = await decisions(w);
      for (const stale of [{ shown }, {}])
        expect((await pages.post(all, { decision: "approve", ...asked, ...stale })).status).toBe(409);
      expect(await decisions(w)).toEqual(before);
      const now = { decision: "approve", ...asked, shown: await shownBy(pages, "/plan", all) };
      expect((await pages.post(all, now)).headers["location"]).toBe("/plan?done=approved-run");
      expect((await pages.post(all, now)).status).toBe(409);
      expect((await w.does("run", "everything")).calls).toEqual({ M9: 3 });
    },
  );
});

describe("a decision", () => {
  it("on a hold that is no longer what its page showed changes nothing", { tags: "long" }, async () => {
    const w = await losing(holdEach, "S1-1", "S1-2");
    const pages = await showing(w);
    const path = `/hold/${await openHold(w)}`;
    const shown = await shownBy(pages, path);
    const [{ id }] = (await heldOf(w, "S1-1")) as [Parsed];
    expect((await w.run("approve", id, "--reason", "this one", "--by", "ben")).exitCode).toBe(0);
    const before = await decisions(w);
    for (const stale of [{ shown }, {}])
      expect((await pages.post(path, { decision: "approve", ...asked, ...stale })).status).toBe(409);
    expect(await decisions(w)).toEqual(before);
    const again = await shownBy(pages, path);
    expect((await pages.post(path, { decision: "approve", ...asked, shown: again })).status).toBe(303);
    expect((await pages.post(path, { decision: "reject", ...asked, shown: again })).status).toBe(409);
    const seen = await shownBy(pages, path);
    expect((await pages.post(path, { decision: "reject", ...asked, shown: seen })).status).toBe(303);
  });

  it("that somebody else took meanwhile is named, and changes nothing", { tags: "long" }, async () => {
    const w = await losing(holdEach, "S1-1");
    const pages = await showing(w);
    const [{ id, questionId }] = (await heldOf(w, "S1-1")) as [Parsed];
    expect((await w.run("reject", questionId, "--reason", "needed", "--by", "ben.cole")).exitCode).toBe(0);
    const before = await decisions(w);
    for (const decision of ["approve", "reject", id]) {
      const { status, text } = await pages.post(`/hold/${questionId}`, { decision, ...asked });
      expect([status, text]).toEqual([409, expect.stringContaining("ben.cole")]);
    }
    expect(await decisions(w)).toEqual(before);
  });

  it("without a usable reason is refused, and what was written is not lost", { tags: "long" }, async () => {
    const w = await losing(holdEach, "S1-1");
    const pages = await showing(w);
    const path = `/hold/${await openHold(w)}`;
    const before = await decisions(w);
    for (const reason of ["", "  ", "asked bjork@example.com", "x".repeat(1_001)]) {
      const { status, text } = await pages.post(path, { decision: "approve", reason });
      expect(status).toBe(400);
      if (reason.includes("@")) expect(text).toContain("asked bjork@example.com");
    }
    for (const decision of ["", "lapse", "__proto__"])
      expect((await pages.post(path, { decision, ...asked })).status).toBe(400);
    expect((await pages.post("/hold/h-none", { decision: "approve", ...asked })).status).toBe(404);
    expect(await decisions(w)).toEqual(before);
  });

  it("while a run works on the customer is of what that run planned", { tags: "long" }, async () => {
    const w = await losing(holdEach, "S1-1", "S1-2");
    const pages = await showing(w);
    const path = `/hold/${await openHold(w)}`;
    const before = await shownBy(pages, path);
    Object.assign(w.customers[0] ?? {}, { name: "Zqcanary Renamed" });
    w.write();
    const stop = w.stopsAt("E4");
    const running = w.run("run", "everything");
    await stop.reached;
    const shown = await shownBy(pages, path);
    expect(shown).toBe(before);
    const answer = await pages.post(path, { decision: "approve", ...asked, shown });
    expect(answer.headers["location"]).toBe(`${path}?done=approved`);
    stop.goOn();
    await running;
    expect(await openHolds(w)).toEqual([]);
    await w.run("run", "everything");
    expect((await operationsOf(w, "staff", "S1-1"))[0]).toMatchObject({ endpoint: "M9", state: "done" });
  });
});

it("the page of a place that is none says so", async () => {
  const w = await world();
  await w.run("status");
  const pages = await showing(w, { ...operator, role: "see" });
  for (const [path, status] of [
    ["/hold/h-none", 404],
    ["/hold/%ff", 404],
    ["/hold/..%2f", 404],
    ["/plan?done=constructor&after=x", 200],
  ] as const)
    expect((await pages.get(path)).status, path).toBe(status);
});
