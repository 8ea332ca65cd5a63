import { expect, it } from "vitest";
import { ReadJudge } from "../../src/ingest/belief/judge.ts";
import type { KnownRecord } from "../../src/ledger/records/known-records.ts";
import type { IngestedRecord } from "../../src/ledger/records/record-tables.ts";
import { StagedRecords } from "../../src/ledger/records/staged-records.ts";

/** How often the ledger is asked whether a record was met, where `there` customers and `came` new ones have one name. */
function asked(there: number, came: number): number {
  const staged = new StagedRecords();
  const key = (id: string) => ({ namespace: "crm", id });
  const row = (id: string): { record: IngestedRecord } => ({
    record: { rawHash: id, place: "", key: key(id), customer: key(id), record: { id, name: "Private" }, raw: "" },
  });
  staged.put(Array.from({ length: came }, (_, at) => row(`N${at}`)));
  const known = Array.from({ length: there }, (_, at): KnownRecord => {
    const record = { id: `C${at}`, name: "Private" };
    return { key: key(`C${at}`), source: "crm", state: "current", rawHash: `C${at}`, lastRead: 1, record };
  });
  let count = 0;
  new ReadJudge({
    stream: "customers",
    staged,
    total: there,
    isWhole: true,
    isComplete: true,
    isShrunk: false,
    limits: { newIds: { floor: 5, share: 0.05 }, massChange: { floor: 20, share: 0.2 } },
    ledger: {
      of: () => [],
      ordersOf: () => [],
      named: () => known,
      hasMet: () => {
        count += 1;
        return true;
      },
      missing: () => 0,
      mayBeUnusable: () => false,
    },
  }).judge();
  staged.close();
  return count;
}

it("customers of one name are asked for once each, however many are new", () => {
  const start = performance.now();
  const count = asked(4_000, 400);
  expect(count, `${Math.round(performance.now() - start)} ms`).toBeLessThan(10 * 4_000);
});
