import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { auditEntries, waitsFor } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

it("hands an initial password out once, and keeps a trace of that but no copy", async () => {
  const w = await world({ records: company(1, 1) });
  await w.run("run", "everything");
  const { password } = await w.ask("staff", "password", "S1-1");
  expect(password.length).toBeGreaterThanOrEqual(8);
  const second = await w.run("--json", "staff", "password", "crm/S1-1");
  expect(second.exitCode).toBe(64);
  expect(second.stdout + second.stderr).not.toContain(password);
  for (const file of ["ledger.db", "ledger.db-wal"].map((name) => w.path(name)).filter(existsSync))
    expect(readFileSync(file).includes(password), file).toBe(false);
  const handedOut = (await auditEntries(w)).filter(({ kind }) => kind === "password-handed-out");
  expect(handedOut).toMatchObject([{ subject: "staff:crm/S1-1" }]);
  expect((await w.run("staff", "password", "S9-9")).exitCode).toBe(64);
});

it("adds nobody while there is no key to seal a password with, and check says so", { tags: "long" }, async () => {
  const w = await world({ records: company(1, 1) });
  const configured = readFileSync(w.path("crm-sync.yaml"), "utf8");
  writeFileSync(w.path("crm-sync.yaml"), configured.replace("  sealKey: env:SEAL_KEY\n", ""));
  const checked = await w.run("check");
  expect([checked.exitCode, checked.stdout]).toEqual([78, expect.stringContaining("(A30)")]);
  expect((await w.does("run", "everything")).calls).toEqual({ E2: 1, E5: 1, E9: 1 });
  expect(await waitsFor(w, "S1-1", "staff")).toBe("staff.no-sealing-key");
  writeFileSync(w.path("crm-sync.yaml"), configured);
  expect((await w.does("run", "everything")).calls).toEqual({ M1: 1, M9: 1 });
});
