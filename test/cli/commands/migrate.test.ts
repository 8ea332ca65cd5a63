import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";

it("makes a ledger if there is none, and changes nothing of one that is of this version", async () => {
  const w = await world({ isNew: true });
  expect((await w.run("status")).exitCode).toBe(65);
  expect((await w.run("migrate")).exitCode).toBe(0);
  const { identity, audit } = await w.ask("status");
  expect((await w.run("migrate")).exitCode).toBe(0);
  expect(await w.ask("status")).toMatchObject({ identity, audit });
});
