import { expect, it } from "vitest";
import { company } from "../support/world/crm.ts";
import { document, world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";

/** Four customers with two assets each: reading one takes E3, M5, M6, E8, M8, and M7 of both. */
const callsOfOne = 7;

async function four(): Promise<World> {
  const w = await world({ records: company(4, 2) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

/** Who was read back, the oldest reading first. */
const order = (w: World): string[] =>
  w
    .rows<{ id: string }>("select customer_id as id from observation_read order by seen_at, customer_id")
    .map(({ id }) => id);

async function readsWith(
  w: World,
  calls: number,
): Promise<{ customers: number; exitCode: number | null; made: number }> {
  const before = readingCalls(w);
  const ended = await w.run("--json", "run", "verify", "--calls", String(calls));
  return { customers: document(ended).customers, exitCode: ended.exitCode, made: readingCalls(w) - before };
}

function readingCalls(w: World): number {
  const { calls } = w.sandbox.counts();
  return ["E3", "M5", "M6", "M7", "M8", "E8"].reduce((sum, operation) => sum + (calls[operation] ?? 0), 0);
}

it(
  "reads at a budget of calls: those never read first, then the oldest, one in any case, and none twice",
  { tags: "long" },
  async () => {
    const w = await four();
    expect(await readsWith(w, 1)).toMatchObject({ customers: 1, made: callsOfOne });
    expect(order(w)).toEqual(["C1"]);
    expect(await readsWith(w, 2 * callsOfOne)).toMatchObject({ customers: 2, made: 2 * callsOfOne });
    expect(order(w)).toEqual(["C1", "C2", "C3"]);
    expect(await readsWith(w, 2 * callsOfOne), "the one that was never read, then the oldest").toMatchObject({
      customers: 2,
    });
    expect(order(w)).toEqual(["C2", "C3", "C1", "C4"].toSorted((a, b) => order(w).indexOf(a) - order(w).indexOf(b)));
    expect(order(w).slice(0, 2)).toEqual(["C2", "C3"]);
    expect(await readsWith(w, 3 * callsOfOne - 1), "a part of a customer is not read").toMatchObject({ customers: 2 });
    expect(order(w).slice(2).toSorted()).toEqual(["C2", "C3"]);
    expect(await readsWith(w, 1_000), "each once").toMatchObject({ customers: 4, exitCode: 0 });
  },
);

it(
  "reads each once where the clock was set back, and readings bear times that are still to come",
  { tags: "long" },
  async () => {
    const w = await four();
    expect(await readsWith(w, 1_000)).toMatchObject({ customers: 4 });
    w.tamper("update observation_read set seen_at = '2099-01-01T00:00:00.000Z' where customer_id in ('C2', 'C3')");
    expect(await readsWith(w, 1_000)).toMatchObject({ customers: 4 });
    expect(w.rows("select * from observation_read where seen_at > '2098'"), "read anew").toEqual([]);
  },
);

it(
  "keeps what it found until a whole reading shows it no more, whoever is read meanwhile",
  { tags: "long" },
  async () => {
    const w = await four();
    expect((await w.run("run", "verify")).exitCode).toBe(0);
    expect(w.sandbox.dropOrders("O2")).toBeGreaterThan(0);
    expect(await readsWith(w, 1), "C1 is the oldest").toMatchObject({ customers: 1, exitCode: 0 });
    expect(await readsWith(w, 1), "C2").toMatchObject({ customers: 1, exitCode: 3 });
    const live = "select customer_id, class, first_seen = last_seen as once from difference where ended_at is null";
    const found = w.rows<{ customer_id: string; class: string; once: number }>(live);
    expect(new Set(found.map((row) => `${row.customer_id} ${row.class} ${row.once}`))).toEqual(
      new Set(["C2 missing 1"]),
    );
    const other = await w.run("run", "verify", "--calls", "1");
    expect([other.exitCode, other.stdout], "C3 is read, and C2 is as it was").toEqual([
      3,
      expect.stringContaining("not as placed: crm/C2: "),
    ]);
    expect(other.stdout).toMatch(/^4 of 4 customers read back within 7d, the oldest reading is \d+ s old$/mu);
    const status = (await w.run("status")).stdout;
    expect(status).toMatch(/differs +\d+ missing/u);
    expect((await w.run("run", "verify")).exitCode).toBe(3);
    expect(new Set(w.rows<{ once: number }>(live).map(({ once }) => once)), "seen by two readings").toEqual(
      new Set([0]),
    );
    // A reading that fails ends nothing.
    w.sandbox.faults.add({ operation: "M6", fault: "code500" });
    await w.run("run", "verify");
    w.sandbox.faults.clear();
    expect(w.rows<{ class: string }>(live).map((row) => row.class)).toEqual(found.map(() => "missing"));
  },
);

it(
  "counts as read back who is linked, by readings of the enterprise that they are linked with",
  { tags: "long" },
  async () => {
    const w = await four();
    expect(await readsWith(w, 3 * callsOfOne)).toMatchObject({ customers: 3 });
    const because = ["--reason", "it is nobody's", "--by", "anna"];
    for (const id of ["C1", "C2"]) expect((await w.run("unlink", id, "--keep-standing", ...because)).exitCode).toBe(0);
    const covered = async (): Promise<string> => {
      const { stdout } = await w.run("run", "verify", "--calls", "1");
      return /^.* read back within/mu.exec(stdout)?.[0] ?? stdout;
    };
    expect(await covered(), "C4 was never read, C3 was").toBe("2 of 2 customers read back within");
    const [link] = w.rows<{ id: string }>("select enterprise_global_id as id from link where customer_id = 'C1'");
    expect((await w.run("link", "C1", link?.id ?? "", ...because)).exitCode).toBe(0);
    expect(await covered(), "C3 is the oldest but for C1, which was read before its link").toBe(
      "3 of 3 customers read back within",
    );
  },
);

it(
  "is not content where the budget is too small for the time within which all are to be read",
  { tags: "long" },
  async () => {
    const w = await four();
    expect(await readsWith(w, 1), "they were linked just now").toMatchObject({ customers: 1, exitCode: 0 });
    w.tamper("update link set from_at = '2020-01-01T00:00:00.000Z' where customer_id <> 'C4'");
    w.tamper("update observation_read set seen_at = '2020-01-01T00:00:00.000Z'");
    const behind = await w.run("run", "verify", "--calls", "1");
    expect([behind.exitCode, behind.stdout]).toEqual([
      3,
      expect.stringContaining("2 customers linked for longer than 7d and not read back within it"),
    ]);
    expect(await readsWith(w, 3 * callsOfOne), "C3, C4 and C1").toMatchObject({ exitCode: 0 });
  },
);

it("takes a budget for reading back alone, and a number that is one", async () => {
  const w = await four();
  for (const [words, text] of [
    [["run", "everything", "--calls", "5"], "is of kind sync"],
    [["run", "verify", "--calls", "few"], "takes a whole number"],
    [["run", "verify", "--calls", "0"], "takes a whole number"],
  ] as const)
    expect(await w.run(...words)).toMatchObject({ exitCode: 64, stderr: expect.stringContaining(text) });
  w.extra = "jobs:\n  everything: { kind: sync, streams: [customers], budget: { calls: 5 } }\n";
  w.write();
  expect(await w.run("run", "everything")).toMatchObject({
    exitCode: 78,
    stderr: expect.stringContaining("is of no use to a job of kind sync"),
  });
});

it("keeps a budget where lists have pages, whether a customer was read before or not", { tags: "long" }, async () => {
  const { customers, orders, staff } = company(6, 1);
  const many = staff.flatMap((row) => [
    row,
    ...Array.from({ length: 120 }, (_, n) => ({ ...row, id: `${row.id}x${n}`, login: `${row.login}y${n}`, holds: [] })),
  ]);
  const w = await world({ records: { customers, orders, staff: many } });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const readings = ["E3", "M5", "M6", "M7", "M8", "E8"] as const;
  const made = (): number => readings.reduce((sum, name) => sum + (w.sandbox.counts().calls[name] ?? 0), 0);
  const seen: number[] = [];
  for (let time = 0; time < 4; time += 1) {
    const before = made();
    const ran = await w.run("run", "verify", "--calls", "24", "--json");
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(made() - before).toBeLessThanOrEqual(24);
    seen.push(document(ran).customers);
  }
  expect(seen).toEqual([3, 3, 3, 3]);
});
