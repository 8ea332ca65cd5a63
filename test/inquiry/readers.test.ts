import { existsSync, readFileSync, statSync } from "node:fs";
import { expect, it } from "vitest";
import { openInquiry } from "../../src/inquiry/inquiry.ts";
import { world } from "../support/cli.ts";
import { crmSync } from "../support/program.ts";
import { openLedger, sqlite } from "../support/world/start.ts";

it(
  "a command whose output nobody reads yet does not keep the log of the ledger from being emptied",
  { tags: "long" },
  async () => {
    const w = await world();
    await w.run("run", "everything");
    for (const words of [
      ["report", "reconciliation", "--period", "2026-11"],
      ["audit", "export"],
    ]) {
      const isPrinting = Promise.withResolvers<void>();
      let goOn: (() => void) | undefined;
      let isRead = false;
      const write = (_text: string | Buffer, done?: () => void): boolean => {
        if (isRead) done?.();
        else goOn = done;
        isPrinting.resolve();
        return isRead;
      };
      const ended = crmSync({ ...w.place, clock: w.clock, stdout: { write } }, ...words);
      await isPrinting.promise;
      const writer = sqlite(w.path("ledger.db"), { timeout: 0 });
      await w.run("run", "verify");
      expect(writer.pragma("wal_checkpoint(truncate)")).toEqual([{ busy: 0, log: 0, checkpointed: 0 }]);
      isRead = true;
      goOn?.();
      expect((await ended).exitCode).toBe(0);
    }
  },
);

it.runIf(existsSync("/proc/locks"))(
  "a reader leaves the locks of a process that writes to its ledger alone",
  async () => {
    const { ledger } = await openLedger();
    // Another process may lock a file of the same number on another device.
    const ours = new RegExp(` ${process.pid} \\S+:${statSync(ledger.path).ino} `, "u");
    const locks = (): string[] =>
      readFileSync("/proc/locks", "utf8")
        .split("\n")
        .filter((line) => ours.test(line))
        .map((line) => line.slice(line.indexOf("POSIX")));
    // The system gives the list in pieces: a single reading may lack a line while others lock and unlock.
    const seen = (): Set<string> => new Set(Array.from({ length: 20 }, locks).flat());
    const before = seen();
    expect(before.size).toBeGreaterThan(0);
    const inquiry = openInquiry(ledger.path);
    await inquiry.status();
    inquiry.close();
    const second = await openLedger({ path: ledger.path });
    second.ledger.close();
    expect(seen()).toEqual(before);
  },
);
