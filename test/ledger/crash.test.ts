import { expect, it } from "vitest";
import { openLedger, sqlite } from "../support/world/start.ts";
import { start } from "./processes/start.ts";

it(
  "has everything that was acknowledged after kill -9 in the middle of group commits, and a chain that verifies",
  { tags: "long" },
  async () => {
    const { ledger: made, path } = await openLedger();
    made.close();
    const sending = new Set<string>();
    const done = new Set<string>();
    for (let kill = 0; kill < 6; kill += 1) {
      const process = start("write-on.ts", path, `${kill}-`);
      await process.until(150 + kill * 137);
      await process.kill();
      for (const line of process.lines) {
        const [what, id] = line.split(" ");
        if (id !== undefined) (what === "done" ? done : sending).add(id);
      }
      const { ledger } = await openLedger({ path });
      const states = new Map(
        sqlite(path, { readonly: true })
          .prepare<[], { id: string; state: string }>("select id, state from operation")
          .all()
          .map((row) => [row.id, row.state]),
      );
      expect([...sending].filter((id) => !states.has(id))).toEqual([]);
      expect([...done].filter((id) => states.get(id) !== "done")).toEqual([]);
      const concluded = [...states.values()].filter((state) => state === "done").length;
      const open = await ledger.journal.open();
      expect(open.length).toBe(states.size - concluded);
      expect(open.every((row) => row.attempts === 1)).toBe(true);
      // One audit entry and one acknowledgement for each conclusion, never one without the other.
      expect(ledger.audit.verify()).toMatchObject({ good: true, entries: concluded });
      const look = sqlite(path, { readonly: true });
      expect(look.prepare("select count(*) from acknowledged").pluck().get()).toBe(concluded);
      expect(look.pragma("integrity_check", { simple: true })).toBe("ok");
      ledger.close();
    }
    expect(done.size).toBeGreaterThan(500);
  },
);
