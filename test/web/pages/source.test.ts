import { rmSync } from "node:fs";
import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import { showing } from "../../support/showing.ts";

it("the page of a source shows its readings, and one that failed as bad", async () => {
  const w = await world();
  await w.run("run", "everything");
  rmSync(w.path("data/staff.ndjson"));
  await w.run("run", "everything");
  const pages = await showing(w);
  const of = async (source: string): Promise<[number, number]> => {
    const { status, text } = await pages.get(`/source/${source}`);
    return [status, text.match(/class="state bad"/gu)?.length ?? 0];
  };
  expect(await of("crm")).toEqual([200, 0]);
  expect(await of("hr")).toEqual([200, 1]);
  for (const none of ["nobody", "constructor", "%ff"]) expect((await of(none))[0], none).toBe(404);
});
