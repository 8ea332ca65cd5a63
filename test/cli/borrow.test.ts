import { describe, expect, it } from "vitest";
import { company } from "../support/world/crm.ts";
import { document, world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";

const why = ["--reason", "travels", "--by", "anna.lee"];

/** A customer's two people with an asset each, and its lock for lending. */
interface Lending {
  held: string;
  second: string;
  lock: string;
}

/** Two customers, each with a lock for lending beside what two people hold. */
async function withLocks(): Promise<{ w: World; of: (customer: number) => Lending }> {
  const { customers, orders, staff } = company(2, 2);
  const lending = customers.map(({ id }) => ({
    id: `${id}-L`,
    customer: id,
    assets: [{ id: `${id}-LOCK`, type: "normal_recover_usbkey" as const, forLending: true }],
  }));
  const w = await world({ records: { customers, orders: [...orders, ...lending], staff } });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const numbers = new Map(
    w
      .rows<{ number: string; instance: string }>(
        "select wire_number as number, instance_id as instance from asset_number where fixed_at is not null",
      )
      .map(({ number, instance }) => [instance, number]),
  );
  const number = (instance: string): string => numbers.get(instance) ?? "";
  const of = (n: number): Lending => {
    return { held: number(`O${n}-A1`), second: number(`O${n}-A2`), lock: number(`C${n}-LOCK`) };
  };
  return { w, of };
}

const lend = (lock: string, ...assets: string[]): string[] => ["--lock", lock, "--asset", ...assets, ...why];

describe("a lock that a person has lent", () => {
  it("is previewed, lent once, and told of in explain, and the other customer's stays", { tags: "long" }, async () => {
    const { w, of } = await withLocks();
    const { held, lock } = of(1);
    const preview = await w.writes(() => w.run("borrow", "C1", "--staff", "S1-1", ...lend(lock, held), "--dry-run"));
    expect([preview.result.exitCode, preview.calls]).toEqual([0, {}]);
    expect(preview.result.stdout).toContain(`M10 loan:${lock}: anna.lee asked to have 1 asset of crm/S1-1 lent`);
    expect([w.rows("select * from manual_request"), w.sandbox.state().lentAssets]).toEqual([[], 0]);

    const done = await w.writes(() => w.run("borrow", "C1", "--staff", "S1-1", ...lend(lock, held)));
    expect([done.result.exitCode, done.calls]).toEqual([0, { M10: 1 }]);
    expect(done.result.stdout).toContain(
      `lock ${lock} is lent to crm/S1-1 with 1 asset. No operation returns a lent lock.`,
    );
    expect(w.sandbox.state().lentAssets).toBe(1);
    const explained = (await w.run("explain", "customer", "C1")).stdout;
    expect(explained).toContain(`lock ${lock} is lent to crm/S1-1 with 1 asset`);
    expect(explained).toContain("asked by anna.lee: travels");
    expect((await w.run("explain", "customer", "C2")).stdout).not.toContain("lent to");
    const quiet = await w.writes(() => w.run("run", "everything"));
    expect([quiet.result.exitCode, quiet.calls]).toEqual([0, {}]);
    expect((await w.run("audit", "verify")).exitCode).toBe(0);
  });

  it(
    "is refused where the platform does not show that it can be, and nothing is asked for or sent",
    { tags: "long" },
    async () => {
      const { w, of } = await withLocks();
      const [one, two] = [of(1), of(2)];
      const { exitCode } = await w.run("borrow", "C2", "--staff", "S2-1", ...lend(two.lock, two.held));
      expect(exitCode).toBe(0);
      const to = (staff: string, ...words: string[]): string[] => ["borrow", "C1", "--staff", staff, ...words];
      const refusals = [
        [to("S1-1", ...lend(one.held, one.held)), `M8 does not show ${one.held} as a lock for lending`],
        [to("S1-1", ...lend(two.lock, one.held)), `M8 does not show ${two.lock}`],
        [to("S1-1", ...lend(one.lock, one.held, one.second)), `${one.second} is not held by crm/S1-1`],
        [to("S1-2", ...lend(one.lock, one.held)), `${one.held} is not held by crm/S1-2`],
        [to("S2-1", ...lend(one.lock, one.held)), "crm/S2-1 is no member of staff of crm/C1"],
        [to("S9", ...lend(one.lock, one.held)), "crm/S9 is no member of staff of crm/C1"],
        [to("S1-1", "--lock", one.lock, ...why), "no asset is named"],
        [to("S1-1", "--lock", one.lock, "--asset", one.held), "needs a reason"],
        [
          to("S1-1", "--lock", one.lock, "--asset", one.held, "--reason", "x", "--by", "the CRM"),
          "would say that the CRM",
        ],
        [to("S1-1", "--lock", one.lock, ...why, "--withdraw"), "nothing is asked for"],
        [["borrow", "C2", "--staff", "S2-2", ...lend(two.lock, two.second)], "is lent to the member"],
      ] as const;
      const { calls } = await w.writes(async () => {
        for (const [words, text] of refusals) {
          const ended = await w.run(...words);
          expect([ended.exitCode, ended.stderr], words.join(" ")).toEqual([64, expect.stringContaining(text)]);
        }
      });
      expect([calls, w.rows("select * from manual_request where customer_id = 'C1'")]).toEqual([{}, []]);
    },
  );

  it("is not lent where the service refuses it: what was asked for is told of until somebody takes it back", async () => {
    const { w, of } = await withLocks();
    const { held, lock } = of(1);
    w.sandbox.faults.add({ operation: "M10", fault: "status299", code: "33008", times: 1 });
    const refused = await w.run("--json", "borrow", "C1", "--staff", "S1-1", ...lend(lock, held));
    expect([refused.exitCode, document(refused).requests]).toMatchObject([3, [{ of: "loan", answer: null }]]);
    const again = await w.writes(() => w.run("run", "everything"));
    expect([again.result.exitCode, again.calls]).toEqual([3, {}]);
    expect((await w.run("status")).stdout).toContain("33008");
    const withdrawn = await w.run("borrow", "C1", "--staff", "S1-1", "--lock", lock, ...why, "--withdraw");
    expect([withdrawn.exitCode, withdrawn.stdout]).toEqual([0, expect.stringContaining(`taken back: ${lock}`)]);
    await w.run("run", "everything");
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    expect(w.sandbox.state().lentAssets).toBe(0);
  });
});
