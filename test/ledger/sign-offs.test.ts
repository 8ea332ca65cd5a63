import { userInfo } from "node:os";
import { expect, it } from "vitest";
import type { Period } from "../../src/report/statement/shape.ts";
import { ask } from "../support/world/asked.ts";
import { LedgerWorld } from "../support/world/ledger-world.ts";
import { customerRecord, key, orderRecord } from "../support/world/records.ts";
import { trusted } from "../support/trusted.ts";

const month = (label: string, from: string, to: string): Period => ({ label, zone: "UTC", from, to });
const firstDay = month("2026-10-01", "2026-10-01T00:00:00.000Z", "2026-10-02T00:00:00.000Z");
const october = month("2026-10", "2026-10-01T00:00:00.000Z", "2026-11-01T00:00:00.000Z");
const anna = { by: "anna", reason: "known to sales" };

/** Two customers in October, the run at its end, with a hold each. */
async function heldWorld(): Promise<{ world: LedgerWorld; first: string; second: string }> {
  const world = await LedgerWorld.open();
  world.now = Date.parse("2026-10-05T10:00:00Z");
  await world.read("customers", [{ customers: customerRecord("C1") }, { customers: customerRecord("C2") }]);
  await world.ledger.runs.finish(world.run, { state: "done", exitCode: 0, balance: {}, summary: {} });
  const [{ hold: first }, { hold: second }] = [await ask(world.ledger, "C1"), await ask(world.ledger, "C2")];
  return { world, first, second };
}

async function blockers(world: LedgerWorld, period: Period) {
  return (await (await world.inquiry()).blockers(period)).map(({ id, facts, signedOff }) => ({ id, facts, signedOff }));
}

async function signerOf(world: LedgerWorld, period: Period, hold: string): Promise<string | null | undefined> {
  const found = (await blockers(world, period)).find(({ id }) => id === `hold:${hold}`);
  return found === undefined ? undefined : (found.signedOff?.by ?? null);
}

/** The last entry of the audit log. */
function lastEntry(world: LedgerWorld): { kind: string; subject: string; body: unknown } {
  const entry = [...world.ledger.audit.rows()].at(-1);
  return { kind: entry?.kind ?? "", subject: entry?.subject ?? "", body: JSON.parse(entry?.body ?? "null") };
}

it("what is held stands in the way until it is carried out, also where it is approved, and each by itself", async () => {
  const { world, first, second } = await heldWorld();
  world.now = Date.parse("2026-11-02T10:00:00Z");
  const found = await blockers(world, october);
  expect(found.map(({ id }) => id).toSorted()).toEqual([`hold:${first}`, `hold:${second}`].toSorted());
  const signed = found.filter(({ id }) => id === `hold:${first}`);
  await world.ledger.books.signOff("2026-10", signed, anna, trusted);
  expect([await signerOf(world, october, first), await signerOf(world, october, second)]).toEqual(["anna", null]);
  await world.ledger.decisions.decide(first, "approve", "asked for", "ben");
  await world.ledger.decisions.decide(second, "reject", "a mistake", "ben");
  // What was signed was a hold that nobody had decided on.
  expect([await signerOf(world, october, first), await signerOf(world, october, second)]).toEqual([null, undefined]);
});

const who = { way: "command", issuer: "this machine", subject: userInfo().username };

it("a signature is of one period, says by whom and why in the audit log, and none is given to a closed one", async () => {
  const { world, first } = await heldWorld();
  world.now = Date.parse("2026-11-02T10:00:00Z");
  const signed = (await blockers(world, october)).filter(({ id }) => id === `hold:${first}`);
  await world.ledger.books.signOff("2026-11", signed, anna, trusted);
  expect(lastEntry(world)).toEqual({
    kind: "signed-off",
    subject: "period:2026-11",
    body: {
      blocker: `hold:${first}`,
      facts: signed[0]?.facts,
      ...anna,
      who,
    },
  });
  expect(await signerOf(world, october, first), "signed for another month").toBeNull();

  const head = await (await world.inquiry()).auditHead();
  if (head === undefined) throw new Error("nothing was written");
  const asOf = new Date(world.now).toISOString();
  const of = { asOf, head, program: "0.1.0", configuration: "c", files: [] };
  const close = async (period: Period): Promise<unknown> =>
    await world.ledger.books.close({ ...of, period, signedOff: signed }, { by: "anna", reason: undefined }, trusted);
  await expect(close(october), "nobody signed it off for October").rejects.toThrow("signed off");
  expect(await (await world.inquiry()).closings()).toEqual([]);
  await world.ledger.books.signOff("2026-10", signed, anna, trusted);
  await close(october);
  expect(lastEntry(world)).toMatchObject({
    kind: "period-closed",
    body: { by: "anna", signedOff: [{ blocker: `hold:${first}`, facts: signed[0]?.facts }] },
  });
  await expect(
    world.ledger.books.signOff("2026-10", [{ id: "hold:h2", facts: "f" }], anna, trusted),
  ).rejects.toMatchObject({
    code: "periods.closed",
  });
  await world.ledger.books.reopen("2026-10", { by: "ben", reason: "an amount was wrong" });
  expect(lastEntry(world)).toEqual({
    kind: "period-reopened",
    subject: "period:2026-10",
    body: { closing: 1, by: "ben", reason: "an amount was wrong", who },
  });
  expect(await blockers(world, firstDay), "what came after it").toEqual([]);
});

it("who signs off what stands signed off already is told by whom and when, and nothing is written", async () => {
  const { world, first, second } = await heldWorld();
  world.now = Date.parse("2026-11-02T10:00:00Z");
  const [one, other] = [first, second].map((hold) => ({ id: `hold:${hold}`, facts: "f" }));
  if (one === undefined || other === undefined) throw new Error("nothing is held");
  const { books, audit } = world.ledger;
  const by = { by: "anna", at: "2026-11-02T10:00:00.000Z" };
  expect(await books.signOff("2026-10", [one], anna, trusted)).toEqual([{ id: one.id, ...by, already: false }]);
  world.now += 60_000;
  const before = [...audit.rows()].length;
  expect(await books.signOff("2026-10", [one, other], { by: "ben", reason: "me too" }, trusted)).toEqual([
    { id: one.id, ...by, already: true },
    { id: other.id, by: "ben", at: "2026-11-02T10:01:00.000Z", already: false },
  ]);
  expect([...audit.rows()]).toHaveLength(before + 1);
  expect(
    await books.signOff("2026-10", [{ ...one, facts: "g" }], { by: "ben", reason: "as it is now" }, trusted),
  ).toMatchObject([{ by: "ben", already: false }]);
});

it(
  "orders whose money does not agree are named one by one, and where they are very many the others by one more",
  { tags: "long" },
  async () => {
    const world = await LedgerWorld.open();
    world.now = Date.parse("2026-10-05T10:00:00Z");
    await world.read("customers", [{ customers: customerRecord("C1") }, { customers: customerRecord("C2") }]);
    await world.link(key("C1"), "E1");
    const all = Array.from({ length: 102 }, (_, index) => `O${String(index).padStart(3, "0")}`);
    const orders = (minor: number) =>
      all.map((id) => ({ orders: orderRecord(id, "C1", { amount: { currency: "EUR", minor } }) }));
    await world.read("orders", orders(1_00));
    for (const id of all) await world.place(key("C1"), key(id));
    const money = async () => (await (await world.inquiry()).blockers(october)).filter(({ kind }) => kind === "money");
    expect(await money()).toEqual([]);
    await world.read("orders", orders(2_00));
    const found = await money();
    expect(found).toHaveLength(101);
    expect(found[0]).toMatchObject({
      id: "money:crm/O000",
      what: "the CRM has 2.00 EUR for it, and 1.00 EUR was sent",
    });
    expect(found.at(-1)).toMatchObject({ id: "money:others", what: "2 amounts of other orders do not agree either" });
    await world.read("orders", orders(3_00));
    expect((await money()).at(-1)?.facts, "other amounts are signed off anew").not.toBe(found.at(-1)?.facts);
  },
);
