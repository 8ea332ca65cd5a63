import type { NewQuestion } from "../../../src/ledger/decisions/decisions.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { operation, type Operation, removesOf } from "../../../src/engine/model/operation.ts";
import { freedBy, removedBy } from "../../../src/engine/model/registry.ts";
import { key } from "./records.ts";

/** A person is asked of a customer about these operations, or about one that is about the customer alone. */
interface Asked extends Partial<Omit<NewQuestion, "holds">> {
  /** Why it is held. */
  explanation?: string;
  operations?: readonly Operation[];
  runId?: string;
  /** The saved plan that takes a run back. */
  planId?: string;
}

/** An operation of a customer, unlike every other of it, that is about these orders or about the customer alone. */
export function heldChange(customer: string, name = "", orders: readonly string[] = []): Operation {
  return operation("update-enterprise", {
    customer: key(customer),
    subject: `customer:crm/${customer}${name}`,
    records: orders.length === 0 ? [record("customers", customer)] : orders.map((id) => record("orders", id)),
    target: {},
    payload: { crmCustomerId: customer, branchName: "Branch" },
    reason: "changed in the CRM: branch",
    before: null,
    after: { name: "n", branchName: "Branch", address: null },
  });
}

function record(stream: "customers" | "orders", id: string): Operation["records"][number] {
  return { stream, ...key(id) };
}

/**
 * Plans operations of a customer and asks a person about them, as a run does that limits stop. Gives the question, and
 * the id of each operation.
 */
export async function ask(
  ledger: Ledger,
  customer: string,
  {
    operations = [heldChange(customer)],
    runId = "r",
    planId,
    explanation = "3 of 9 would have gone",
    ...asked
  }: Asked = {},
): Promise<{ hold: string; ids: string[] }> {
  const whose = { customer: key(customer), ofUndo: planId !== undefined };
  const question: Omit<NewQuestion, "holds"> = {
    scope: "run",
    count: 3,
    allowed: 2,
    total: 9,
    ...asked,
  };
  await ledger.journal.plan({ runId, planId: planId ?? null, operations });
  const holds = operations.map((planned) => ({
    ...planned,
    scope: question.scope,
    reason: explanation,
    policy: question.policy,
    removes: removesOf(planned, removedBy(planned), freedBy(planned)),
  }));
  const [opened] = await ledger.decisions.ask(whose, [{ ...question, holds }]);
  const rows = await ledger.journal.plannedOf(whose);
  const idOf = (hash: string): string => rows.findLast(({ operation: { hash: of } }) => of === hash)?.id ?? "";
  return { hold: opened?.id ?? "", ids: operations.map(({ hash }) => idOf(hash)) };
}
