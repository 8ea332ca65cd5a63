/** @module-tag long */
import { copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { outcome } from "../../support/world/members.ts";

/** Puts the files of a ledger in the place of others, as a backup does. */
function copies(from: string, to: string): void {
  for (const suffix of ["", "-wal", "-shm"]) {
    rmSync(to + suffix, { force: true });
    if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix);
  }
}

it("refuses each older copy of the ledger after a run that was killed, and places no order twice", async () => {
  const made: string[] = [];
  let copy = (): void => {};
  const placed = Promise.withResolvers<void>();
  const killed = Promise.withResolvers<void>();
  const w = await world({
    isOnMachineTime: true,
    records: company(1, 1),
    sandbox: {
      gate: async (operation, when) => {
        copy();
        if (operation !== "E5" || when === "before" || made.length === 0) return;
        placed.resolve();
        await killed.promise;
      },
    },
  });
  w.extra = `jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
  people: { kind: sync, streams: [customers, staff] }
`;
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const ledger = w.path("ledger.db");
  mkdirSync(w.path("copies"));
  copy = () => {
    const to = w.path(`copies/${made.length}.db`);
    copies(ledger, to);
    made.push(to);
  };
  copy();
  const more = company(2, 1);
  w.customers = more.customers;
  w.orders = more.orders;
  w.staff = more.staff;
  w.write();

  const program = w.start("run", "everything");
  await placed.promise;
  program.child.kill("SIGKILL");
  expect((await program.ended).signal).toBe("SIGKILL");
  copy = () => {};
  killed.resolve();
  const newest = w.path("newest.db");
  copies(ledger, newest);
  expect(made.length).toBeGreaterThan(8);

  const expectRefused = async (all: readonly string[]): Promise<void> => {
    for (const [index, older] of all.entries()) {
      copies(older, ledger);
      const before = w.sandbox.counts().calls;
      expect((await w.run("run", index % 2 === 0 ? "everything" : "people")).exitCode, older).toBe(65);
      expect(w.sandbox.counts().calls).toEqual(before);
    }
  };
  // The last copies may hold everything that was recorded before the kill.
  await expectRefused(made.slice(0, -3));
  copies(made[0] ?? "", ledger);
  const decision = await w.run("settle", "op-1", "--not-applied", "--reason", "none there", "--by", "anna");
  expect(decision.exitCode).toBe(65);

  copies(newest, ledger);
  for (const job of ["everything", "people"]) expect((await w.run("run", job)).exitCode).toBe(0);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  expect(w.sandbox.state()).toMatchObject({ enterprises: 2, licenseOrders: 2, addedStaff: 2, assignments: 2 });
  expect(w.sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
  expect((await w.run("audit", "verify")).exitCode).toBe(0);
  await expectRefused([...made.filter((_, index) => index % 6 === 0), newest]);
});
