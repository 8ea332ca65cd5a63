import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { outcome } from "../support/world/members.ts";
import { startCrmSync } from "../support/process.ts";
import type { Ended } from "../support/program.ts";
import { auditIsWhole } from "../support/full-check.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { line } from "../scenarios/life/placed-orders.ts";
import { canary, company } from "../support/world/crm.ts";

const preload = join(import.meta.dirname, "../support/kill-at-commit.ts");

/** A command line in a process of its own, which ends right before its nth commit; without `at` it comes to its end. */
async function killed(w: World, at: number | undefined, ...words: string[]): Promise<Ended> {
  const environment = { ...w.place.environment, ...(at === undefined ? {} : { KILL_COMMIT: String(at) }) };
  return await startCrmSync({ ...w.place, environment, preload }, ...words).ended;
}

/** Some of the commits of a command line: the first, the last, and those between in even steps. */
function someOf(commits: number, most: number): number[] {
  const steps = Array.from({ length: most }, (_, index) => 1 + Math.round((index * (commits - 1)) / (most - 1)));
  return [...new Set(steps)];
}

function commitsOf(ended: Ended): number {
  return Number(/commits: (\d+)/u.exec(ended.stderr)?.[1]);
}

function expectWhole(w: World, name: string): void {
  const view = new LedgerView(w.path(name));
  try {
    expect(auditIsWhole(view, w.path(name))).toEqual([]);
  } finally {
    view.close();
  }
}

describe("a rebuild that is killed and made again", () => {
  const kept = [
    "select namespace, customer_id, enterprise_global_id from link where to_at is null order by 1, 2",
    "select namespace, order_id, channel_order_id from placed_order where to_at is null order by 1, 2",
    "select namespace, staff_id, member_global_id from staff_link where to_at is null order by 1, 2",
    "select asset_number, staff_id from assignment where to_at is null order by 1",
    "select wire_number, order_id, instance_id, unit from asset_number where fixed_at is not null order by 1",
    "select kind, order_id, channel_order_id, items from order_step order by number",
    "select namespace, customer_id from acknowledged where to_at is null order by 1, 2",
  ];

  it(
    "brings all of it back, and what is bought then has a number that none had",
    { tags: "long", timeout: 600_000 },
    async () => {
      const products = [line("P1", "A1")];
      const w = await world({
        records: {
          customers: [{ id: "C1" }, { id: "C2" }],
          orders: [
            { id: "1", customer: "C1", assets: ["A1"], products },
            { id: "2", customer: "C2", assets: ["A2"] },
          ],
          staff: [
            { id: "S1", customer: "C1", holds: ["A1"] },
            { id: "S2", customer: "C2", holds: ["A2"] },
          ],
        },
      });
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      const has = async (...ids: string[]) => {
        const all = [...products, ...ids.map((id) => line(id, "A1"))];
        w.orders = w.orders.map((row) => (row.id === "1" ? { ...row, products: all } : row));
        w.write();
        return outcome(await w.does("run", "everything"));
      };
      expect(await has("R1")).toEqual([0, { E5: 1 }]);
      w.losesItsLedger("whole.db");
      const whole = await killed(w, undefined, "rebuild");
      expect(whole.exitCode, whole.stdout + whole.stderr).toBe(0);
      const brought = kept.map((sql) => w.rows(sql));
      expect(brought.map((rows) => rows.length > 0)).toEqual(kept.map(() => true));
      let kills = 0;
      for (const at of someOf(commitsOf(whole), 12)) {
        w.losesItsLedger(`cut-${at}.db`);
        // What several customers have to be kept may share a commit, so that there are not always as many.
        const { signal, exitCode } = await killed(w, at, "rebuild");
        expect(signal ?? exitCode, `killed at commit ${at}`).toBe(signal === null ? 0 : "SIGKILL");
        if (signal !== null) kills += 1;
        const again = await w.does("rebuild");
        expect(outcome(again), `made again after commit ${at}: ${again.stdout}`).toEqual([0, {}]);
        expect(
          kept.map((sql) => w.rows(sql)),
          `killed at commit ${at}`,
        ).toEqual(brought);
        expectWhole(w, `cut-${at}.db`);
      }
      expect(kills).toBeGreaterThan(6);
      expect(await has("R1")).toEqual([0, {}]);
      expect(await has("R1", "U1")).toEqual([0, { E5: 1 }]);
      expect(w.sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
    },
  );
});

const because = ["--reason", "the service desk did it", "--by", "anna"];

/** Entries of the audit chain of these kinds, oldest first. */
function entries(w: World, ...kinds: string[]): string[] {
  const sql = `select kind from audit where kind in (${kinds.map((kind) => `'${kind}'`).join(", ")}) order by sequence`;
  return w.rows<{ kind: string }>(sql).map(({ kind }) => kind);
}

describe("a link by hand that is killed and said again", () => {
  it(
    "stands whole or not at all, once, and nothing is made a second time",
    { tags: "long", timeout: 600_000 },
    async () => {
      const w = await world({ records: company(2, 1) });
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      const links =
        "select customer_id as id, enterprise_global_id as enterprise from link where to_at is null order by 1";
      const before = w.rows<{ id: string; enterprise: string }>(links);
      const enterprise = before[0]?.enterprise ?? "";
      const link = ["link", "C1", enterprise, ...because];
      const unlink = ["unlink", "C1", "--keep-standing", ...because];
      expect((await w.run(...unlink)).exitCode).toBe(0);
      const points = someOf(commitsOf(await killed(w, undefined, ...link)), 6);
      expect(points.length).toBeGreaterThan(1);
      for (const at of points) {
        expect((await w.run(...unlink)).exitCode).toBe(0);
        const said = entries(w, "linked-by-hand").length;
        expect((await killed(w, at, ...link)).signal, `killed at commit ${at}`).toBe("SIGKILL");
        const isLinked = w.rows(links).length === 2;
        expect(entries(w, "linked-by-hand"), `killed at commit ${at}`).toHaveLength(said + (isLinked ? 1 : 0));
        expect((await w.run(...link)).exitCode, `said again after commit ${at}`).toBe(isLinked ? 64 : 0);
        expect(w.rows(links)).toEqual(before);
        expect(entries(w, "linked-by-hand")).toHaveLength(said + 1);
        expectWhole(w, "ledger.db");
      }
      expect((await w.does("run", "everything")).exitCode).toBe(0);
      expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
      expect(w.sandbox.state()).toMatchObject({ enterprises: 2, assignments: 2 });
      expect(w.sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
    },
  );
});

describe("what a person did by hand, noted by a command that is killed and said again", () => {
  it(
    "counts only with its reading back, and once; the neighbour is as it was",
    { tags: "long", timeout: 600_000 },
    async () => {
      const w = await world({ records: company(2, 2) });
      w.extra = "policies: { staff: { edited: report } }\n";
      w.write();
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      const profiles = "select staff_id as id, profile from staff_link where to_at is null order by 1";
      const counted = "select 1 from by_hand where ended_at is null and id = 'S1-1'";
      const resolve = ["resolve", "staff:S1-1", "--done-by-hand", ...because];
      const [member] = w.rows<{ id: string }>("select member_global_id as id from staff_link where staff_id = 'S1-1'");
      const renamed = async (name: string): Promise<void> => {
        w.staff = w.staff.map((row) => (row.id === "S1-1" ? { ...row, name } : row));
        w.write();
        expect((await w.does("run", "everything")).calls).toEqual({});
        w.sandbox.hand({ action: "rename-person", memberGlobalId: member?.id ?? "", name });
      };
      await renamed(`${canary.person} first`);
      const points = someOf(commitsOf(await killed(w, undefined, ...resolve)), 6);
      expect(points.length).toBeGreaterThan(1);
      for (const at of points) {
        await renamed(`${canary.person} at ${at}`);
        const before = w.rows<{ id: string; profile: string }>(profiles);
        const ends = entries(w, "by-hand-read-back").length;
        expect((await killed(w, at, ...resolve)).signal, `killed at commit ${at}`).toBe("SIGKILL");
        const isCounted = entries(w, "by-hand-read-back").length > ends;
        expect(JSON.stringify(w.rows(profiles)) === JSON.stringify(before), `killed at commit ${at}`).toBe(!isCounted);
        expect((await w.run(...resolve)).exitCode, `said again after commit ${at}`).toBe(0);
        expect(w.rows(counted).length).toBeLessThanOrEqual(1);
        const others = (rows: readonly { id: string }[]): unknown => rows.filter(({ id }) => id !== "S1-1");
        expect(others(w.rows(profiles))).toEqual(others(before));
        expectWhole(w, "ledger.db");
      }
      expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    },
  );
});
