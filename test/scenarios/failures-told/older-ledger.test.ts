import { copyFileSync, rmSync } from "node:fs";
import { expect, it } from "vitest";
import { document, world } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

it("an older copy of the ledger is told by each command that reads it, and by check", async () => {
  const w = await world({ records: company(1, 1) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const [ledger, copy] = [w.path("ledger.db"), w.path("copy.db")];
  copyFileSync(ledger, copy);
  const more = company(2, 1);
  Object.assign(w, { customers: more.customers, orders: more.orders, staff: more.staff });
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  for (const words of [["status"], ["check"]]) expect((await w.run(...words)).exitCode, words.join(" ")).toBe(0);
  for (const suffix of ["-wal", "-shm"]) rmSync(ledger + suffix, { force: true });
  copyFileSync(copy, ledger);

  for (const words of [["status"], ["alerts"], ["runs"], ["explain", "customer", "C1"], ["check"]]) {
    const { exitCode, stdout } = await w.run(...words);
    expect([exitCode, stdout.includes("is an older copy")], words.join(" ")).toEqual([65, true]);
  }
  const cure = "If a newer one exists, put that back. If not: `crm-sync rebuild --dry-run`";
  for (const words of [
    ["run", "everything"],
    ["audit", "verify"],
  ]) {
    const { exitCode, stdout, stderr } = await w.run(...words);
    expect([exitCode, stdout + stderr], words.join(" ")).toEqual([65, expect.stringContaining(cure)]);
  }
  const status = await w.run("--json", "status");
  expect([status.exitCode, document(status).refused]).toEqual([65, expect.objectContaining({ code: "ledger.behind" })]);
  expect(document(await w.run("--json", "check"))).toContainEqual(
    expect.objectContaining({ what: "ledger", good: false, kind: "ledger" }),
  );
  const tried = await w.run("rebuild", "--dry-run");
  expect([tried.exitCode === 65, tried.stdout]).toEqual([false, expect.stringContaining("would say so from then on")]);
  expect((await w.run("rebuild")).stdout).toContain("the audit log says so from now on");
  expect((await w.run("status")).exitCode).toBe(0);
});
