import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { launchedIn, launchedWith } from "../../bench/program.ts";

it("a measured program is started with what its launcher tells Node", () => {
  const launcher = readFileSync(new URL("../../bin/crm-sync", import.meta.url), "utf8");
  expect(launchedWith(launcher)).toEqual([
    "--min-semi-space-size=8",
    "--max-semi-space-size=8",
    "--heap-growing-percent=100",
  ]);
  expect(launchedIn(launcher)).toEqual({ MALLOC_ARENA_MAX: "1" });
  expect(launchedIn("node=x\n")).toEqual({});
  expect(launchedWith('exec "$node" "$program" "$@"\n')).toEqual([]);
  expect(launchedWith('  exec "$bundled" --title=x "$root/src/main.ts" "$@"\n')).toEqual(["--title=x"]);
  expect(() => launchedWith("exec node main.js\n")).toThrow("does not say");
});
