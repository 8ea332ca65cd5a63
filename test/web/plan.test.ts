import { describe, expect, it } from "vitest";
import { company } from "../support/world/crm.ts";
import { world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { severalTroubles } from "../support/several-troubles.ts";
import { operator, showing } from "../support/showing.ts";
import type { Showing } from "../support/showing.ts";
import { hostile, hostileSql, textOnly } from "./hostile.ts";

interface Held {
  id: string;
  hold: string;
  run: string;
  subject: string;
}

const heldIn = (w: World): Held[] =>
  w.rows(
    "select id, hold_id as hold, run_id as run, subject from operation where state = 'held' order by customer_id, subject",
  );
/** What the form of a decision says that its page showed. */
async function shownBy(pages: Showing, page: string, action: string): Promise<string> {
  const { text } = await pages.get(page);
  const form = text.split("<form").find((part) => part.includes(`action="${action}"`)) ?? "";
  return /name="shown" value="([0-9a-f]*)"/u.exec(form)?.[1] ?? "";
}
/** A world whose last run held three operations of three customers because of its own sum. */
async function heldByItsSum(): Promise<World> {
  const w = await world({ records: company(8, 2) });
  await w.run("run", "everything");
  w.extra = "limits: { taking: { run: { floor: 1, share: 0 } } }\n";
  for (const person of w.staff) if (["S1-1", "S2-1", "S3-1"].includes(person.id)) person.holds = [];
  w.write();
  await w.run("run", "everything");
  return w;
}
const states = (w: World): unknown => w.rows("select id, state from hold order by customer_id");
const entries = (w: World): unknown => w.rows("select count(*) as count from audit");

describe("the plan", () => {
  it(
    "shows what is held of each customer, field by field, its sums, and the way to each hold",
    { tags: "long" },
    async () => {
      const w = await severalTroubles();
      const pages = await showing(w);
      const { status, text } = await pages.get("/plan");
      expect(status).toBe(200);
      expect(text).toContain("2 holds wait for a person");
      expect(text).toContain("3 operations: 3 seats; 3 people lose their last asset");
      for (const { id, hold } of heldIn(w)) {
        expect(text).toContain(id);
        expect(text).toContain(`/hold/${hold}`);
      }
      const numbers = w.rows<{ before: string }>("select before from operation where state = 'held'");
      expect(numbers).toHaveLength(3);
      for (const { before } of numbers)
        for (const number of Object.keys(JSON.parse(before) as object)) expect(text).toContain(number);
      expect(text).not.toMatch(/zqcanary/iu);
    },
  );

  it(
    "lets a person approve one hold, reject another, and says so; the next run carries out exactly that",
    { tags: "long" },
    async () => {
      const w = await severalTroubles();
      const pages = await showing(w);
      const [first, , last] = heldIn(w);
      const [approved, rejected] = [`/hold/${first?.hold}`, `/hold/${last?.hold}`];
      const shown = await shownBy(pages, approved, approved);
      const answer = await pages.post(approved, { decision: "approve", reason: "asked the customer", shown });
      expect([answer.status, answer.headers["location"]]).toEqual([303, `${approved}?done=approved`]);
      expect((await pages.get(`${approved}?done=approved`)).text).toContain("The next run carries out exactly");
      const seen = await shownBy(pages, rejected, rejected);
      const refused = await pages.post(rejected, { decision: "reject", reason: "they are still needed", shown: seen });
      expect(refused.headers["location"]).toBe(`${rejected}?done=rejected`);
      expect(states(w)).toEqual([
        { id: first?.hold, state: "approved" },
        { id: last?.hold, state: "rejected" },
      ]);
      const said = w.rows<{ body: string }>("select body from audit where kind like 'hold-%' order by sequence");
      expect(said.map(({ body }) => JSON.parse(body))).toEqual([
        expect.objectContaining({ by: "anna.lee", reason: "asked the customer", hold: first?.hold }),
        expect.objectContaining({ by: "anna.lee", reason: "they are still needed", hold: last?.hold }),
      ]);
      expect((await w.does("run", "people")).calls).toEqual({ M9: 2 });
      const back = await pages.post(rejected, { decision: "take-back", reason: "it was the wrong one" });
      expect(back.headers["location"]).toBe(`${rejected}?done=taken-back`);
    },
  );

  it("lets a person approve one operation of a hold, and no other is carried out", { tags: "long" }, async () => {
    const w = await severalTroubles();
    const pages = await showing(w);
    const [first] = heldIn(w);
    const path = `/hold/${first?.hold}`;
    const answer = await pages.post(path, { decision: first?.id ?? "", reason: "this one" });
    expect(answer.headers["location"]).toBe(`${path}?done=approved-one`);
    expect((await pages.get(path)).text).toContain("held, approved");
    expect((await w.does("run", "people")).calls).toEqual({ M9: 1 });
  });

  it("lets a person approve everything that a run held because of its sums", { tags: "long" }, async () => {
    const w = await heldByItsSum();
    const pages = await showing(w);
    const run = heldIn(w)[0]?.run ?? "";
    expect((await pages.get("/plan")).text).toContain("held 3 operations of 3 customers");
    const shown = await shownBy(pages, "/plan", `/plan/run/${run}`);
    const answer = await pages.post(`/plan/run/${run}`, { decision: "approve", reason: "a branch was closed", shown });
    expect([answer.status, answer.headers["location"]]).toEqual([303, "/plan?done=approved-run"]);
    const late = await pages.post(`/plan/run/${run}`, { decision: "approve", reason: "again", shown });
    expect([late.status, late.text]).toEqual([409, expect.stringContaining("nothing is held any more")]);
    expect((await w.does("run", "everything")).calls).toEqual({ M9: 3 });
  });
});

describe("a decision", () => {
  it("on a hold that holds more than its page showed approves nothing", { tags: "long" }, async () => {
    const w = await severalTroubles();
    const pages = await showing(w);
    const [first] = heldIn(w);
    const path = `/hold/${first?.hold}`;
    const other = `hash = (select hash from operation where id = '${first?.id}')`;
    w.tamper(`update hold_operation set ended_at = '2026-01-01T00:00:00.000Z' where ${other}`);
    const shown = await shownBy(pages, path, path);
    w.tamper(`update hold_operation set ended_at = null where ${other}`);
    const before = [states(w), entries(w)];
    for (const said of [{ shown }, {}]) {
      const { status, text } = await pages.post(path, { decision: "approve", reason: "asked the customer", ...said });
      expect([status, text]).toEqual([409, expect.stringContaining("is not what the page showed")]);
    }
    expect([states(w), entries(w)]).toEqual(before);
    expect(w.rows("select * from approved_operation")).toEqual([]);
    const again = await shownBy(pages, path, path);
    const answer = await pages.post(path, { decision: "approve", reason: "asked the customer", shown: again });
    expect(answer.status).toBe(303);
  });

  it(
    "on a hold that somebody else approved since its page was shown does not reject it",
    { tags: "long" },
    async () => {
      const w = await severalTroubles();
      const pages = await showing(w);
      const path = `/hold/${heldIn(w)[0]?.hold}`;
      const shown = await shownBy(pages, path, path);
      const approved = await pages.post(path, { decision: "approve", reason: "asked the customer", shown });
      expect(approved.status).toBe(303);
      const before = [states(w), entries(w)];
      const late = await pages.post(path, { decision: "reject", reason: "still needed", shown });
      expect([late.status, late.text]).toEqual([409, expect.stringContaining("is not what the page showed")]);
      expect([states(w), entries(w)]).toEqual(before);
      const seen = await shownBy(pages, path, path);
      expect((await pages.post(path, { decision: "reject", reason: "still needed", shown: seen })).status).toBe(303);
      expect(states(w)).not.toEqual(before[0]);
    },
  );

  it(
    "on a hold whose customer a run plans anew shows what that run has of it, and approves exactly that",
    { tags: "long" },
    async () => {
      const w = await severalTroubles();
      const pages = await showing(w);
      const [first, , last] = heldIn(w);
      const path = `/hold/${first?.hold}`;
      const before = await shownBy(pages, path, path);
      w.tamper(`update operation set state = 'dropped' where hold_id = '${last?.hold}'`);
      const between = (await pages.get(`/hold/${last?.hold}`)).text;
      expect(between).toContain("look again in a moment");
      expect(between).not.toContain('name="decision"');
      w.tamper(`update operation set state = 'planned', hold_id = null where hold_id = '${first?.hold}'`);
      const { text } = await pages.get(path);
      expect(text).toContain(first?.id);
      expect(text).not.toContain("Approve only this one");
      const shown = await shownBy(pages, path, path);
      expect(shown).toBe(before);
      const answer = await pages.post(path, { decision: "approve", reason: "asked the customer", shown });
      expect(answer.headers["location"]).toBe(`${path}?done=approved`);
      expect((await w.does("run", "people")).calls["M9"]).toBeGreaterThan(0);
    },
  );

  it("on a run that went on holding since its page was shown approves nothing", async () => {
    const w = await heldByItsSum();
    const pages = await showing(w);
    const [first] = heldIn(w);
    const run = first?.run ?? "";
    w.tamper(`update operation set run_id = null where id = '${first?.id}'`);
    expect((await pages.get("/plan")).text).toContain("held 2 operations of 2 customers");
    const shown = await shownBy(pages, "/plan", `/plan/run/${run}`);
    w.tamper(`update operation set run_id = '${run}' where id = '${first?.id}'`);
    const before = entries(w);
    for (const said of [{ shown }, {}]) {
      const sent = { decision: "approve", reason: "a branch was closed", ...said };
      const { status, text } = await pages.post(`/plan/run/${run}`, sent);
      expect([status, text]).toEqual([409, expect.stringContaining("is not what the page showed")]);
    }
    expect(entries(w)).toEqual(before);
    expect(w.rows("select * from approved_operation")).toEqual([]);
  });

  it(
    "that somebody else took meanwhile is answered with what stands now, and changes nothing",
    { tags: "long" },
    async () => {
      const w = await severalTroubles();
      const pages = await showing(w);
      const [first] = heldIn(w);
      expect((await w.run("reject", first?.hold ?? "", "--reason", "needed", "--by", "ben.cole")).exitCode).toBe(0);
      const before = [states(w), entries(w)];
      for (const decision of ["approve", "reject", first?.id ?? ""]) {
        const { status, text } = await pages.post(`/hold/${first?.hold}`, { decision, reason: "asked the customer" });
        expect(status, decision).toBe(409);
        expect(text).toMatch(/rejected already|which is rejected/u);
        expect(text).toContain("ben.cole");
      }
      expect([states(w), entries(w)]).toEqual(before);
    },
  );

  it(
    "without a reason, or with one that names somebody, is refused, and what was written is not lost",
    { tags: "long" },
    async () => {
      const w = await severalTroubles();
      const pages = await showing(w);
      const path = `/hold/${heldIn(w)[0]?.hold}`;
      const before = [states(w), entries(w)];
      for (const reason of ["", "  ", "asked bjork@example.com", "x".repeat(1_001)]) {
        const { status, text } = await pages.post(path, { decision: "approve", reason });
        expect([status, text]).toEqual([400, expect.stringContaining("Nothing was decided")]);
        if (reason.includes("@")) expect(text).toContain("asked bjork@example.com");
      }
      for (const decision of ["", "lapse", "__proto__"])
        expect((await pages.post(path, { decision, reason: "asked" })).status).toBe(400);
      expect((await pages.post("/hold/h-none", { decision: "approve", reason: "asked" })).status).toBe(404);
      expect([states(w), entries(w)]).toEqual(before);
    },
  );

  it("is for the role that decides alone, and only in the daemon's own pages", { tags: "long" }, async () => {
    const w = await severalTroubles();
    const [first] = heldIn(w);
    const before = [states(w), entries(w)];
    const cases = [
      await showing(w, { ...operator, role: "see" }),
      await showing(w, { ...operator, role: "report" }),
      await showing(w, operator, "beside a daemon"),
    ];
    for (const pages of cases) {
      for (const path of ["/today", "/plan", `/hold/${first?.hold}`])
        expect((await pages.get(path)).text).not.toMatch(/method="post" action="\/(?!logout)|class="button"/u);
      for (const [path, decision] of [
        [`/hold/${first?.hold}`, "approve"],
        [`/hold/${first?.hold}`, "reject"],
        [`/hold/${first?.hold}`, first?.id ?? ""],
        [`/plan/run/${first?.run}`, "approve"],
      ] as const)
        expect((await pages.post(path, { decision, reason: "asked the customer" })).status, path).toBe(403);
    }
    expect([states(w), entries(w)]).toEqual(before);
  });
});

describe("text from elsewhere", () => {
  it(
    "is text on the pages of the plan, and what is asked for wrongly is no failure of the program",
    { tags: "long" },
    async () => {
      const w = await severalTroubles();
      w.tamper(`update hold set explanation = ${hostileSql}, reason = ${hostileSql}, decided_by = ${hostileSql},
      decided_at = created_at`);
      w.tamper(`update operation set reason = ${hostileSql}, before = json_object(${hostileSql}, ${hostileSql})`);
      w.tamper(`update hold_operation set reason = ${hostileSql}`);
      const pages = await showing(w);
      for (const path of ["/today", "/plan", `/hold/${heldIn(w)[0]?.hold}`]) {
        const { status, text } = await pages.get(path);
        expect(status, path).toBe(200);
        textOnly(text);
      }
      const at = encodeURIComponent(hostile.slice(0, 200));
      for (const [path, status] of [
        [`/hold/${at}`, 404],
        ["/hold/%ff", 404],
        ["/hold/..%2f", 404],
        [`/plan?after=${at}&holdsAfter=${at}&done=${at}`, 200],
        ["/plan?done=constructor", 200],
        [`/hold/${heldIn(w)[0]?.hold}?after=-1`, 400],
        [`/hold/${heldIn(w)[0]?.hold}?after=x`, 400],
      ] as const) {
        const answer = await pages.get(path);
        expect(answer.status, path).toBe(status);
        textOnly(answer.text);
      }
    },
  );
});
