import { userInfo } from "node:os";
import { expect, it } from "vitest";
import { auditEntries, operationsOf, unsettled } from "../support/asking.ts";
import { document, world, type Parsed, type World } from "../support/cli.ts";
import { company } from "../support/world/crm.ts";

/** @module-tag long */

/** Six orders that were sent and never answered, in two runs: each waits for a person. */
async function inDoubt(): Promise<{ w: World; ids: string[]; firstRun: string }> {
  const all = company(6, 1);
  const w = await world({ records: { ...all, staff: [], orders: all.orders.slice(0, 3) } });
  w.extra = "orders: { unseen: ask }\n";
  w.write();
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
  expect((await w.run("run", "everything")).exitCode).toBe(5);
  const [first] = await unsettled(w);
  w.orders.push(...all.orders.slice(3));
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(5);
  w.sandbox.faults.clear();
  const bySubject = new Map((await unsettled(w)).map(({ subject, id }) => [subject, id]));
  return { w, ids: all.orders.map(({ id }) => bySubject.get(`order:crm/${id}`)), firstRun: first.runId };
}

it("operations are settled by id and by run, each for itself and with who decided", async () => {
  const { w, ids, firstRun } = await inDoubt();
  const [a = "", b = "", c = "", d = "", e = "", f = ""] = ids;
  const listed = (await unsettled(w)).find(({ id }: Parsed) => id === a);
  const [{ numbers }] = listed.context.records;
  for (const told of ["O1", ...numbers]) expect(listed.lookFor.what).toContain(told);

  const none = ["--not-applied", "--reason", "none there"];
  expect((await w.run("settle", a, b, ...none, "--by", "anna.lee")).exitCode).toBe(0);
  for (const words of [
    [...none, "--by", "an\u0007na"],
    ["--not-applied", "--reason", "asked bjork@example.com"],
    [...none, "--by", "bjork@example.com"],
  ]) {
    const refused = await w.run("settle", c, ...words);
    expect([refused.exitCode, refused.stderr]).toEqual([64, expect.not.stringContaining("example.com")]);
  }
  const ofRun = await w.run("--json", "settle", "--run", firstRun, "--applied", "--reason", "seen there");
  expect(document(ofRun)).toMatchObject({ operation: c, state: "done" });

  const some = await w.run(
    "settle",
    d,
    "op_none",
    f,
    "--applied",
    "--reason",
    "asked the desk",
    "--by",
    "Björk Ødegård",
  );
  expect(some.exitCode).toBe(64);
  expect((await unsettled(w)).map(({ id }) => id)).toEqual([e]);
  for (const order of ["O4", "O6"]) expect((await operationsOf(w, "order", order))[0].state).toBe("done");
  const said = (await auditEntries(w)).filter(({ kind }) => ["not-applied", "place-order"].includes(kind));
  const decided = said
    .map(({ kind, body }) => [kind, JSON.parse(body)])
    .map(([kind, { by, reason }]) => [kind, by, reason]);
  expect(decided).toEqual([
    ["not-applied", "anna.lee", "none there"],
    ["not-applied", "anna.lee", "none there"],
    ["place-order", userInfo().username, "seen there"],
    ["place-order", "Björk Ødegård", "asked the desk"],
    ["place-order", "Björk Ødegård", "asked the desk"],
  ]);

  const verdict = ["--applied", "--reason", "x"];
  for (const words of [
    ["--run", "run_none", ...verdict],
    [e, ...verdict, "--run", firstRun],
  ])
    expect((await w.run("settle", ...words)).exitCode, words.join(" ")).toBe(64);
  expect(await unsettled(w)).toHaveLength(1);
});
