import { copyFileSync } from "node:fs";
import { expect, it } from "vitest";
import { headsPath, lastMark } from "../../src/ledger/audit/audit-heads.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { HandTime, openLedger, rowsOf } from "../support/world/start.ts";

async function fiveEntries(ledger: Ledger): Promise<void> {
  for (let entry = 1; entry <= 5; entry += 1) await ledger.audit.append({ kind: "k", subject: "s", body: {} });
  ledger.close();
}

it("the group that begins a gap is counted behind every group that was lost, and the gap is begun once", async () => {
  const time = new HandTime();
  const first = await openLedger({ time });
  const { path } = first;
  await fiveEntries(first.ledger);
  copyFileSync(path, `${path}.backup`);
  await fiveEntries((await openLedger({ path, time })).ledger);
  const lost = lastMark(headsPath(path));
  copyFileSync(`${path}.backup`, path);
  const restored = await openLedger({ path, time, fillsGap: true });
  const { gap } = await restored.ledger.gap.begin("anna");
  restored.ledger.close();
  expect(lastMark(headsPath(path))).toMatchObject({ commit: (lost?.commit ?? 0) + 1 });
  expect(rowsOf(path, "select value from meta where key = 'commits'")).toEqual([
    { value: String((lost?.commit ?? 0) + 1) },
  ]);
  const again = await openLedger({ path, time, fillsGap: true });
  expect((await again.ledger.gap.begin("anna")).gap.at).toBe(gap.at);
});
