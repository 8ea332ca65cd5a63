import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { world } from "../support/cli.ts";

it("what stands where closed books would, and cannot be given to the group, stops no run, and is said", async () => {
  const w = await world();
  w.write();
  writeFileSync(w.path("books"), "no folder");
  const ended = await w.run("run", "everything");
  expect(ended.stderr).toMatch(/the folder of closed books cannot be given to those who may read the ledger/u);
  expect(ended.exitCode).toBe(0);
  expect(w.rows("select id from operation")).not.toEqual([]);
});
