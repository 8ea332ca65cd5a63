import { expect, it, onTestFinished } from "vitest";
import { standAsOf } from "../../src/inquiry/as-of/as-of.ts";
import { statementHeader, statements } from "../../src/inquiry/statement/statement.ts";
import { ReadOnlyLedger } from "../../src/inquiry/read-only-ledger.ts";
import { openReadOnly } from "../../src/ledger/database/database.ts";
import { ask } from "../support/world/asked.ts";
import { LedgerWorld } from "../support/world/ledger-world.ts";
import { customerRecord, key, orderRecord, staffRecord } from "../support/world/records.ts";
import { changeFile } from "../support/world/start.ts";
import { rowsOf, statementKinds } from "./statement/stated.ts";
import { drawing, eur, month, placeLate, threeMonths } from "./statement/statement-world.ts";
import { trusted } from "../support/trusted.ts";

/** Every statement of October and of November as of a moment, with what it says that it was made from. */
async function knownAt(world: LedgerWorld, asOf: string): Promise<Record<string, unknown>> {
  const ledger = new ReadOnlyLedger(world.path, openReadOnly(world.path));
  onTestFinished(() => ledger.close());
  standAsOf(ledger, asOf);
  const all: Record<string, unknown> = {};
  for (const kind of statementKinds)
    for (const label of ["2026-10", "2026-11"]) {
      const request = { period: month(label), by: "happened", filters: {}, asOf } as const;
      all[`${kind} ${label}`] = {
        header: await statementHeader(ledger, statements[kind].shape, request),
        ...(await rowsOf(ledger, kind, request)),
      };
    }
  return all;
}

/**
 * What comes on the day after, in the same month: C2 has another order, dated in October; the money of C1's is
 * corrected; C1 moves to another branch and another of its seats is granted; a run begins; what is held of C2 is
 * signed off and decided; a row cannot be used; October is closed.
 */
async function dayAfter(world: LedgerWorld, held: string): Promise<void> {
  const { ledger } = world;
  await world.startRun();
  await placeLate(world);
  const corrected = { ...orderRecord("O1", "C1", { instances: drawing(eur(999_99), 2) }), amount: eur(1_099_98) };
  await world.read("orders", [{ orders: corrected }]);
  await world.read("customers", [{ customers: customerRecord("C1", { branchCode: "B7" }) }]);
  await world.read("staff", [{ staff: staffRecord("S3", "C1") }]);
  await ledger.state.record(key("C1"), [
    {
      type: "order-priced",
      order: key("O1"),
      customer: key("C1"),
      version: 4,
      items: [{ product: "P1", from: eur(240_01), to: eur(999_99) }],
    },
    {
      type: "asset-granted",
      assetNumber: "8000000002",
      staff: key("S3"),
      customer: key("C1"),
      memberGlobalId: "M-S3",
      origin: "granted",
      operationId: "op_later",
    },
  ]);
  await world.reject("orders", key("O2"), { customer: key("C2") });
  const november = month("2026-11");
  const signed = (await (await world.inquiry()).blockers(november)).filter(({ id }) => id === `hold:${held}`);
  expect(signed).toHaveLength(1);
  await ledger.books.signOff(november.label, signed, { by: "anna", reason: "known" }, trusted);
  world.now += 1_000;
  await ledger.decisions.decide(held, "reject", "a mistake", "ben");
  const head = await (await world.inquiry()).auditHead();
  if (head === undefined) throw new Error("nothing was written");
  const closing = { head, program: "0", configuration: "c", files: [], signedOff: [] };
  const asOf = new Date(world.now).toISOString();
  await ledger.books.close({ period: month("2026-10"), asOf, ...closing }, { by: "anna", reason: undefined }, trusted);
}

it(
  "nothing that came on the day after is in what was known at a moment, in any statement",
  { tags: "long" },
  async () => {
    const world = await threeMonths();
    world.now = Date.parse("2026-11-25T10:00:00.000Z");
    const { hold } = await ask(world.ledger, "C2");
    const moment = new Date(world.now).toISOString();
    const then = await knownAt(world, moment);
    world.now = Date.parse("2026-11-26T10:00:00.000Z");
    await dayAfter(world, hold);
    const again = await knownAt(world, moment);
    for (const [name, statement] of Object.entries(then)) expect.soft(again[name], name).toEqual(statement);
    const later = await knownAt(world, new Date(world.now).toISOString());
    const rows = JSON.stringify(later);
    for (const told of ["crm/O9", "crm/S3", "B7", '"sign_off_reason":"known"', '"code":"rejected"'])
      expect(rows).toContain(told);
  },
);

it("an operation that changed again after the clock was set back stands as of a moment once", async () => {
  const world = await LedgerWorld.open();
  world.now = Date.parse("2026-10-20T09:00:00.000Z");
  for (const id of ["C1", "C2"]) {
    await world.read("customers", [{ customers: customerRecord(id) }]);
    await world.link(key(id), `E-${id}`);
    await world.read("orders", [{ orders: orderRecord(`O-${id}`, id) }]);
  }
  const sent: string[] = [];
  for (const id of ["C1", "C2"]) sent.push(await world.intend(await world.orderOperation(key(id), key(`O-${id}`))));
  const said = ["10:00", "10:05", "09:10", "10:20"].map(
    (time) =>
      `update operation set state = 'unknown', outcome_message = 'said at ${time}',
       updated_at = '2026-10-20T${time}:00.000Z' where id = '${sent[0]}'`,
  );
  for (const change of said) changeFile(world.path, change);
  world.now = Date.parse("2026-10-20T10:20:00.000Z");
  await world.startRun();
  const saidAt = (time: string): unknown => {
    const ledger = new ReadOnlyLedger(world.path, openReadOnly(world.path));
    onTestFinished(() => ledger.close());
    standAsOf(ledger, `2026-10-20T${time}:00.000Z`);
    return ledger.reading((database) =>
      database
        .prepare<[string | undefined], string>("select outcome_message from operation where id = ?")
        .pluck()
        .all(sent[0]),
    );
  };
  expect(saidAt("10:02")).toEqual(["said at 10:00"]);
  expect(saidAt("10:07")).toEqual(["said at 09:10"]);
  expect(saidAt("10:20")).toEqual(["said at 10:20"]);
});
