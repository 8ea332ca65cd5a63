import { z } from "zod";
import { decide } from "../../src/apply/decide.ts";
import type { PersonsVerdict } from "../../src/apply/decide.ts";
import { SnapshotReader } from "../../src/platform/snapshot.ts";
import { Problem } from "../../src/base/errors.ts";
import type { JournalRow } from "../../src/ledger/journal/journal-tables.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { assumptions } from "./engine.ts";
import type { Engine } from "./engine.ts";
import type { SimulatedServices } from "./services.ts";

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

/** Whether a question was approved: what has changed since it was asked is asked anew. */
async function approve(engine: Engine, question: string): Promise<boolean> {
  try {
    await engine.wait(engine.ledger.decisions.decide(question, "approve", "it is meant", "tester"));
    return true;
  } catch (error) {
    if (error instanceof Problem && error.code === "approve.changed") return false;
    throw error;
  }
}

/**
 * A person who decides what waits for one, after a look at the platform, and approves what is held. Gives how many
 * decisions were taken.
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
    if (await approve(engine, id)) decisions += 1;
  }
  for (const row of await engine.wait(engine.ledger.journal.open())) {
    if (row.state !== "parked") continue;
    const there = isThere(row, services);
    const verdicts: PersonsVerdict[] =
      there === undefined ? ["not-applied", "applied"] : [there ? "applied" : "not-applied"];
    for (const verdict of verdicts) {
      try {
        await engine.wait(
          decide(engine.deps, reader, row.id, verdict, { reason: "looked at the platform", by: "tester" }),
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
