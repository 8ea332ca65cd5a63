import { expect, it } from "vitest";
import { company } from "../support/world/crm.ts";
import { document, world } from "../support/cli.ts";

it("an order that was placed and is gone from the platform is a finding: exit 3 and an alert, as long as it is so", async () => {
  const w = await world({ records: company(3, 2) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const well = await w.run("run", "verify");
  expect(well.exitCode, well.stdout).toBe(0);

  expect(w.sandbox.dropOrders("O2")).toBeGreaterThan(0);
  const { result: gone, calls } = await w.writes(() => w.run("run", "verify"));
  expect(gone.exitCode, gone.stdout).toBe(3);
  expect(calls, "nothing is sent again by itself").toEqual({});
  expect(gone.stdout).toMatch(/not as placed: crm\/C2: product of order crm\/O2 O2-A1-P under asset number \d+: /u);
  expect(gone.stdout).toMatch(/exit 3: the platform does not show everything as it was placed/u);
  expect(gone.stdout).not.toContain("crm/C1");
  expect(gone.stderr, "an alert").toContain("not-as-placed");
  expect(document(await w.run("--json", "runs"))[0]).toMatchObject({ job: "verify", exitCode: 3 });
  const other = await w.run("run", "everything");
  expect(other.stderr, "told once").not.toContain("not-as-placed");
  expect((await w.run("run", "verify")).exitCode, "as long as it is so").toBe(3);
});
