import { join } from "node:path";
import { expect, it } from "vitest";
import { auditIsWhole } from "../support/full-check.ts";
import { bytesOf, eraseGone, gone, livedWithGone, nothingWaits } from "../support/gone-customer.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { startCrmSync } from "../support/process.ts";
import type { Ended } from "../support/program.ts";

const preload = join(import.meta.dirname, "../support/kill-at-commit.ts");

it(
  "an erasure that is killed has erased all of it or nothing, and the next one leaves no byte",
  { tags: "long" },
  async () => {
    const w = await livedWithGone();
    await gone(w);
    await nothingWaits(w);
    const killed = async (at: number): Promise<Ended> => {
      const environment = { ...w.place.environment, KILL_COMMIT: String(at) };
      return await startCrmSync({ ...w.place, environment, preload }, ...eraseGone).ended;
    };
    const kept = (): number =>
      w.rows(`select 1 from private_value where body is not null and (ref like '%/crm/C1' or ref like '%/crm/S1-%')`)
        .length;
    const all = kept();
    const said = (): number => w.rows("select 1 from audit where kind = 'erased'").length;
    const found: [kept: number, said: number][] = [];
    let ended: Ended;
    for (let at = 1; ; at += 1) {
      ended = await killed(at);
      found.push([kept(), said()]);
      const view = new LedgerView(w.path("ledger.db"));
      expect(auditIsWhole(view, w.path("ledger.db"))).toEqual([]);
      view.close();
      if (ended.signal !== "SIGKILL") break;
    }
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(new Set(found.map((one) => JSON.stringify(one)))).toEqual(new Set([`[${all},0]`, "[0,1]"]));
    expect(found.length).toBeGreaterThan(2);
    expect(bytesOf(w)).toEqual([]);
  },
);
