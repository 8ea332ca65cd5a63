import { rmSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { document, world } from "../support/cli.ts";

/** @module-tag long */

it("commands that need a ledger say that there is none, and make none", async () => {
  const w = await world({ isNew: true });
  for (const words of [
    ["status"],
    ["runs"],
    ["run", "show", "last"],
    ["explain", "customer", "C1"],
    ["quarantine", "list"],
    ["quarantine", "show", "q-1"],
    ["quarantine", "retry", "all"],
    ["settle", "list"],
    ["settle", "op_1", "--applied", "--reason", "seen"],
    ["approve", "h-1", "--reason", "asked"],
    ["staff", "password", "S1"],
    ["login"],
    ["report", "orders", "--period", "2026-10"],
    ["audit", "verify"],
    ["audit", "head"],
    ["audit", "export"],
  ]) {
    const ended = await w.run("--json", ...words);
    expect.soft(ended.exitCode, `${words.join(" ")}: ${ended.stderr}`).toBe(65);
    expect.soft(() => document(ended).error.code).not.toThrow();
  }
  expect(w.sandbox.counts().calls).toEqual({});
});

it("a file that is no ledger, another program's database and a ledger of another version are refused", async () => {
  const w = await world({ isNew: true });
  writeFileSync(w.path("ledger.db"), "This is a letter to my grandmother, and no database at all.\n".repeat(100));
  expect((await w.run("run", "everything")).exitCode).toBe(65);
  rmSync(w.path("ledger.db"));
  w.tamper("create table recipes (name text)");
  expect((await w.run("run", "everything")).exitCode).toBe(65);
  expect(w.sandbox.counts().calls).toEqual({});
  const other = await world();
  other.tamper("pragma user_version = 9999");
  for (const words of [["run", "everything"], ["status"], ["accept-platform"]])
    expect((await other.run(...words)).exitCode, words.join(" ")).toBe(65);
  expect(other.sandbox.counts().calls).toEqual({});
});
