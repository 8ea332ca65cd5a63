import { expect, it } from "vitest";
import { SettleWait } from "../../src/engine/run/queue.ts";
import { HandTime } from "../support/world/start.ts";

it("waits for any number of customers", async () => {
  const clock = new HandTime();
  const attempted: string[] = [];
  const waiting = new SettleWait({
    clock,
    settle: { timeMs: 0, readings: 1, maxWaitMs: 1_000, asyncDeadlineMs: 0, asyncPauseMs: 0 },
    concurrency: 1,
    signal: undefined,
    attempt: async ({ id }) => void attempted.push(id),
    attempted: async () => {},
  });
  const many = 200_000;
  const later = (ms: number): string => new Date(clock.now() + ms).toISOString();
  for (let n = 0; n < many; n += 1) waiting.add({ namespace: "crm", id: `C${n}` }, later(n === 7 ? 500 : 60_000));
  await waiting.wait();
  expect([attempted, waiting.size]).toEqual([["C7"], many - 1]);
});
