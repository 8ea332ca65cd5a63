import { describe, expect, it } from "vitest";
import { numberOf } from "../../support/asking.ts";
import { document, world, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

const why = ["--reason", "travels", "--by", "anna.lee"];

/** A customer's two people with an asset each, and its lock for lending. */
interface Lending {
  held: string;
  second: string;
  lock: string;
}

/** Customers with two people and a lock for lending each. */
async function withLocks(count: number): Promise<{ w: World; one: Lending; two: Lending }> {
  const { customers, orders, staff } = company(count, 2);
  const lending = customers.map(({ id }) => ({
    id: `${id}-L`,
    customer: id,
    assets: [{ id: `${id}-LOCK`, type: "normal_recover_usbkey" as const, forLending: true }],
  }));
  const w = await world({ records: { customers, orders: [...orders, ...lending], staff } });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const of = (n: number): Lending => {
    return { held: numberOf(w, `O${n}-A1`), second: numberOf(w, `O${n}-A2`), lock: numberOf(w, `C${n}-LOCK`) };
  };
  return { w, one: of(1), two: of(2) };
}

const lend = (lock: string, ...assets: string[]): string[] => ["--lock", lock, "--asset", ...assets, ...why];

describe("a lock that a person lends", () => {
  it("is previewed, lent once, and told by explain of its customer", async () => {
    const { w, one } = await withLocks(1);
    const words = ["borrow", "C1", "--staff", "S1-1", ...lend(one.lock, one.held)];
    const preview = await w.does(...words, "--dry-run");
    expect([preview.exitCode, preview.calls]).toEqual([0, {}]);
    expect((await w.ask("explain", "customer", "C1")).requests).toEqual([]);
    const done = await w.does(...words);
    expect([done.exitCode, done.calls]).toEqual([0, { M10: 1 }]);
    expect(w.sandbox.state().lentAssets).toBe(1);
    expect((await w.ask("explain", "customer", "C1")).requests).toMatchObject([{ of: "loan", about: one.lock }]);
    expect((await w.does("run", "everything")).calls).toEqual({});
  });

  it("is not lent unless the platform shows that it can be", { tags: "long" }, async () => {
    const { w, one, two } = await withLocks(2);
    expect((await w.run("borrow", "C2", "--staff", "S2-1", ...lend(two.lock, two.held))).exitCode).toBe(0);
    const to = (staff: string, ...words: string[]): string[] => ["borrow", "C1", "--staff", staff, ...words];
    const refusals: Record<string, string[]> = {
      "no lock for lending": to("S1-1", ...lend(one.held, one.held)),
      "another customer's lock": to("S1-1", ...lend(two.lock, one.held)),
      "an asset of somebody else": to("S1-1", ...lend(one.lock, one.held, one.second)),
      "another person": to("S1-2", ...lend(one.lock, one.held)),
      "a person of another customer": to("S2-1", ...lend(one.lock, one.held)),
      nobody: to("S9", ...lend(one.lock, one.held)),
      "no asset": to("S1-1", "--lock", one.lock, ...why),
      "no reason": to("S1-1", "--lock", one.lock, "--asset", one.held),
      "not a person who decides": to(
        "S1-1",
        "--lock",
        one.lock,
        "--asset",
        one.held,
        "--reason",
        "x",
        "--by",
        "the CRM",
      ),
      "nothing to withdraw": to("S1-1", "--lock", one.lock, ...why, "--withdraw"),
      "a lock that is lent": ["borrow", "C2", "--staff", "S2-2", ...lend(two.lock, two.second)],
    };
    const { calls } = await w.writes(async () => {
      for (const [what, words] of Object.entries(refusals))
        expect.soft((await w.run(...words)).exitCode, what).toBe(64);
    });
    expect([calls, (await w.ask("explain", "customer", "C1")).requests]).toEqual([{}, []]);
  });

  it(
    "stays asked for when the service refuses it, until somebody withdraws the request",
    { tags: "long" },
    async () => {
      const { w, one } = await withLocks(1);
      w.sandbox.faults.add({ operation: "M10", fault: "status299", code: "33008", times: 1 });
      const refused = await w.run("--json", "borrow", "C1", "--staff", "S1-1", ...lend(one.lock, one.held));
      expect([refused.exitCode, document(refused).requests]).toMatchObject([3, [{ of: "loan", answer: null }]]);
      const again = await w.does("run", "everything");
      expect([again.exitCode, again.calls]).toEqual([3, {}]);
      const withdrawn = await w.run("borrow", "C1", "--staff", "S1-1", "--lock", one.lock, ...why, "--withdraw");
      expect(withdrawn.exitCode).toBe(0);
      await w.run("run", "everything");
      const last = await w.does("run", "everything");
      expect([last.exitCode, last.calls, w.sandbox.state().lentAssets]).toEqual([0, {}, 0]);
    },
  );
});
