import { z } from "zod";
import { decide, type PersonsVerdict } from "../../src/engine/settle-by-person.ts";
import { SnapshotReader } from "../../src/platform/snapshot.ts";
import { Problem } from "../../src/base/errors.ts";
import type { JournalRow } from "../../src/ledger/journal/journal-tables.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { rowsOf } from "../support/world/start.ts";
import { assumptions, type Engine } from "./engine.ts";
import type { SimulatedServices } from "./services.ts";
import type { Draws } from "./timeline.ts";

/**
 * Whether the platform itself holds what an operation meant: only a person can find this out. Undefined where reading
 * shows it anyhow.
 */
function isThere(row: JournalRow, services: SimulatedServices): boolean | undefined {
  const { operation } = row;
  if (operation.endpoint === "E5") {
    const sent = z.looseObject({ channelOrderId: z.string() }).safeParse(row.context);
    if (sent.success) return services.observation.batches(sent.data.channelOrderId).length > 0;
  }
  if (operation.kind === "create-enterprise")
    return (
      services.store.prepare("SELECT 1 FROM customers WHERE channel_customer_id = ?").get(row.operation.customer.id) !==
      undefined
    );
  return undefined;
}

/** What the CRM corrects, so that nobody has to ask for it. */
const correctedInTheCrm = "'rejected.10004', 'rejected.13004'";
/**
 * What a service refused for its own reasons is not sent again by itself: somebody has the customer worked on again, as
 * `resync --customer` does.
 */
export async function askForRefused(
  engine: Engine,
  ledgerPath: string,
  options: { besides: string; onAsked: (customer: string) => void },
): Promise<number> {
  const view = new LedgerView(ledgerPath);
  const row = z.object({ namespace: z.string(), id: z.string() });
  try {
    const customers = view.rows(
      row,
      `select distinct customer_namespace as namespace, customer_id as id from record
       where outcome = 'rejected' and pending = 0 and deferred_code not in (${correctedInTheCrm}, '${options.besides}')`,
    );
    for (const customer of customers) {
      options.onAsked(customer.id);
      await engine.wait(engine.ledger.journal.retryRejected({ customer }));
      await engine.wait(engine.ledger.records.markPending({ customer }));
    }
    return customers.length;
  } finally {
    view.close();
  }
}

/** Whether a decision was taken: what changed since it was asked is asked anew, and cannot be approved. */
async function taken(decision: Promise<unknown>): Promise<boolean> {
  try {
    await decision;
    return true;
  } catch (error) {
    if (error instanceof Problem && error.code === "approve.changed") return false;
    throw error;
  }
}

/**
 * A person who decides what waits for one, after a look at the platform, approves what is held, and accepts what
 * contradicted an assumption. Gives how many decisions were taken.
 */
export async function decideAll(
  engine: Engine,
  services: SimulatedServices,
  onDecided: (customer: string) => void,
): Promise<number> {
  const reader = new SnapshotReader(engine.platform, assumptions);
  let decisions = 0;
  for (const { id, state } of await engine.wait(engine.ledger.decisions.questions())) {
    if (state !== "open") continue;
    if (await engine.wait(taken(engine.ledger.decisions.decide(id, "approve", "it is meant", "tester"))))
      decisions += 1;
  }
  const { assumptions: met } = engine.ledger;
  for (const row of met.contradictions.keys())
    if (await engine.wait(met.accept(row, { by: "tester", reason: "it was a fault of the service" }))) decisions += 1;
  for (const row of await engine.wait(engine.ledger.journal.open())) {
    if (row.state !== "parked") continue;
    const there = isThere(row, services);
    const verdicts: PersonsVerdict[] =
      there === undefined ? ["not-applied", "applied"] : [there ? "applied" : "not-applied"];
    for (const verdict of verdicts) {
      try {
        await engine.wait(
          decide({ ...engine.deps, reader }, row.id, { verdict, reason: "looked at the platform", by: "tester" }),
        );
        decisions += 1;
        onDecided(row.operation.customer.id);
        break;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
      }
    }
  }
  return decisions;
}

/**
 * A person approves some of what is held, all of a question or one operation of it, rejects some, takes a rejection
 * back, and leaves the rest open. Answers what was decided.
 */
export async function decideInPart(engine: Engine, path: string, draws: Draws): Promise<string[]> {
  const { decisions } = engine.ledger;
  const said: string[] = [];
  for (const { id, state } of await engine.wait(decisions.questions())) {
    const [verdict, one] = [draws.whole(0, 4), draws.fraction()];
    if (state !== "open" || verdict > 2) continue;
    const asked = rowsOf<{ id: string }>(
      path,
      "select operation_id as id from hold where question_id = ? and state = 'asked' order by id",
      id,
    );
    const operation = asked[Math.floor(one * asked.length)]?.id ?? "";
    const decided = [
      () => decisions.decide(id, "approve", "it is meant", "tester"),
      () => decisions.approveOperation(operation, "this one is meant", "tester"),
      () => decisions.decide(id, "reject", "it is not meant", "tester"),
    ][verdict];
    if (decided === undefined || !(await engine.wait(taken(decided())))) continue;
    said.push(`${["approved", "approved one of", "rejected"][verdict] ?? ""} ${id}`);
  }
  for (const id of rejected(path)) {
    if (!draws.chance(0.3)) continue;
    await engine.wait(decisions.withdraw(id, "once more", "tester"));
    said.push(`withdrew the rejection of ${id}`);
  }
  return said;
}

/** Every rejection is taken back, but those of an undo: what that held is rejected. Answers how many were decided. */
export async function withdrawAll(engine: Engine, path: string): Promise<number> {
  const ids = rejected(path);
  for (const id of ids) await engine.wait(engine.ledger.decisions.withdraw(id, "once more", "tester"));
  const ofUndo = (await engine.wait(engine.ledger.decisions.questions())).filter((question) => question.ofUndo);
  for (const { id } of ofUndo) await engine.wait(engine.ledger.decisions.decide(id, "reject", "it stays", "tester"));
  return ids.length + ofUndo.length;
}

/** Lines that are as others were, under new ids, are right: the next run takes them in. Answers how many orders. */
export async function believeLines(engine: Engine, path: string): Promise<number> {
  const rows = rowsOf<{ id: string }>(
    path,
    "select id from quarantine where state = 'open' and code = 'lines-renumbered' order by 1",
  );
  for (const { id } of rows) await engine.wait(engine.ledger.records.retry.mark(id, "tester"));
  return rows.length;
}

function rejected(path: string): string[] {
  return rowsOf<{ id: string }>(
    path,
    "select distinct question_id as id from hold where state = 'rejected' and of_undo = 0 order by 1",
  ).map(({ id }) => id);
}
