import { rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { company } from "../support/world/crm.ts";
import { document, promptRetries, world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { severalTroubles } from "../support/several-troubles.ts";
import { operator, showing } from "../support/showing.ts";
import { health } from "../support/telling.ts";

/** The class and the words of the sentence. */
function sentenceOf(text: string): { tone: string; words: string } {
  const found = /<p class="lead state (\w+)">\s*<span aria-hidden="true">.<\/span>\s*([^<]*)<\/p>/u.exec(text);
  return { tone: found?.[1] ?? "", words: found?.[2]?.trim() ?? "" };
}

async function good(extra = ""): Promise<World> {
  const w = await world({ records: company(3, 2) });
  w.extra = extra;
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

/** Worlds in which something is wrong, each with what brought it about last. */
const broken: Record<string, () => Promise<World>> = {
  "something of each sort waits": severalTroubles,
  "something is held": async () => {
    const w = await good("policies: { seats: { revoked: hold } }\n");
    for (const person of w.staff.slice(0, 3)) person.holds = [];
    w.write();
    await w.run("run", "everything");
    return w;
  },
  "a row is in quarantine": async () => {
    const w = await good();
    Object.assign(w.staff[0] ?? {}, { login: "not a login!" });
    w.write();
    await w.run("run", "everything");
    return w;
  },
  "the file of a source is gone": async () => {
    const w = await good();
    rmSync(w.path("data/staff.ndjson"));
    await w.run("run", "everything");
    return w;
  },
  "a service is down": async () => {
    const w = await good();
    Object.assign(w.environment, promptRetries);
    w.customers.push(...company(4, 2).customers.slice(3));
    w.write();
    w.sandbox.faults.add({ operation: "E3", fault: "http503" });
    await w.run("run", "everything");
    return w;
  },
  "an order was refused": async () => {
    const w = await good();
    w.orders.push({ id: "O9", customer: "C1", assets: ["O9-A1"] });
    w.write();
    w.sandbox.faults.add({ operation: "E5", fault: "refused" });
    await w.run("run", "everything");
    return w;
  },
  "a run was interrupted": async () => {
    const w = await good();
    w.tamper("update run set state = 'interrupted', exit_code = null where job = 'everything'");
    return w;
  },
  "a run did not balance": async () => {
    const w = await good();
    w.tamper("update run set exit_code = 6 where job = 'everything'");
    return w;
  },
  "a run ended with an exit code that says of itself no more": async () => {
    const w = await good();
    w.tamper("update run set exit_code = 7 where job = 'everything'");
    return w;
  },
  "nobody is told": async () =>
    await good("notify: { kind: command, command: [sh, -c, 'exit 1'] }\n").then(async (w) => {
      for (const person of w.staff.slice(0, 1)) person.login = "not a login!";
      w.write();
      await w.run("run", "everything");
      Object.assign(w.staff[0] ?? {}, { login: "a.login" });
      w.write();
      await w.run("run", "everything");
      return w;
    }),
  "a circuit is open": async () => {
    const w = await good();
    w.tamper("insert into open_circuit (service, since, reason, probe_at) values ('order-service', 'x', 'y', 'z')");
    return w;
  },
};

describe("the sentence of today", () => {
  it("is good where nothing of what is known says otherwise", { tags: "long" }, async () => {
    const w = await good();
    expect((await health(w)).wrong).toEqual([]);
    const { tone, words } = sentenceOf((await (await showing(w)).get("/today")).text);
    expect(tone).toBe("good");
    expect(words).toContain("Nothing waits for a person");
  });

  it.each([
    ["all have stood still for days", undefined],
    ["one has, and another went on", "verify"],
  ])(
    "is not good where the last runs ended well and jobs were not fired since: %s",
    { tags: "long" },
    async (_what, goesOn) => {
      const w = await good(
        "jobs:\n  everything: { kind: sync, streams: [customers, orders, staff], schedule: '0 * * * *' }\n" +
          "  verify: { kind: verify, schedule: '30 * * * *' }\n",
      );
      expect((await w.run("run", "verify")).exitCode).toBe(0);
      const fired = (job: string, at: string): void =>
        w.tamper(`insert or replace into last_fire_time (job, fire_time, fired_at) values ('${job}', ${at}, ${at})`);
      const [days, now] = ["strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-9 days')", "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"];
      fired("everything", days);
      fired("verify", goesOn === "verify" ? now : days);
      for (const page of [await showing(w), await showing(w, operator, "beside a daemon")]) {
        const { text } = await page.get("/today");
        expect(sentenceOf(text).tone).toBe("wait");
        expect(text).toMatch(/everything should have fired (?:8|9) d ago and did not/u);
        expect(/verify should have fired/u.test(text)).toBe(goesOn === undefined);
      }
      fired("everything", now);
      fired("verify", now);
      expect(sentenceOf((await (await showing(w)).get("/today")).text).tone).toBe("good");
    },
  );

  it("says that nothing is known where no job has run", async () => {
    const w = await world();
    await w.run("map", "hr", "staff");
    const { tone, words } = sentenceOf((await (await showing(w)).get("/today")).text);
    expect([tone, words]).toEqual(["wait", "No job has run yet, so nothing is known."]);
  });

  it.each(Object.keys(broken))("is never good where %s", { tags: "long" }, async (name) => {
    const w = await (broken[name] ?? good)();
    const [last] = w.rows<{ exit: number | null }>(
      "select exit_code as exit from run order by started_at desc limit 1",
    );
    const { wrong } = await health(w);
    const said = (await w.run("status")).stdout;
    const complained = last?.exit !== 0 || wrong.length > 0 || !said.includes("nothing waits for a person");
    expect(complained, "the world is broken for the others too").toBe(true);
    const pages = [await showing(w), await showing(w, { ...operator, role: "see" }, "beside a daemon")];
    for (const page of pages) {
      const { tone, words } = sentenceOf((await page.get("/today")).text);
      expect(["wait", "bad"], words).toContain(tone);
      expect(words).not.toContain("Nothing waits");
    }
  });
});

describe("today", () => {
  it(
    "names everything that waits, the oldest first, with its owner, its cure and the way to decide it",
    { tags: "long" },
    async () => {
      const w = await severalTroubles();
      const { status, text } = await (await showing(w)).get("/today");
      expect(status).toBe(200);
      const facts = document(await w.run("--json", "status"));
      for (const hold of facts.holds) expect(text).toContain(`href="/hold/${hold.id}"`);
      for (const row of facts.openOperations) expect(text).toContain(`href="/settle/${row.id}"`);
      expect(text).toMatch(/1 order is in quarantine \(not-an-instant\): crm\/O8/u);
      expect(text).toMatch(/1 order is deferred \(operation\.open\): crm\/O9/u);
      const items = text.slice(text.indexOf('<ol class="waiting">'), text.indexOf("</ol>"));
      expect(items.match(/<li /gu)).toHaveLength(5);
      expect(items.match(/owner: (?:CRM|operator|platform|program|configuration)/gu)).toHaveLength(5);
      expect(items.match(/class="cure"/gu)).toHaveLength(5);
      expect(items.match(/class="button"/gu)).toHaveLength(4);
      expect(text).not.toMatch(/zqcanary/iu);
    },
  );

  it("shows each job with its last runs as bars that lead to them, and when it fires", { tags: "long" }, async () => {
    const w = await severalTroubles();
    const { text } = await (await showing(w)).get("/today");
    const runs = w.rows<{ id: string }>("select id from run");
    expect(runs).toHaveLength(4);
    for (const { id } of runs) expect(text).toMatch(new RegExp(`<a href="/run/${id}" aria-label="[^"]+: [^"]+"`, "u"));
    expect(text).toContain("The last 2 runs of people");
    expect(text).toMatch(/everything: records that its last 2 runs left not done/u);
    expect(text).toMatch(/<a href="\/runs\?job=verify">[^]*?in \d+ (?:min|h)/u);
  });

  it("shows how the services are where that is known, and says where it is shown else", { tags: "long" }, async () => {
    const w = await severalTroubles();
    const figures = { overMs: 60_000, calls: 150, callsPerSecond: 2.5, errorShare: 0.125, p50Ms: 12, p95Ms: 1_234 };
    const live = { figures: () => figures };
    const { text } = await (await showing(w, operator, live)).get("/today");
    for (const shown of ["2.5", "12.5 %", "12 ms", "1,234 ms"]) expect(text).toContain(`>${shown}<`);
    expect((await (await showing(w, operator, "beside a daemon")).get("/today")).text).toContain(
      "The daemon's own page shows",
    );
  });
});
