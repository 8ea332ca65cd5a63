import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { expect, it } from "vitest";
import { world } from "../support/cli.ts";
import { beganLastMonth, lastMonth } from "../support/last-month.ts";

it(
  "a month is closed by hand, once what stands in the way is signed off, printed again and opened again",
  { tags: "long" },
  async () => {
    const w = await world();
    await beganLastMonth(w);
    expect((await w.run("run", "customers-and-orders")).exitCode).toBe(0);
    const blocked = await w.run("report", "close", lastMonth, "--by", "anna");
    expect(blocked.exitCode).toBe(4);
    expect(blocked.stdout).toContain("were not read completely since the period was over");
    const { blockers } = JSON.parse((await w.run("report", "blockers", lastMonth, "--json")).stdout) as {
      blockers: { id: string }[];
    };
    const ids = blockers.map(({ id }) => id);
    expect((await w.run("report", "sign-off", lastMonth, ...ids, "--by", "anna")).exitCode, "without a reason").toBe(
      64,
    );
    const signed = await w.run("report", "sign-off", lastMonth, ...ids, "--by", "anna", "--reason", "read later");
    expect(signed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("signed off by anna") });
    expect(await w.run("report", "close", lastMonth, "--by", "anna")).toMatchObject({ exitCode: 0 });
    expect((await w.run("report", "close", lastMonth)).exitCode).toBe(64);
    expect((await w.run("report", "closings")).stdout).toContain("anna");

    const folder = w.path("printed");
    mkdirSync(folder);
    const printed = await w.run("report", "print", lastMonth, "--out", folder);
    expect(printed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("the figures are the same") });
    expect(readdirSync(folder)).toEqual(
      expect.arrayContaining([`orders-${lastMonth}.csv`, `orders-${lastMonth}.xlsx`, `entitlements-${lastMonth}.html`]),
    );
    for (const name of readdirSync(folder).filter((one) => one.endsWith(".csv")))
      expect(readFileSync(`${folder}/${name}`, "utf8")).not.toContain("Zqcanary");

    expect((await w.run("report", "reopen", lastMonth, "--by", "ben")).exitCode, "without a reason").toBe(64);
    const reopened = await w.run("report", "reopen", lastMonth, "--by", "ben", "--reason", "an amount was wrong");
    expect(reopened.exitCode).toBe(0);
    expect((await w.run("report", "closings")).stdout).toContain("an amount was wrong");
    expect((await w.run("report", "print", lastMonth, "--out", folder)).exitCode, "the closing stays").toBe(0);
    w.tamper("insert into meta (key, value) values ('stood since', '2999-01-01T00:00:00.000Z')");
    w.environment["CRM_SYNC__zone"] = "Asia/Kolkata";
    const partly = await w.run("report", "print", lastMonth, "--out", folder);
    expect(partly.stdout).toMatch(/was not computed anew: .* 2999-01-01 05:30:00 \+05:30/u);
    const forMachines = await w.run("report", "print", lastMonth, "--out", folder, "--json");
    expect(forMachines.stdout).toContain("2999-01-01T00:00:00.000Z");
  },
);

it("who is shown the names of customers stands in the audit record", async () => {
  const w = await world();
  await w.run("run", "customers-and-orders");
  const names = w.path("cover.csv");
  expect((await w.run("report", "cover", "--period", lastMonth, "--out", names)).exitCode).toBe(0);
  expect(readFileSync(names, "utf8").split("\r\n").length).toBeGreaterThan(2);
  const entries = w.rows<{ body: string }>("select body from audit where kind = 'private-shown' and subject = 'cover'");
  expect(entries).toHaveLength(1);
  expect((await w.run("report", "activity", "--period", new Date().toISOString().slice(0, 7))).stdout).toContain(
    "saw personal data",
  );
});

it(
  "a frozen file that somebody put in the place of another one is not printed as closed books",
  { tags: "long" },
  async () => {
    const w = await world();
    await beganLastMonth(w);
    await w.run("run", "customers-and-orders");
    const { blockers } = JSON.parse((await w.run("report", "blockers", lastMonth, "--json")).stdout) as {
      blockers: { id: string }[];
    };
    for (const { id } of blockers)
      await w.run("report", "sign-off", lastMonth, id, "--reason", "known", "--by", "anna");
    expect((await w.run("report", "close", lastMonth)).exitCode).toBe(0);
    w.tamper("drop trigger closed_file_refuses_update");
    w.tamper(`update closed_file set sha256 = (select sha256 from closed_file where name like 'run-%.csv')
    where name like 'orders-%.csv'`);
    const refused = await w.run("report", "print", lastMonth, "--out", w.folder);
    expect(refused.exitCode).toBe(65);
    expect(refused.stderr).toContain("is not what its audit entry says");
  },
);

it(
  "a month that was over before the ledger began is not closed, and the message names the first that can be",
  { tags: "long" },
  async () => {
    const w = await world();
    w.environment["CRM_SYNC__zone"] = "Asia/Kolkata";
    await w.run("run", "customers-and-orders");
    const [began] = w.rows<{ at: string }>("select at from audit where sequence = 1");
    const local = new Date(Date.parse(began?.at ?? "") + 330 * 60_000).toISOString();
    const year = Number(local.slice(0, 4));
    const refused = async (...words: string[]): Promise<void> => {
      const ended = await w.run("report", ...words);
      expect.soft([ended.exitCode, ended.stdout], words.join(" ")).toEqual([64, ""]);
      expect.soft(ended.stderr).toContain(`${year - 1} was over before this ledger began`);
      expect.soft(ended.stderr).toContain(`${local.slice(0, 10)} ${local.slice(11, 19)} +05:30`);
      expect.soft(ended.stderr).toContain(`\`crm-sync report close ${year}\``);
    };
    await refused("close", `${year - 1}`, "--by", "anna");
    await refused("blockers", `${year - 1}`);
    await refused("sign-off", `${year - 1}`, "run:run_1", "--by", "anna", "--reason", "known");
    expect((await w.run("report", "blockers", `${year}`)).exitCode, "it began in this one").toBe(4);
  },
);

it(
  "a row in quarantine is signed off by the id that its row of the statement has, and by no other",
  { tags: "long" },
  async () => {
    const w = await world();
    const [first] = w.staff;
    if (first === undefined) throw new Error("nobody is there");
    w.staff[0] = { ...first, name: "Zqcanary ".repeat(60) };
    w.write();
    expect((await w.run("run", "everything")).exitCode).toBe(3);
    const month = new Date().toISOString().slice(0, 7);
    const rows = async (): Promise<Record<string, string>[]> => {
      const { stdout } = await w.run("report", "exceptions", "--period", month, "--part", "exceptions");
      const all: Record<string, string>[] = parse(stdout, { columns: true });
      return all.filter(({ kind }) => kind === "quarantined");
    };
    const [waits] = await rows();
    const id = waits?.["sign_off_id"] ?? "";
    expect(id).toMatch(/^quarantined:q-/u);
    const accept = ["--by", "anna", "--reason", "not ours to correct"];
    const wrong = await w.run("report", "sign-off", month, `${id}0`, ...accept);
    expect([wrong.exitCode, wrong.stderr]).toEqual([64, expect.stringContaining("--part exceptions")]);
    expect(await w.run("report", "sign-off", month, id, ...accept)).toMatchObject({
      exitCode: 0,
      stdout: `${id} is signed off by anna, as it is now\n`,
    });
    const again = ["report", "sign-off", month, id, "--by", "bob", "--reason", "me too"];
    expect(await w.run(...again)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(
        /^quarantined:q-\w+ was signed off by anna already \(\d{4}-.*\), as it is now; nothing was written\n$/u,
      ),
    });
    expect(JSON.parse((await w.run(...again, "--json")).stdout)).toEqual({
      period: month,
      signedOff: [{ id, by: "anna", at: expect.stringMatching(/Z$/u), already: true }],
    });
    expect(await rows()).toMatchObject([{ sign_off_id: id, signed_off_by: "anna", sign_off_reason: accept[3] }]);
    expect((await w.run("audit", "verify")).exitCode).toBe(0);
  },
);

it(
  "an option of `report` that a command below it does not take is refused, wherever it stands",
  { tags: "long" },
  async () => {
    const w = await world();
    await beganLastMonth(w);
    for (const [command, option, ...words] of [
      ["close", "--customer", lastMonth, "--customer", "C-1", "--by", "anna"],
      ["close", "--out", lastMonth, "--out", "x"],
      ["reopen", "--source", lastMonth, "--source", "crm", "--reason", "wrong"],
      ["blockers", "--as-of", lastMonth, "--as-of", "2020-01-01"],
      ["blockers", "--by", lastMonth, "--by", "anna"],
      ["sign-off", "--period", lastMonth, "run:run_1", "--period", lastMonth, "--by", "anna", "--reason", "known"],
      ["closings", "--format", "--format", "nonsense"],
      ["print", "--part", lastMonth, "--out", w.folder, "--part", "x"],
    ] as const) {
      const ended = await w.run("report", command, ...words);
      expect.soft([ended.exitCode, ended.stdout], command).toEqual([64, ""]);
      expect.soft(ended.stderr).toContain(`\`crm-sync report ${command}\` has no option ${option}\n`);
      expect.soft(ended.stderr).toContain(`\`crm-sync report ${command} --help\``);
    }
    expect((await w.run("report", "--customer", "C-1", "closings")).exitCode, "before it").toBe(64);
    expect((await w.run("report", "--by", "anna", "close", lastMonth)).exitCode, "its own, before it").toBe(0);
    expect((await w.run("report", "closings")).stdout).toContain("anna");
  },
);
