import { parse } from "csv-parse/sync";
import { expect, it } from "vitest";
import { world } from "../support/cli.ts";

/** @module-tag long */

it("a month that ended before the ledger began, in the configured zone, is not closed", async () => {
  const w = await world();
  w.environment["CRM_SYNC__zone"] = "Asia/Kolkata";
  w.clock.at = Date.UTC(2026, 9, 31, 19);
  await w.run("run", "customers-and-orders");
  for (const words of [
    ["close", "2026-10", "--by", "anna"],
    ["blockers", "2026-10"],
    ["sign-off", "2026-10", "run:run_1", "--by", "anna", "--reason", "known"],
  ])
    expect(await w.run("report", ...words), words[0]).toMatchObject({ exitCode: 64, stdout: "" });
  expect((await w.run("report", "blockers", "2026-11")).exitCode, "it began in this one").toBe(4);
});

it("a row in quarantine is signed off once, by the id in the statement of exceptions", async () => {
  const w = await world();
  w.staff = w.staff.map((person, index) => (index === 0 ? { ...person, name: "Zqcanary ".repeat(60) } : person));
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(3);
  const rows = async (): Promise<Record<string, string>[]> => {
    const { stdout } = await w.run("report", "exceptions", "--period", "2026-11", "--part", "exceptions");
    const all: Record<string, string>[] = parse(stdout, { columns: true });
    return all.filter(({ kind }) => kind === "quarantined");
  };
  const [waits] = await rows();
  const id = waits?.["sign_off_id"] ?? "";
  const signOff = (about: string, by: string, reason: string): Promise<{ exitCode: number | null; stdout: string }> =>
    w.run("--json", "report", "sign-off", "2026-11", about, "--by", by, "--reason", reason);
  expect((await signOff(`${id}0`, "anna", "not ours to correct")).exitCode).toBe(64);
  expect((await signOff(id, "anna", "not ours to correct")).exitCode).toBe(0);
  const again = await signOff(id, "bob", "me too");
  expect([again.exitCode, JSON.parse(again.stdout)]).toMatchObject([
    0,
    { signedOff: [{ id, by: "anna", already: true }] },
  ]);
  const signed = { sign_off_id: id, signed_off_by: "anna", sign_off_reason: "not ours to correct" };
  expect(await rows()).toMatchObject([signed]);
});

it("an option of `report` is refused before and after a command below it that does not take it", async () => {
  const w = await world();
  await w.run("run", "customers-and-orders");
  for (const words of [
    ["close", "2026-10", "--customer", "C-1", "--by", "anna"],
    ["close", "2026-10", "--out", "x"],
    ["reopen", "2026-10", "--source", "crm", "--reason", "wrong"],
    ["blockers", "2026-10", "--as-of", "2020-01-01"],
    ["blockers", "2026-10", "--date", "crm-date"],
    ["sign-off", "2026-10", "run:run_1", "--period", "2026-10", "--by", "anna", "--reason", "known"],
    ["closings", "--format", "csv"],
    ["print", "2026-10", "--out", w.folder, "--part", "x"],
    ["--customer", "C-1", "closings"],
  ]) {
    const ended = await w.run("--json", "report", ...words);
    expect.soft([ended.exitCode, JSON.parse(ended.stdout).error.code], words.join(" ")).toEqual([64, "usage"]);
  }
  expect((await w.run("report", "--by", "anna", "closings")).exitCode, "its own option, before it").toBe(64);
});
