import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { exitCodes } from "../../src/base/errors.ts";
import { headsPath } from "../../src/ledger/audit/audit-heads.ts";
import { newSandbox } from "../support/world/start.ts";
import { fullCheck } from "../support/full-check.ts";
import { startGate } from "../support/gate.ts";
import { startCrmSync } from "../support/process.ts";
import { goodRunOf, runJob, settleNotApplied } from "../support/program.ts";
import { temporaryFolder } from "../support/northwind.ts";
import { base, baseWished, changes, configOf, ledgerOf, writeWorld } from "../support/world/small.ts";
import { personal, sealEnvironment, secrets } from "../support/world/crm.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

const files = ["", "-wal", "-shm"];

/** Puts the files of a ledger where others were, as a backup does. What stands beside it stays. */
function restore(from: string, to: string): void {
  for (const suffix of files) {
    rmSync(to + suffix, { force: true });
    if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix);
  }
}

/** The base world and one more customer, order and member of staff. */
function grownWorld(): typeof base {
  const world = (name: string): typeof base => changes[name]?.world ?? base;
  return {
    customers: world("E2 creates an enterprise").customers,
    orders: world("E5 places an order").orders,
    staff: world("M1 adds a member of staff").staff,
  };
}

/** A world with a second job over the same customers. */
function writeJobs(path: string, world: typeof base): void {
  writeWorld(path, world);
  const one = readFileSync(configOf(path), "utf8");
  writeFileSync(
    configOf(path),
    one.replace("\njobs:\n", "\njobs:\n  people: { kind: sync, streams: [customers, staff] }\n"),
  );
}

const grownWished = { ...baseWished, enterprises: 2, orders: 2, products: 4, addedStaff: 3 };

it(
  "refuses every older copy of the ledger that is put back after a run that was killed, and places no order twice",
  { tags: "long" },
  async () => {
    const world = join(folder.path, "world");
    const backups = join(folder.path, "backups");
    const ledger = ledgerOf(world);
    mkdirSync(backups, { recursive: true });
    writeJobs(world, base);
    const sandbox = await newSandbox();
    const options = { config: configOf(world), sandbox: sandbox.url, ledger, environment: sealEnvironment };
    const run = async (job = "everything") => await runJob(options, job);
    const copies: string[] = [];
    const copy = (): void => {
      const to = join(backups, `copy-${copies.length}.db`);
      restore(ledger, to);
      copies.push(to);
    };

    goodRunOf(await run());
    copy();
    writeJobs(world, grownWorld());

    // Copies ahead of every call and behind it, until the platform has placed the order and the program is killed.
    const gate = await startGate(sandbox.url, {
      before: copy,
      after: () => {
        copy();
        if ((sandbox.counts().calls["E5"] ?? 0) === 2) program.child.kill("SIGKILL");
      },
    });
    const program = startCrmSync({ ...options, sandbox: gate.url }, "--json", "run", "everything");
    expect((await program.ended).signal).toBe("SIGKILL");
    await gate.close();
    const newest = join(folder.path, "newest.db");
    restore(ledger, newest);
    expect(copies.length).toBeGreaterThan(12);

    const refusals = async (tried: readonly string[]): Promise<string[]> => {
      const wrong: string[] = [];
      for (const backup of tried) {
        restore(backup, ledger);
        const before = JSON.stringify(sandbox.counts().calls);
        const ended = await run(tried.indexOf(backup) % 2 === 0 ? "everything" : "people");
        const told = ["ledger.behind", "is an older copy", "restore the newest copy", headsPath(ledger)];
        if (ended.exitCode !== exitCodes.ledgerRefused || told.some((text) => !ended.stdout.includes(text)))
          wrong.push(`${backup}: exit ${ended.exitCode} ${ended.stdout.slice(0, 300)}`);
        if (JSON.stringify(sandbox.counts().calls) !== before) wrong.push(`${backup}: a service was called`);
      }
      return wrong;
    };
    // The last copies may have everything that was recorded before the kill, the intent of the order with it.
    expect(await refusals(copies.slice(0, -3))).toEqual([]);
    const [first] = copies;
    if (first === undefined) throw new Error("no copy was made");
    restore(first, ledger);
    expect((await settleNotApplied(options, "op-1")).exitCode, "a person's decision").toBe(exitCodes.ledgerRefused);

    // What was not lost goes on, and finds the order by reading.
    restore(newest, ledger);
    for (const job of ["everything", "people"]) goodRunOf(await run(job));
    expect(
      await fullCheck({
        ledger,
        sandbox: sandbox.url,
        wished: grownWished,
        personal,
        secrets,
        output: [],
      }),
    ).toEqual([]);
    expect(await refusals([...copies.filter((_copy, index) => index % 6 === 0), newest])).toEqual([]);
    await sandbox.close();
  },
);
