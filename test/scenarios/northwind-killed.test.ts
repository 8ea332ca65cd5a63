/** @module-tag long */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Place } from "../support/program.ts";
import { fullCheck } from "../support/full-check.ts";
import { LedgerView } from "../support/ledger-view.ts";
import {
  northwindConfig,
  northwindIsMissing,
  northwindIsThere,
  northwindPersonal,
  northwindSource,
  northwindWished,
  temporaryFolder,
} from "../support/northwind.ts";
import { readState } from "../support/platform-view.ts";
import { startCrmSync } from "../support/process.ts";
import { crmSync, goodRunOf } from "../support/program.ts";
import { startSandboxProcess } from "../support/sandbox-process.ts";
import type { SandboxProcess } from "../support/sandbox-process.ts";

const latencyMs = 50;
/** Kills come when this many orders are done. */
const moments = [1, 50, 200, 500, 800];

const counted = z.object({ done: z.int(), young: z.int() });

/**
 * Waits until so many orders are done and another one is on its way: its request left less than half a call ago, so
 * that its answer cannot be there before the kill is.
 */
async function untilOrdersAreDone(path: string, done: number): Promise<void> {
  for (;;) {
    try {
      const ledger = new LedgerView(path);
      try {
        for (;;) {
          const since = new Date(Date.now() - latencyMs / 2).toISOString();
          const [row] = ledger.rows(
            counted,
            `select (select count(*) from operation where endpoint = 'E5' and state = 'done') as done,
               (select count(*) from operation o join attempt a on a.operation_id = o.id and a.finished_at is null
                where o.state = 'sending' and o.endpoint = 'E5' and a.started_at > ?) as young`,
            since,
          );
          if (row !== undefined && row.done >= done && row.young > 0) return;
          await pause(2);
        }
      } finally {
        ledger.close();
      }
    } catch {
      // The ledger is not there yet, or is just being made.
      await pause(5);
    }
  }
}

if (!northwindIsThere) {
  describe("Northwind", () => {
    it(northwindIsMissing, () => expect(northwindIsThere).toBe(false));
  });
} else {
  describe("Northwind, killed with SIGKILL in the middle of its first run", () => {
    const words = ["--json", "run", "customers-and-orders"];
    let folder: ReturnType<typeof temporaryFolder>;
    let sandbox: SandboxProcess;
    let program: Place & { ledger: string };

    beforeEach(async () => {
      folder = temporaryFolder();
      sandbox = await startSandboxProcess({ store: join(folder.path, "sandbox.db"), latencyMs });
      program = {
        config: northwindConfig,
        sandbox: sandbox.url,
        ledger: join(folder.path, "ledger.db"),
        environment: { ...northwindSource, CRM_SYNC__settle__timeMs: "400" },
      };
    });
    afterEach(async () => {
      await sandbox.close();
      folder.remove();
    });

    it(`places each of 830 orders once although it is killed after ${moments.join(", ")} of them`, async () => {
      const output: string[] = [];
      for (const moment of moments) {
        const killed = startCrmSync(program, ...words);
        await untilOrdersAreDone(program.ledger, moment);
        killed.child.kill("SIGKILL");
        const { signal, stdout, stderr } = await killed.ended;
        output.push(stdout, stderr);
        expect(signal).toBe("SIGKILL");
        const ledger = new LedgerView(program.ledger);
        expect(ledger.operations("E5", "sending")).toBeGreaterThan(0);
        expect(ledger.operations("E5", "done")).toBeLessThan(830);
        ledger.close();
      }
      const last = await crmSync(program, ...words);
      output.push(last.stdout, last.stderr);
      goodRunOf(last);
      expect(
        await fullCheck({
          ledger: program.ledger,
          sandbox: sandbox.url,
          wished: northwindWished,
          personal: northwindPersonal,
          output,
        }),
      ).toEqual([]);
      const { orders } = await readState(sandbox.url);
      expect(Object.keys(orders)).toHaveLength(830);
      expect(Object.values(orders).every((order) => order.calls === 1)).toBe(true);
      const again = await crmSync(program, ...words);
      expect(goodRunOf(again).writingCalls).toBe(0);
    });

    it.each(moments)("finishes with the same command once more when it is killed after %d orders", async (moment) => {
      const killed = startCrmSync(program, ...words);
      await untilOrdersAreDone(program.ledger, moment);
      killed.child.kill("SIGKILL");
      const first = await killed.ended;
      expect(first.signal).toBe("SIGKILL");
      const ledger = new LedgerView(program.ledger);
      expect(ledger.operations("E5", "sending")).toBeGreaterThan(0);
      ledger.close();
      const second = await crmSync(program, ...words);
      goodRunOf(second);
      expect(
        await fullCheck({
          ledger: program.ledger,
          sandbox: sandbox.url,
          wished: northwindWished,
          personal: northwindPersonal,
          output: [first.stdout, first.stderr, second.stdout, second.stderr],
        }),
      ).toEqual([]);
    });
  });
}
