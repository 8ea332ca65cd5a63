import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { company } from "../support/world/crm.ts";
import { crmSync } from "../support/program.ts";
import { document, documents, expectDecent, until, world } from "../support/cli.ts";

describe("map", () => {
  it("shows records raw and mapped with the way of each field, and nothing private", async () => {
    const w = await world({ records: company(2, 1), isNew: true });
    const words = ["map", "hr", "staff", "--limit", "1"];
    const ended = await w.run(...words);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expectDecent(words, ended);
    expect(ended.stdout).toContain("staff.ndjson:1");
    expect(ended.stdout).toMatch(/^raw +mapped$/mu);
    expect(ended.stdout).toMatch(/^numbers: \[\] +mobile: \(text/mu);
    expect(ended.stdout).toMatch(/^customerId +C1 +customer = C1 +customer$/mu);
    expect(ended.stdout).toMatch(/^userName +\(text of \d+ characters/mu);
    expect(() => w.rows("select 1")).toThrow(/unable to open/u);
  });

  it("shows personal data to whoever asks for it, and secrets to nobody", async () => {
    const w = await world({ records: company(1, 1), isNew: true });
    expect((await crmSync(w.place, "map", "hr", "staff", "--show-private")).stdout).toContain("Zqcanary Person");
    const orders = await crmSync(w.place, "map", "crm", "orders", "--show-private");
    expect(orders.stdout).toContain("instances[].passwords");
    expect(orders.stdout).not.toContain("zqcanary-licence");
  });

  it("finds one record by its id, and says why another one cannot be used, in the place where it stands", async () => {
    const w = await world({ records: company(3, 1), isNew: true });
    const [, second] = w.staff;
    if (second === undefined) throw new Error("there is no second person");
    second.login = "not a login!";
    w.write();
    const found = await w.run("--json", "map", "hr", "staff", "--record", second.id);
    expect(found.exitCode).toBe(3);
    expect(document(found).records).toMatchObject([{ place: "staff.ndjson:2", fault: { field: "userName" } }]);
    const shown = await w.run("map", "hr", "staff", "--record", second.id);
    expect(shown.stdout).toContain("would be quarantined");
    expect(shown.stdout, "fields that map are shown").toMatch(/^customerId +C2 +customer = C2 +customer$/mu);
    expect(shown.stdout).toMatch(/^name +\(text of \d+ characters/mu);
    expect((await w.run("map", "hr", "staff", "--record", "S1-1")).exitCode).toBe(0);
    const none = await w.run("map", "hr", "staff", "--record", "nobody");
    expect(none).toMatchObject({ exitCode: 64, stdout: expect.stringContaining('whose key or id is "nobody"') });
  });

  it("names what there is where source or stream are unknown", async () => {
    const w = await world({ isNew: true });
    expect((await w.run("map", "erp", "staff")).stderr).toMatch(/no source "erp"[^]*use one of crm, hr/u);
    expect((await w.run("map", "hr", "orders")).stderr).toMatch(/no stream "orders"[^]*use one of staff/u);
  });
});

describe("check", () => {
  it("fails where the mapping would put all records into quarantine, which only a run showed before", async () => {
    const w = await world({ records: company(4, 1), isNew: true });
    for (const order of w.orders) Object.assign(order, { placedAt: "01.07.2026" });
    w.write();
    const file = w.path("data/orders.ndjson");
    writeFileSync(file, w.orders.map((_, index) => `{"id":"O${index}","customer":null}\n`).join(""));
    const ended = await w.run("check");
    expect(ended.exitCode).toBe(3);
    expect(ended.stdout).toMatch(
      /^BAD +source crm, orders: all 4 rows were read, and 4 would be quarantined: 4 rows \(/mu,
    );
    expect(ended.stdout).toContain("crm-sync map crm orders");
    expect(ended.stdout).toMatch(/^good +source hr, staff: all \d+ rows were read, and all can be used$/mu);
    expect(w.sandbox.counts().writingCalls).toBe(0);
  });

  it("warns of one bad record among many, and of a path that finds nothing anywhere", async () => {
    const w = await world({ records: company(4, 1), isNew: true });
    const [first] = w.staff;
    if (first === undefined) throw new Error("there is nobody");
    first.login = "not a login!";
    w.write();
    const ended = await w.run("check");
    expect(ended.exitCode).toBe(0);
    expect(ended.stdout).toMatch(/^warn +source hr, staff: .*1 would be quarantined/mu);
    expect(ended.stdout).toMatch(
      /^warn +source \w+, \w+: \S+ holds nothing in any of \d+ rows; the mapping of .* reads it$/mu,
    );
    const asJson = document(await w.run("--json", "check"));
    expect(asJson.filter((finding: { warning: boolean }) => finding.warning).length).toBeGreaterThan(1);
  });
});

describe("schema", () => {
  it("lists fields with types and how often they are filled, and describes what is personal", async () => {
    const w = await world({ records: company(4, 1), isNew: true });
    const ended = await w.run("schema", "hr");
    expect(ended.exitCode, ended.stderr).toBe(0);
    expectDecent(["schema"], ended);
    expect(ended.stdout).toMatch(/^source hr, staff: all \d+ rows$/mu);
    expect(ended.stdout).toMatch(/^login +text +100 % +userName +\(text of/mu);
    expect(ended.stdout).toMatch(/^customer +text +100 % +customerId +C1$/mu);
    const [only] = documents(await w.run("--json", "schema", "hr", "staff"));
    expect(only.fields.find(({ place }: { place: string }) => place === "numbers")).toMatchObject({ types: ["list"] });
  });
});

it("schema and map show no name of a member that may be data, but to whoever asks for personal data", async () => {
  const w = await world({ records: company(4, 1), isNew: true });
  const file = w.path("data/staff.ndjson");
  const people = readFileSync(file, "utf8").trimEnd().split("\n");
  const withSeats = people.map((line, index) =>
    line.replace(
      /\}$/u,
      `,"seats":{"zqcanary${index}@example.com":{"from":1},"zqcanarylogin${index}":2},"place":{"room":1}}`,
    ),
  );
  writeFileSync(file, `${withSeats.join("\n")}\n`);
  for (const words of [
    ["schema", "hr"],
    ["map", "hr", "staff"],
    ["map", "hr", "staff", "--limit", "1"],
  ]) {
    for (const form of [[], ["--json"]]) {
      const hidden = await crmSync(w.place, ...form, ...words);
      expect(hidden.exitCode, hidden.stderr).toBe(0);
      expect(hidden.stdout, words.join(" ")).not.toContain("zqcanary");
      expect(hidden.stdout).toContain("room");
    }
    expect((await crmSync(w.place, ...words, "--show-private")).stdout).toContain("zqcanarylogin0");
  }
  expect((await crmSync(w.place, "schema", "hr")).stdout).toMatch(
    /^seats\.\* +number, object +100 % +- +\(an object\)$/mu,
  );
});

describe("watch", () => {
  it(
    "shows the record again after each save, tells a mistake and waits, and ends when it is stopped",
    { tags: "long" },
    async () => {
      const w = await world({ records: company(1, 1), isNew: true });
      const stop = new AbortController();
      const file = w.path("crm-sync.yaml");
      let said = "";
      const ended = crmSync(
        {
          ...w.place,
          signal: stop.signal,
          stdout: { write: (text, done) => ((said += String(text)), done?.(), true) },
        },
        "watch",
        "hr",
        "staff",
      );
      await until("it shows the record", () => said.includes("can be used"));
      const text = readFileSync(file, "utf8");
      writeFileSync(file, text.replace("userName: login", "userName: { value: not a login }"));
      await until("it shows the change", () => said.includes("would be quarantined"));
      writeFileSync(file, text.replace("userName: login", "userNam: login"));
      writeFileSync(file, text);
      await until("it shows the first again", () => said.match(/can be used/gu)?.length === 2);
      stop.abort();
      expect((await ended).exitCode).toBe(0);
    },
  );
});
