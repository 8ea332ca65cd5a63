import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, vi } from "vitest";
import { openInquiry, type Inquiry } from "../../src/inquiry/inquiry.ts";
import { copyWhileWritten, ledgerFacts, requireIntact } from "../../src/ledger/database/backup.ts";
import { statements } from "../../src/ledger/database/statements.ts";
import type { OrderPriced } from "../../src/resources/order/state/changes.ts";
import { update } from "../ledger/opened.ts";
import { ask } from "../support/world/asked.ts";
import { collect, type LedgerWorld } from "../support/world/ledger-world.ts";
import { key, orderRecord } from "../support/world/records.ts";
import { folder as newFolder } from "../support/world/start.ts";
import { agreedWorld } from "./agreed-world.ts";
import { october, stated, statementKinds } from "./statement/stated.ts";
import { trusted } from "../support/trusted.ts";

/** A statement on one line. */
export function flat(sql: string): string {
  return sql.trim().replaceAll(/\s+/gu, " ");
}

async function askEverything(inquiry: Inquiry): Promise<void> {
  await inquiry.status();
  for (const stream of ["customers", "orders", "staff"] as const) await inquiry.find(stream, "none");
  for (const text of ["none", "crm/o1"]) await inquiry.findEverywhere(text);
  await inquiry.findPeople("none");
  for (const stream of ["orders", "staff"] as const)
    for (const after of [undefined, key("a")]) await inquiry.recordsOfCustomer(key("c1"), stream, after);
  await inquiry.privateValues("staff", key("s1"));
  for (const id of ["o1", "O1"]) await inquiry.orderSides(key(id));
  await inquiry.agreement();
  await inquiry.assumptions();
  await inquiry.auditHead();
  await inquiry.measures(["j"]);
  await inquiry.auditEntries({ limit: 1 });
  await inquiry.headPlaces();
  await inquiry.began();
  await inquiry.quarantineGroups();
  for (const after of [undefined, { firstSeen: "", id: "" }])
    await inquiry.quarantineOfGroup({ source: "s", stream: "staff", code: "c" }, { after, limit: 1 });
  await collect(inquiry.unsettled({ after: { createdAt: "", id: "" }, limit: 1 }));
  await inquiry.run("r");
  await inquiry.operation("o");
  await inquiry.rawForm("q");
  await inquiry.keptAnswer("o");
  for (const stream of ["customers", "orders", "staff"] as const)
    for (const id of ["c1", "none"]) await inquiry.explain(stream, key(id));
  for (const filter of [{}, { customer: key("c1") }, { id: "h" }, { states: ["open", "approved"] as const }])
    await inquiry.holds(filter);
  for (const after of [undefined, "none"]) {
    await inquiry.standingHolds({ limit: 1, after });
    await inquiry.waitingOperations({ limit: 1, after });
  }
  await inquiry.heldOperations("h", { limit: 1 });
  for (const hold of [undefined, "h"]) await inquiry.heldSums(hold);
  await inquiry.heldByRuns(1);
  await inquiry.heldMark("h-none");
  await inquiry.readsOf({ source: "s", stream: "orders", limit: 1 });
  await inquiry.runGlance("r");
  await inquiry.runOperations("r", { limit: 1 });
  await inquiry.runFailures("r", 1);
  for (const filter of [{}, { job: "j" }, { before: { startedAt: "", id: "" } }]) await inquiry.runs(filter);
  for (const filter of [{}, { customer: key("c1") }, { record: { stream: "orders" as const, key: key("o1") } }])
    await collect(inquiry.quarantine(filter));
  await collect(inquiry.unsettled());
  for (const filter of [{ run: "r" }, { subject: "s" }, { openOf: key("c1") }])
    await collect(inquiry.operations(filter));
}

/** An order that was corrected and repriced, and one of each kind of exception that concerns orders. */
async function trouble(world: LedgerWorld): Promise<void> {
  const { ledger, run } = world;
  const order = { ...orderRecord("O1", "C1"), amount: { currency: "EUR", minor: 1 } };
  await world.read("orders", [{ orders: order }, { orders: orderRecord("O2", "C1") }]);
  const priced = { product: null, from: null, to: order.amount };
  const step: OrderPriced = {
    type: "order-priced",
    order: key("O1"),
    customer: key("C1"),
    version: 2,
    items: [priced],
  };
  await ledger.state.record(key("C1"), [step]);
  await world.intend(await world.orderOperation(key("C1"), key("O2")));
  await world.reject("orders", key("O1"), { customer: key("C1") });
  await ledger.records.setOutcomes(run, [
    { stream: "customers", key: key("C1"), outcome: "deferred", code: "c", reason: "r" },
  ]);
  await ask(ledger, "C1");
}

/** A month is signed off, closed and opened again. */
async function closing(world: LedgerWorld): Promise<void> {
  const { ledger } = world;
  const head = await (await world.inquiry()).auditHead();
  if (head === undefined) throw new Error("nothing was written");
  const whose = { by: "b", reason: "r" };
  await (await world.inquiry()).blockers(october);
  const file = { name: "f", kind: "orders", format: "csv", sha256: "a".repeat(64), bytes: 1 };
  world.now = Date.parse(october.to) + 1;
  for (const id of ["b", "money:crm/O1", "hold:h", "quarantined:q"])
    await ledger.books.signOff(october.label, [{ id, facts: "f" }], whose, trusted);
  const of = { program: "0", configuration: "c", files: [file], signedOff: [{ id: "b", facts: "f" }] };
  await ledger.books.close({ period: october, asOf: new Date(world.now).toISOString(), head, ...of }, whose, trusted);
  const inquiry = await world.inquiry();
  await inquiry.closings();
  await inquiry.closedFiles(october.label, 1);
  await ledger.books.reopen(october.label, whose);
}

/** Every statement that the ledger, the inquiry and the copying of a ledger prepare, each on one line. */
export async function everyStatement(): Promise<string[]> {
  const prepared = new Set<string>();
  // oxlint-disable-next-line typescript/unbound-method -- it is called with the database that was asked
  const { prepare } = Database.prototype;
  const spy = vi.spyOn(Database.prototype, "prepare").mockImplementation(function (this: Database.Database, sql) {
    prepared.add(sql);
    return prepare.call(this, sql);
  });
  onTestFinished(() => spy.mockRestore());
  const { onUse } = statements;
  const used = vi.spyOn(statements, "onUse").mockImplementation((makers) => ({ ...onUse(makers) }));
  onTestFinished(() => used.mockRestore());

  const { world } = await agreedWorld({ isNew: true });
  const { ledger } = world;
  ledger.runs.takeLock();
  await ledger.identity.name();
  await ledger.identity.requirePlatform("p");
  await ledger.private.rawSalt();
  await ledger.private.latestSealed("r");
  await ledger.journal.countedFrom("k", 1);
  ledger.audit.verify();
  await ledger.audit.headKept("p", 1);
  await ledger.audit.headNotKept("p", "why");
  await ledger.audit.onlyPlaces([]);
  await ledger.assumptions.met([{ row: "A12", evidence: "e" }]);
  expect(ledger.assumptions.contradictions.size).toBe(1);
  await ledger.assumptions.accept("A12", { by: "b", reason: "r" });
  await ledger.assumptions.wholeList("none");
  await ledger.assumptions.incompleteList("e");
  await ledger.assumptions.wholeList("e");
  await ledger.journal.intend({
    operation: update("c9"),
    runId: null,
    wireHash: "w",
    nonce: "n",
    context: {},
    sealed: [{ ref: "s", version: 1, salt: "s", values: {} }],
  });
  const inquiry = openInquiry(ledger.path);
  await askEverything(inquiry);
  inquiry.close();
  await trouble(world);
  const all = { customer: "crm/c1", branch: "b", source: "s", product: "p" };
  for (const kind of statementKinds)
    for (const by of ["happened", "crm-date"] as const)
      for (const filters of [{}, all]) await stated(ledger.path, kind, { by, filters });
  await closing(world);
  const place = { enterpriseGlobalId: "e", members: ["m"], holders: [{ assetNumber: "n", memberGlobalId: "m" }] };
  const nobody = { namespace: "crm", id: "c1" };
  await ledger.gap.begin("b");
  await ledger.gap.ordersAside(nobody);
  await ledger.gap.wasPlaced(nobody);
  await ledger.gap.numbersAside(nobody);
  await ledger.gap.bringNumbersBack([false, true].map((unitStands) => ({ number: "n", unitStands })));
  await ledger.gap.bringOrderBack(nobody, nobody, () => false, []);
  await ledger.gap.bringPeopleBack(nobody, place);
  await ledger.gap.close("b", {});
  const copy = join(newFolder(), "backup.db");
  await copyWhileWritten(ledger.path, copy, () => {});
  requireIntact(copy);
  ledgerFacts(copy);
  spy.mockRestore();

  return [...prepared].map(flat);
}
