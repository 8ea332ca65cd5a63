import { expect, it } from "vitest";
import { ran } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

it("makes a lost ledger anew without sending anything, and the next run has nothing to do", async () => {
  const w = await world({ records: company(1, 1) });
  await ran(w);
  w.losesItsLedger();
  for (const words of [["--dry-run"], ["--by", "anna"]]) {
    const { exitCode, calls } = await w.does("rebuild", ...words);
    expect([exitCode, calls], words.join(" ")).toEqual([0, {}]);
  }
  const { exitCode, calls } = await ran(w);
  expect([exitCode, calls]).toEqual([0, {}]);
  expect((await w.ask("explain", "order", "O1")).placed).toMatchObject([{ channelOrderId: "O1", origin: "adopted" }]);
});
