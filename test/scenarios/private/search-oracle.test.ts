import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { auditEntries } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { operator, showing, type Showing } from "../../support/showing.ts";
import { company } from "../../support/world/crm.ts";
import type { Person } from "../../../src/web/access/person.ts";

/** What an answer says beside repeating the text: all that whoever looks can learn by. */
type Search = (text: string) => Promise<string>;

/** Letters of the hidden names, and some that they lack. */
const letters = ["j", "a", "n", "o", "v", "k", "l", "m", "s", "+", "4", " "];
const hidden = {
  person: "Jana Novak",
  login: "jnovakk",
  mobile: "+4915100200300",
  "mail address": "josk@vanlo.example",
  administrator: "Jos Vanlo",
  "customer that is a person": "Joan Osman",
};

/** Rebuilds a hidden name: of all letters the one whose answer differs goes on, as long as one does. */
async function rebuilt(search: Search, most = 4): Promise<string> {
  let known = "";
  while (known.length < most) {
    const answers = new Map<string, string[]>();
    for (const letter of letters) {
      const answer = await search(known + letter);
      answers.set(answer, [...(answers.get(answer) ?? []), letter]);
    }
    const [next, ...others] = [...answers.values()].filter((some) => some.length === 1);
    if (next === undefined || others.length > 0) return known;
    known += next.join("");
  }
  return known;
}

/** A company with people, and a customer that is a person. */
async function withPeople(): Promise<World> {
  const w = await world({ records: company(3, 1) });
  const administrator = { contact: hidden.administrator, email: hidden["mail address"] };
  Object.assign(w.customers[0] ?? {}, { name: "Acme GmbH", ...administrator });
  Object.assign(w.customers[1] ?? {}, { name: "Acme Nord AG" });
  Object.assign(w.customers[2] ?? {}, { name: hidden["customer that is a person"], branch: "private" });
  Object.assign(w.staff[0] ?? {}, { name: hidden.person, login: hidden.login, mobile: hidden.mobile });
  w.write();
  const settings = readFileSync(w.path("crm-sync.yaml"), "utf8");
  const typed = settings.replace(
    /customerType:\s+value: company/u,
    "customerType: { map: branch, values: { private: personal }, default: company }",
  );
  expect(typed).not.toBe(settings);
  writeFileSync(w.path("crm-sync.yaml"), typed);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

const escaped = /&(?:lt|gt|amp|quot|#39);/gu;

/** Status, place and words of a page, without the text that was looked for. */
function pageSearch(pages: Showing): Search {
  return async (text) => {
    const { status, headers, text: page } = await pages.get(`/search?q=${encodeURIComponent(text)}`);
    return JSON.stringify([status, headers["location"], page.replaceAll(escaped, "").replaceAll(text, "TEXT")]);
  };
}

const people: [string, Person][] = [
  ["support without the right to names", { ...operator, role: "see", mayAskForPrivate: false }],
  ["finance", { ...operator, role: "report", mayAskForPrivate: false }],
  ["an operator without the right to names", { ...operator, mayAskForPrivate: false }],
  ["an operator with the right to names", operator],
];

describe("the search", () => {
  it.each(people)("tells %s not a letter of a person's name", async (_who, person) => {
    const w = await withPeople();
    const pages = await showing(w, person);
    const search = pageSearch(pages);
    expect(await rebuilt(search)).toBe("");
    for (const [what, text] of Object.entries(hidden)) {
      const nothing = await search("x".repeat(text.length));
      for (const one of [text, text.slice(0, 3), text.toLowerCase()]) expect(await search(one), what).toBe(nothing);
    }
    const byName = await pages.get("/search?q=acme%20gm");
    expect([byName.status, byName.headers["location"]]).toEqual([303, "/customer/crm/C1"]);
    expect((await pages.get("/search?q=S1-1")).headers["location"]).toBe("/person/crm/S1-1");
    const asked = await pages.post("/search/people", { q: hidden.person });
    expect(asked.status).toBe(person.mayAskForPrivate ? 200 : 403);
  });

  it("for people is for who may see names, is written down, and ends after thirty in a minute", async () => {
    const w = await withPeople();
    const anna = await showing(w);
    const ben = anna.as("ben");
    const found = await anna.post("/search/people", { q: "JANA  novak" });
    expect(found.text).toContain('href="/person/crm/S1-1"');
    expect(found.text).not.toContain('href="/person/crm/S2-1"');
    expect((await anna.post("/search/people", { q: hidden.login })).text).toContain('href="/person/crm/S1-1"');
    const personal = await anna.post("/search/people", { q: hidden["customer that is a person"] });
    expect(personal.text).toContain('href="/customer/crm/C3"');
    const searches = (await auditEntries(w)).filter(({ kind }) => kind === "people-searched");
    const { way, issuer, subject } = operator;
    const entry = { by: "anna.lee", who: { way, issuer, subject }, found: 1 };
    expect(searches.map(({ body }) => JSON.parse(body))).toEqual([entry, entry, entry]);
    expect(JSON.stringify(searches).toLowerCase()).not.toContain("jana");
    w.later(1 / 60);
    // What needs hundreds of searches ends.
    const attack: number[] = [];
    for (let at = 0; at < 30; at += 1)
      attack.push((await anna.post("/search/people", { q: `jana${letters[at % letters.length]}` })).status);
    expect(attack).not.toContain(429);
    const refused = await anna.post("/search/people", { q: hidden.person });
    expect([refused.status, Number(refused.headers["retry-after"])]).toEqual([429, expect.closeTo(30, -2)]);
    expect(refused.text).not.toContain("S1-1");
    expect((await auditEntries(w)).filter(({ kind }) => kind === "people-searched")).toHaveLength(33);
    // Another person, and another minute.
    expect((await ben.post("/search/people", { q: hidden.person })).status).toBe(200);
    w.later(1 / 60);
    expect((await anna.post("/search/people", { q: hidden.person })).status).toBe(200);
  });

  it("of the command line tells not a letter of a person's name without --show-private", async () => {
    const w = await withPeople();
    const explain = async (kind: string, text: string, ...more: string[]): Promise<string> => {
      const { exitCode, stdout, stderr } = await w.run("explain", kind, text, ...more);
      return JSON.stringify([exitCode, (stdout + stderr).replaceAll(text, "TEXT")]);
    };
    for (const kind of ["staff", "customer"]) {
      const nothing = await explain(kind, "xx");
      for (const text of ["jo", "jana", ...Object.values(hidden)])
        expect(await explain(kind, text), text).toBe(nothing);
    }
    expect(await rebuilt(async (text) => await explain("staff", text), 2)).toBe("");
    expect(await explain("customer", "acme gmbh")).toContain("crm/C1");
    expect((await auditEntries(w)).filter(({ kind }) => kind === "people-searched")).toEqual([]);
    const asked = ["--show-private", "--by", "anna.lee"];
    expect(await explain("staff", "jana n", ...asked)).toContain("crm/S1-1");
    expect(await explain("customer", "joan os", ...asked)).toContain("crm/C3");
    expect((await auditEntries(w)).filter(({ kind }) => kind === "people-searched")).toHaveLength(2);
  });
});

describe("the reason of a decision", () => {
  it("tells an operator without the right to names nothing of a name", async () => {
    const w = await withPeople();
    const pages = await showing(w, { ...operator, mayAskForPrivate: false });
    const pauses = async (reason: string): Promise<string> => {
      const { status, text } = await pages.post("/pause", { decision: "pause", reason });
      return JSON.stringify([status, text.replaceAll(reason, "TEXT")]);
    };
    const nothing = await pauses("Nobody Known");
    expect(nothing).toMatch(/^\[400,/u);
    for (const text of Object.values(hidden)) expect(await pauses(text), text).toBe(nothing);
    const entries = await auditEntries(w);
    expect(entries.filter(({ kind }) => kind === "paused")).toEqual([]);
    // There are reasons to choose from.
    const { text } = await pages.get("/pause");
    const [, reason = ""] = /<option\s*>([^<]+)/u.exec(text) ?? [];
    expect(text, "nobody gives a reason by not choosing").toMatch(/<select[^>]*required[^>]*>\s*<option value="">/u);
    expect(await pauses("")).toMatch(/^\[400,/u);
    expect(await pauses(reason)).toMatch(/^\[200,/u);
    const told = (await auditEntries(w)).find(({ kind }) => kind === "paused");
    expect(JSON.parse(told.body)).toMatchObject({ by: "anna.lee", reason });
    // Who may see names writes freely, and is told.
    const free = await showing(w);
    expect((await free.post("/pause", { decision: "resume", reason: hidden.person })).status).toBe(400);
    expect((await free.post("/pause", { decision: "resume", reason: "it is repaired" })).status).toBe(200);
  });
});
