import { describe, expect, it } from "vitest";
import type { RunCounts } from "../../src/ledger/runs/run-tables.ts";
import { balanceOf } from "../../src/engine/run/balance.ts";
import type { StreamTally } from "../../src/ingest/tally.ts";

const tally: StreamTally = {
  source: "erp",
  stream: "orders",
  extracted: 10,
  unchanged: 4,
  changed: 5,
  quarantined: 1,
  skipped: 0,
  absent: 0,
  complete: true,
  doubt: undefined,
  problem: undefined,
};
const records: RunCounts["records"][number] = {
  stream: "orders",
  workedOn: 2,
  deferred: 2,
  rejected: 1,
  quarantinedLate: 0,
  takenUpAgain: 0,
  changed: 5,
  lost: 0,
};
const states = { done: 2, rejected: 1, unknown: 1, parked: 1, held: 2, dropped: 1 };

function adds(
  change: {
    tally?: Partial<StreamTally>;
    records?: Partial<typeof records>;
    states?: Record<string, number>;
    planned?: number;
  } = {},
): boolean {
  return balanceOf(
    [{ ...tally, ...change.tally }],
    { records: [{ ...records, ...change.records }], operations: {} },
    { planned: change.planned ?? 7, carriedIn: 1, states: { ...states, ...change.states } },
  ).adds;
}

describe("the balance of a run", () => {
  it("adds up where every record and every operation has one outcome", () => {
    expect(adds()).toBe(true);
  });

  it.each<[string, Parameters<typeof adds>[0]]>([
    ["was read and has no outcome", { tally: { extracted: 11 } }],
    ["was changed and is neither worked on nor deferred", { records: { workedOn: 1 } }],
    ["was rejected and is not counted", { records: { rejected: 0 } }],
    ["has two outcomes", { records: { deferred: 3 } }],
    ["was taken up, which the tables do not know", { records: { changed: 4 } }],
    ["was taken up again and went nowhere", { records: { takenUpAgain: 1 } }],
  ])("does not add up where a record %s", (_what, change) => {
    expect(adds(change)).toBe(false);
  });

  it.each(["done", "rejected", "unknown", "parked", "held", "dropped"])(
    "does not add up where an operation that is %s is missing",
    (state) => {
      expect(adds({ states: { [state]: 0 } })).toBe(false);
    },
  );

  it.each(["planned", "sending"])("does not add up where an operation is still %s at the end", (state) => {
    expect(adds({ states: { [state]: 1 }, planned: 8 })).toBe(false);
  });
});
