import { expect, it } from "vitest";
import { ran } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

it("writes the ledger of one moment, which is put back and goes on if nothing was done after it", async () => {
  const w = await world({ records: company(1, 1) });
  await ran(w);
  const { path, manifest } = await w.ask("backup", "--to", w.path("backups"));
  const { audit } = await w.ask("status");
  expect(manifest.audit).toMatchObject({ sequence: audit.sequence });
  expect((await w.run("restore", path)).exitCode).toBe(0);
  const { exitCode, calls } = await ran(w);
  expect([exitCode, calls]).toEqual([0, {}]);
});
