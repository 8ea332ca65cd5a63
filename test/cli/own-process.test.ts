import { expect, it } from "vitest";
import { world } from "../support/cli.ts";
import { company } from "../support/world/crm.ts";

it("a command does and says the same in a process of its own as in that of the tests", async () => {
  const w = await world({ isOnMachineTime: true, records: company(1, 1) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  for (const words of ["--json explain order O1", "statis"]) {
    const own = await w.start(...words.split(" ")).ended;
    expect(await w.run(...words.split(" ")), words).toEqual(own);
  }
  const version = await w.plain("--version");
  expect([version.exitCode, version.stderr]).toEqual([0, ""]);
  expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/u);
});
