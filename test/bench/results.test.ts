import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { readResult } from "../../bench/result.ts";

const folder = new URL("../../bench/results/", import.meta.url);

it("every result that is kept can be read by the bench that is here", () => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  for (const name of files) expect(readResult(new URL(name, folder).pathname).format, name).toBe(1);
});
