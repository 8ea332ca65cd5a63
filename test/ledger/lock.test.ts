import { mkdirSync, rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { intend, problemOf, update } from "./opened.ts";
import { key } from "../support/world/records.ts";
import { openLedger } from "../support/world/start.ts";
import { start } from "./processes/start.ts";

describe("the run lock", () => {
  it(
    "refuses a second process at once with exit code 75, and is free again after kill -9 of the first",
    { tags: "long" },
    async () => {
      const { ledger, path } = await openLedger();
      const first = start("hold-lock.ts", path);
      await first.until(1);
      expect(first.lines).toEqual(["locked"]);
      const second = start("hold-lock.ts", path);
      await second.until(1);
      expect(second.lines).toEqual(["refused 75"]);
      expect(await problemOf(() => ledger.runs.takeLock())).toMatchObject({ code: "run.active", exitCode: 75 });
      await first.kill();
      ledger.runs.takeLock();
      await intend(ledger, update("1"));
    },
  );

  it("refuses a second ledger of the same process", async () => {
    const { ledger, path } = await openLedger();
    const other = await openLedger({ path });
    ledger.runs.takeLock();
    expect(await problemOf(() => other.ledger.runs.takeLock())).toMatchObject({ exitCode: 75 });
    ledger.runs.releaseLock();
    other.ledger.runs.takeLock();
  });

  it("lets short commands of people write beside a run", async () => {
    const { ledger, path } = await openLedger();
    ledger.runs.takeLock();
    const person = await openLedger({ path });
    await person.ledger.audit.append({ kind: "note", subject: "s", body: {} });
    await person.ledger.records.markPending({ customer: key("1") });
    await intend(ledger, update("1"));
    expect(ledger.audit.verify()).toMatchObject({ good: true, entries: 1 });
  });

  it("stops an owner that was paused while another took over: it writes nothing more", async () => {
    const { ledger: paused, path } = await openLedger();
    paused.runs.takeLock();
    await intend(paused, update("1"));
    // What a file system does that forgets a lock.
    rmSync(`${path}.lock`);
    const { ledger: other } = await openLedger({ path });
    other.runs.takeLock();
    const outcomes = await Promise.allSettled([intend(paused, update("2")), intend(paused, update("3"))]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["rejected", "rejected"]);
    expect(paused.broken).toMatchObject({ code: "run.lost-lock", exitCode: 75 });
    expect((await other.journal.open()).map((row) => row.operation.subject)).toEqual(["customer:crm/1"]);
    await intend(other, update("4"));
  });

  it("does not take a lock file that cannot be opened for another run", async () => {
    const { ledger, path } = await openLedger();
    mkdirSync(`${path}.lock`);
    expect(await problemOf(() => ledger.runs.takeLock())).toMatchObject({ code: "ledger.cannot-write", exitCode: 65 });
  });
});
