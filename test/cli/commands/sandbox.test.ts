import { mkdirSync } from "node:fs";
import { expect, it } from "vitest";
import { document, world } from "../../support/cli.ts";
import { crmSync } from "../../support/program.ts";
import { company } from "../../support/world/crm.ts";

it("is a mistake of the configuration if its state cannot be opened", async () => {
  const w = await world({ records: company(1, 1) });
  mkdirSync(w.path("sandbox.db"));
  const ended = await w.plain("--sandbox", "run", "everything");
  expect([ended.exitCode, ended.stderr]).toEqual([78, expect.stringContaining(w.path("sandbox.db"))]);
});

it("takes the word after --sandbox as its URL only if it is one", async () => {
  const w = await world({ records: company(1, 1) });
  const spaced = await w.plain("--sandbox", w.sandbox.url, "run", "everything");
  expect([spaced.exitCode, w.sandbox.counts().effects]).toEqual([0, expect.objectContaining({ E2: 1 })]);
  const here = await w.plain("check", "--sandbox");
  expect([here.exitCode, here.stderr]).toEqual([0, ""]);
});

it("has another address in each command, which makes no plan a trial", async () => {
  const w = await world({ records: company(1, 1), isNew: true });
  expect((await w.plain("--sandbox", "run", "everything")).stdout).toContain("writing calls: ");
  expect((await w.plain("--sandbox", "plan")).stderr).toBe("");
});

it("is refused with a ledger of another one, which goes on with its own", { tags: "long" }, async () => {
  const one = await world({ records: company(1, 1) });
  const other = await world();
  expect((await one.run("run", "everything")).exitCode).toBe(0);
  const { url: sandbox } = other.sandbox;
  const wrong = await crmSync({ ...one.place, sandbox, clock: one.clock }, "--json", "run", "everything");
  expect([wrong.exitCode, document(wrong).error.exit]).toEqual([65, 65]);
  expect(other.sandbox.counts().writingCalls).toBe(0);
  expect((await one.run("run", "everything")).exitCode).toBe(0);
});
