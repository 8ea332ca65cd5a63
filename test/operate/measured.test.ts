import { renameSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { LedgerReading, type MeasuredLedger } from "../../src/operate/measured.ts";
import { systemClock } from "../../src/base/clock.ts";
import { openInquiry } from "../../src/inquiry/inquiry.ts";
import { world, type World } from "../support/cli.ts";
import { company } from "../support/world/crm.ts";
import { openLedger } from "../support/world/start.ts";

const jobs = ["customers-and-orders", "staff"].map((id) => ({ id, schedule: undefined }));

/** What is measured of a world's ledger; each time that it is read takes so many milliseconds by its clock. */
function readingOf(w: World, tookMs = 0) {
  const inquiry = openInquiry(w.path("ledger.db"));
  onTestFinished(() => inquiry.close());
  const clock = { ...systemClock, now: () => w.clock.now(), ms: 0, monotonic: () => clock.ms };
  const made = { clock, times: 0 };
  const reading = new LedgerReading({
    inquiry: async () => ({
      measures: async (asked) => {
        made.times += 1;
        clock.ms += tookMs;
        return await inquiry.measures(asked);
      },
    }),
    jobs: () => jobs,
    sources: () => ["crm", "hr"],
    schedule: { state: async () => [] },
    clock,
  });
  return Object.assign(made, { reading });
}

const staffOf = ({ jobs: all }: MeasuredLedger) => all.find(({ job }) => job === "staff");

it("a run that did not do its work does not move when the job did it last", { tags: "long" }, async () => {
  const w = await world({ records: company(2, 1) });
  expect((await w.run("run", "customers-and-orders")).exitCode).toBe(0);
  const { reading } = readingOf(w);
  expect(staffOf(await reading.now())).toEqual({
    job: "staff",
    nextFire: undefined,
    fireInterval: undefined,
    lastSuccess: undefined,
    lastEnd: undefined,
    lastExitCode: undefined,
  });
  expect((await w.run("run", "staff")).exitCode).toBe(0);
  const good = await reading.now();
  expect(staffOf(good)?.lastSuccess).toBe(staffOf(good)?.lastEnd);
  expect(staffOf(good)?.lastSuccess).toBeDefined();
  renameSync(w.path("data/staff.ndjson"), w.path("data/nobody.ndjson"));
  for (let time = 0; time < 2; time += 1) {
    expect((await w.run("run", "staff")).exitCode).toBe(7);
    const bad = await reading.now();
    expect(staffOf(bad)).toMatchObject({ lastExitCode: 7, lastEnd: staffOf(good)?.lastEnd });
    expect(staffOf(bad)?.lastSuccess).toBe(staffOf(good)?.lastSuccess);
  }
  const later = readingOf(w).reading;
  expect(staffOf(await later.now())).toEqual(staffOf(await reading.now()));
});

it("a run whose process died is no success, once it is known to be interrupted", async () => {
  const w = await world({ records: company(1, 1) });
  const { ledger } = await openLedger({ path: w.path("ledger.db"), time: w.clock });
  await ledger.runs.start({ job: "staff", kind: "sync", trigger: "hand", scope: null, header: { program: "test" } });
  ledger.close();
  const { reading } = readingOf(w);
  expect(staffOf(await reading.now())).toMatchObject({ lastExitCode: undefined });
  // The next run finds that nobody goes on with it.
  await w.run("run", "customers-and-orders");
  expect(staffOf(await reading.now())).toMatchObject({ lastExitCode: 1, lastSuccess: undefined });
});

it("the ledger is read for a twentieth of the time at most, however many ask however often", async () => {
  const w = await world({ records: company(1, 1) });
  expect((await w.run("run", "staff")).exitCode).toBe(3);
  const asked = readingOf(w, 100);
  const before = asked.times;
  await Promise.all(Array.from({ length: 50 }, () => asked.reading.now()));
  expect(asked.times - before).toBe(1);
  for (let ms = 0; ms < 20_000; ms += 50) {
    asked.clock.ms += 50;
    await asked.reading.now();
  }
  expect(asked.times - before).toBeGreaterThan(5);
  expect((asked.times - before) * 100 * 20).toBeLessThanOrEqual(asked.clock.ms + 2_100);
});
