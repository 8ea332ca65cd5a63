import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";

it("a file in the place of the folder of closed periods is told, and stops no run", { tags: "long" }, async () => {
  const w = await world();
  writeFileSync(w.path("periods"), "no folder");
  const ended = await w.does("run", "everything");
  expect(ended.stderr).toContain(w.path("periods"));
  expect([ended.exitCode, ended.calls["E2"]]).toEqual([0, 2]);
});
