import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, vi } from "vitest";
import { openInquiry } from "../../src/inquiry/inquiry.ts";
import type { Inquiry } from "../../src/inquiry/inquiry.ts";
import { copyLedger } from "../../src/ledger/database/copy.ts";
import { openDatabase } from "../../src/ledger/database/database.ts";
import { statements } from "../../src/ledger/database/statements.ts";
import { update } from "../ledger/opened.ts";
import { collect } from "../support/world/ledger-world.ts";
import { key } from "../support/world/records.ts";
import { folder as newFolder } from "../support/world/start.ts";
import { agreedWorld, reportText, request } from "./reported-month.ts";

/** A statement on one line. */
export function flat(sql: string): string {
  return sql.trim().replaceAll(/\s+/gu, " ");
}

async function askEverything(inquiry: Inquiry): Promise<void> {
  await inquiry.status();
  for (const stream of ["customers", "orders", "staff"] as const) await inquiry.find(stream, "none");
  await inquiry.agreement();
  await inquiry.assumptions();
  await inquiry.auditHead();
  await inquiry.run("r");
  await inquiry.operation("o");
  await inquiry.rawForm("q");
  await inquiry.keptAnswer("o");
  for (const stream of ["customers", "orders", "staff"] as const)
    for (const id of ["c1", "none"]) await inquiry.explain(stream, key(id));
  for (const filter of [{}, { customer: key("c1") }, { id: "h" }, { states: ["open", "approved"] as const }])
    await inquiry.holds(filter);
  for (const filter of [{}, { job: "j" }, { before: { startedAt: "", id: "" } }]) await inquiry.runs(filter);
  for (const filter of [{}, { customer: key("c1") }, { record: { stream: "orders" as const, key: key("o1") } }])
    await collect(inquiry.quarantine(filter));
  await collect(inquiry.unsettled());
  for (const filter of [{ run: "r" }, { subject: "s" }, { openOf: key("c1") }])
    await collect(inquiry.operations(filter));
  for (const kind of ["orders", "reconciliation", "exceptions"] as const)
    await reportText(inquiry, request(kind), "json");
}

/**
 * Every statement that the ledger, the inquiry and the copying of a ledger prepare, each on one line, and those of the
 * migrations.
 */
export async function everyStatement(): Promise<{ texts: string[]; migrating: ReadonlySet<string> }> {
  const prepared = new Set<string>();
  const migrating = new Set<string>();
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

  (await openDatabase(join(newFolder(), "ledger.db"), { migrate: true })).close();
  for (const text of prepared) migrating.add(flat(text));
  prepared.clear();
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
  for (const verdict of ["confirmed", "contradicted"] as const)
    await ledger.assumptions.met([{ row: "A12", verdict, evidence: "e" }]);
  await ledger.assumptions.flush();
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
  copyLedger(ledger.path, join(newFolder(), "copy.db"));
  spy.mockRestore();

  return { texts: [...prepared].map(flat), migrating };
}
