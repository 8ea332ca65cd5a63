import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { auditIsWhole } from "../support/full-check.ts";
import { world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { beganLastMonth, lastMonth } from "../support/last-month.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { startCrmSync } from "../support/process.ts";
import type { Ended } from "../support/program.ts";

const preload = join(import.meta.dirname, "../support/kill-at-books.ts");

const close = ["report", "close", lastMonth, "--by", "anna"];

async function signAll(w: World): Promise<void> {
  const { blockers } = JSON.parse((await w.run("report", "blockers", lastMonth, "--json")).stdout) as {
    blockers: { id: string; signedOff: object | null }[];
  };
  const ids = blockers.flatMap(({ id, signedOff }) => (signedOff === null ? [id] : []));
  if (ids.length > 0) await w.run("report", "sign-off", lastMonth, ...ids, "--by", "anna", "--reason", "read later");
}

async function openedAgain(w: World): Promise<void> {
  await w.run("report", "reopen", lastMonth, "--by", "ben", "--reason", "once more");
  await signAll(w);
}

/** Closed once more, undisturbed: what is left of the one before is moved. */
async function closedAnew(w: World): Promise<void> {
  await openedAgain(w);
  expect((await w.run(...close)).exitCode).toBe(0);
}

/** The steps at whose beginning a closing is killed: the first and the last of each kind, and one between. */
function chosen(steps: readonly string[]): number[] {
  const kinds = new Set(steps);
  const found = [...kinds].flatMap((kind) => [steps.indexOf(kind), steps.lastIndexOf(kind)]);
  return [...new Set([...found, steps.indexOf("name") + 7])].map((at) => at + 1).toSorted((a, b) => a - b);
}

it("a closing that is killed at any step is closed whole or not at all", { tags: "long" }, async () => {
  const w = await world();
  w.extra = `${w.extra}books: { formats: [json] }\n`;
  w.write();
  await beganLastMonth(w);
  await w.run("run", "customers-and-orders");
  await signAll(w);
  const closing = async (at?: number): Promise<Ended> => {
    const step = at === undefined ? {} : { KILL_STEP: String(at) };
    return await startCrmSync({ ...w.place, environment: { ...w.place.environment, ...step }, preload }, ...close)
      .ended;
  };
  const first = await closing();
  expect(first.exitCode, first.stderr).toBe(0);
  const steps = (/^steps: (.*)$/mu.exec(first.stderr)?.[1] ?? "").split(" ");
  expect(new Set(steps)).toEqual(new Set(["name", "flush", "commit", "move", "remove"]));
  const found: string[] = [];
  for (const at of chosen(steps)) {
    await openedAgain(w);
    const before = w.rows("select 1 from closed_period").length;
    const ended = await closing(at);
    expect(ended.signal, `${at}: ${ended.stderr}`).toBe("SIGKILL");
    const isClosed = w.rows("select 1 from closed_period where reopened_at is null").length === 1;
    found.push(`${steps[at - 1]} ${isClosed}`);
    expect(w.rows("select 1 from closed_period").length).toBe(before + (isClosed ? 1 : 0));
    expect(w.rows("select 1 from audit where kind = 'period-closed'").length).toBe(before + (isClosed ? 1 : 0));
    const view = new LedgerView(w.path("ledger.db"));
    expect(auditIsWhole(view, w.path("ledger.db"))).toEqual([]);
    view.close();
    // What is closed can be printed as it is left, and closing it again says so; what is not can be closed.
    const again = await w.run(...close);
    expect(again.exitCode, again.stderr).toBe(isClosed ? 64 : 0);
    const out = w.path(`printed-${at}`);
    mkdirSync(out);
    const printed = await w.run("report", "print", lastMonth, "--out", out);
    expect(printed, printed.stderr).toMatchObject({ exitCode: 0, stdout: expect.not.stringContaining("BAD") });
    expect(readdirSync(out)).toHaveLength(8);
    if (isClosed) await closedAnew(w);
    for (const name of readdirSync(out)) expect(() => JSON.parse(readFileSync(join(out, name), "utf8"))).not.toThrow();
  }
  expect(new Set(found)).toEqual(
    new Set(["name false", "flush false", "commit false", "move true", "flush true", "remove true"]),
  );
  // What a closing leaves, the next one moves or takes away.
  expect(existsSync(w.path("books/unfinished-ledger.db"))).toBe(false);
  const frozen = new Set(w.rows<{ sha256: string }>("select sha256 from closed_file").map(({ sha256 }) => sha256));
  expect(new Set(readdirSync(w.path("books")))).toEqual(frozen);
});
