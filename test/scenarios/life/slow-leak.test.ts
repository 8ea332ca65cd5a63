import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { allowedBy } from "../../../src/plan/limits.ts";
import { limitsSettingsSchema } from "../../../src/run/run-settings.ts";
import { world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

const { taking: limits } = limitsSettingsSchema.parse({});
const [customers, seats] = [12, 12];
const [customersADay, seatsEach] = [4, 4];
const aRun = customersADay * seatsEach;
const hourMs = 60 * 60 * 1_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-03-02T02:00:00Z") }));
afterEach(() => void vi.useRealTimers());

/** A company that stands on the platform as the CRM has it. */
async function synchronised(): Promise<World> {
  const w = await world({ records: company(customers, seats) });
  const first = await w.run("run", "everything");
  expect(first.exitCode, first.stdout + first.stderr).toBe(0);
  return w;
}

/** The CRM takes so many assets away again: a few of each customer whose turn it is. */
function leak(w: World, time: number): void {
  for (let turn = 0; turn < customersADay; turn += 1) {
    const customer = `C${((time * customersADay + turn) % customers) + 1}`;
    const holding = w.staff.filter((person) => person.customer === customer && (person.holds ?? []).length > 0);
    for (const person of holding.slice(0, seatsEach)) person.holds = [];
  }
  w.write();
}

function later(hours: number): void {
  vi.setSystemTime(Date.now() + hours * hourMs);
}

/** In which run, counted from 1, the sum of a window goes over its limit, where each run takes as many as the last. */
function runThatIsHeld(scope: "day" | "week"): number {
  const live = customers * seats;
  for (let run = 1; ; run += 1) if (run * aRun > allowedBy(limits[scope], live)) return run;
}

test(
  "a leak that stays below the limit of each run is held on the day on which seven days have taken too much",
  { tags: "long" },
  async () => {
    expect(aRun).toBeLessThanOrEqual(limits.run.floor);
    expect(seatsEach).toBeLessThanOrEqual(limits.enterprise.floor);
    const w = await synchronised();
    const last = runThatIsHeld("week");
    expect(last).toBe(7);
    for (let day = 1; day < last; day += 1) {
      later(23);
      leak(w, day);
      const { exitCode, stdout, sent } = await w.does("run", "staff");
      expect([exitCode, sent], `day ${day}: ${stdout}`).toEqual([0, aRun]);
    }

    later(23);
    leak(w, last);
    const held = await w.does("run", "staff");
    expect([held.exitCode, held.calls]).toEqual([4, {}]);
    const before = (last - 1) * aRun;
    expect(held.stdout).toContain(
      `${before + aRun} of ${customers * seats} (${(((before + aRun) / (customers * seats)) * 100).toFixed(1)} %) seats ` +
        `would be taken away within 7 days, ${before} of them before this run; ${limits.week.floor} are allowed`,
    );
    expect(held.stdout).toContain("held here: 4 seats; 4 people lose their last asset");
    expect(w.sandbox.state().assignments).toBe(customers * seats - before);

    const allowedNow = allowedBy(limits.week, customers * seats);
    expect((await w.run("status")).stdout).toContain(
      `taken     ${before} seats within 7 days, of ${allowedNow} that need no approval`,
    );

    // Everything else goes on meanwhile.
    w.orders.push({ id: "O-new", customer: "C1", assets: ["O-new-A1"] });
    w.write();
    const other = await w.does("run", "everything");
    expect(other.calls).toEqual({ E5: 1 });

    // What a person approves is carried out, and is no part of what the next days may take.
    for (const { id } of w.rows<{ id: string }>("select id from hold where state = 'open'"))
      expect((await w.run("approve", id, "--reason", "these people have left")).exitCode).toBe(0);
    const released = await w.does("run", "staff");
    expect([released.exitCode, released.sent], released.stdout).toEqual([0, aRun]);
    later(3 * 24);
    leak(w, last + 1);
    const next = await w.does("run", "staff");
    expect([next.exitCode, next.sent], next.stdout).toEqual([0, aRun]);
  },
);

test(
  "runs of one day that are small each are held once 24 hours have taken too much, and go on when they are over",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    const last = runThatIsHeld("day");
    expect(last).toBe(3);
    for (let run = 1; run < last; run += 1) {
      later(1);
      leak(w, run);
      const { exitCode, sent } = await w.does("run", "staff");
      expect([exitCode, sent]).toEqual([0, aRun]);
    }
    later(1);
    leak(w, last);
    const held = await w.does("run", "staff");
    expect([held.exitCode, held.calls]).toEqual([4, {}]);
    expect(held.stdout).toContain(`would be taken away within 24 hours, ${(last - 1) * aRun} of them before this run`);

    later(24);
    const { exitCode, sent, stdout } = await w.does("resync", "--source", "hr");
    expect([exitCode, sent], stdout).toEqual([0, aRun]);
  },
);
