import { sql } from "kysely";
import type { OperationTable } from "../ledger/journal/tables.ts";
import { kindsWhere } from "../operation/registry.ts";
import { countedStored } from "../operation/stored-operation.ts";
import type { ExceptionFacts } from "../report/statement/exception-row.ts";
import { byHand } from "./by-hand.ts";
import { holdFacts, waits } from "./holds.ts";
import { openStates, operationFacts } from "./operations.ts";
import { quarantineFacts } from "./quarantine.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";
import { readFacts } from "./runs.ts";
import { runFromRow } from "../ledger/runs/run-tables.ts";

/**
 * Everything that did not go its way in a time (`from` belongs to it, `to` does not): what was open at some moment of
 * it, and what ended badly in it. Kind by kind, each in the order of time.
 */
export async function* exceptions(
  ledger: ReadOnlyLedger,
  time: { from: string; to: string },
): AsyncGenerator<ExceptionFacts, void, void> {
  yield* quarantined(ledger, time);
  yield* deferred(ledger, time);
  for (const kind of ["rejected", "unknown", "settled", "numbers-lost"] as const) {
    for (const found of ledger.rows(operationsOf(ledger, kind, time))) {
      const row = await operationFacts(ledger, found);
      yield { kind, row, count: countedStored(row.kind, row.payload) ?? null };
    }
  }
  yield* byHand(ledger, time);
  yield* held(ledger, time);
  yield* sources(ledger, time);
  yield* runs(ledger, time);
}

function* quarantined(
  ledger: ReadOnlyLedger,
  time: { from: string; to: string },
): Generator<ExceptionFacts, void, void> {
  const query = ledger.db
    .selectFrom("quarantine")
    .selectAll()
    .where("first_seen", "<", time.to)
    .where((where) => where.or([where("resolved_at", "is", null), where("resolved_at", ">=", time.from)]))
    .orderBy("first_seen")
    .orderBy("source")
    .orderBy("stream")
    .orderBy("place")
    .orderBy("id");
  for (const row of ledger.rows(query)) yield { kind: "quarantined", row: quarantineFacts(row) };
}

function* deferred(ledger: ReadOnlyLedger, time: { to: string }): Generator<ExceptionFacts, void, void> {
  const query = ledger.db
    .selectFrom("record")
    .selectAll()
    .where("deferred_code", "is not", null)
    .where(sql<string>`coalesce(deferred_since, changed_at)`, "<", time.to)
    .orderBy("stream")
    .orderBy("namespace")
    .orderBy("id");
  for (const row of ledger.rows(query)) {
    yield {
      kind: "deferred",
      stream: row.stream,
      key: { namespace: row.namespace, id: row.id },
      customer: { namespace: row.customer_namespace, id: row.customer_id },
      code: row.deferred_code ?? "",
      reason: row.deferred_reason ?? "",
      since: row.deferred_since ?? row.changed_at,
    };
  }
}

function operationsOf(
  ledger: ReadOnlyLedger,
  kind: "rejected" | "unknown" | "settled" | "numbers-lost",
  time: { from: string; to: string },
) {
  const query = ledger.db
    .selectFrom("operation")
    .selectAll()
    .orderBy("created_at")
    .orderBy("id")
    .$castTo<OperationTable>();
  const ended = query.where("updated_at", ">=", time.from).where("updated_at", "<", time.to);
  switch (kind) {
    case "rejected":
      return ended.where("state", "=", "rejected");
    case "unknown":
      return query.where("state", "in", [...openStates]).where("created_at", "<", time.to);
    case "settled":
      return ended
        .where("state", "in", ["done", "dropped"])
        .where(
          "kind",
          "not in",
          kindsWhere((kind) => kind.whenUnknown === "lost"),
        )
        .where((where) =>
          where.exists(
            where
              .selectFrom("attempt")
              .select("attempt.number")
              .whereRef("attempt.operation_id", "=", "operation.id")
              .where("attempt.outcome", "=", "unknown"),
          ),
        );
    case "numbers-lost":
      return ended
        .where("state", "=", "dropped")
        .where(
          "kind",
          "in",
          kindsWhere((kind) => kind.whenUnknown === "lost"),
        )
        .where((where) =>
          where.exists(
            where
              .selectFrom("audit")
              .select("audit.sequence")
              .where("audit.subject", "=", "pool")
              .where("audit.kind", "=", "numbers-lost")
              .where(sql<boolean>`json_extract(audit.body, '$.operation') = operation.id`),
          ),
        );
  }
}

function* held(ledger: ReadOnlyLedger, time: { from: string; to: string }): Generator<ExceptionFacts, void, void> {
  const query = ledger.db
    .selectFrom("hold")
    .selectAll()
    .select(sql<number>`0`.as("operations"))
    .select(waits)
    .where("created_at", "<", time.to)
    .where((where) => where.or([where("decided_at", "is", null), where("decided_at", ">=", time.from)]))
    .orderBy("created_at")
    .orderBy("id");
  for (const row of ledger.rows(query)) yield { kind: "held", row: holdFacts(row) };
}

function* sources(ledger: ReadOnlyLedger, time: { from: string; to: string }): Generator<ExceptionFacts, void, void> {
  const query = ledger.db
    .selectFrom("source_read")
    .selectAll()
    .where("started_at", ">=", time.from)
    .where("started_at", "<", time.to)
    .where("finished_at", "is not", null)
    .where((where) => where.or([where("complete", "=", 0), where("problem", "is not", null)]))
    .orderBy("number");
  for (const row of ledger.rows(query)) yield { kind: "source-incomplete", row: readFacts(row) };
}

function* runs(ledger: ReadOnlyLedger, time: { from: string; to: string }): Generator<ExceptionFacts, void, void> {
  const query = ledger.db
    .selectFrom("run")
    .selectAll()
    .where("started_at", ">=", time.from)
    .where("started_at", "<", time.to)
    .where((where) => where.or([where("state", "in", ["failed", "interrupted"]), where("exit_code", "=", 6)]))
    .orderBy("started_at")
    .orderBy("id");
  for (const row of ledger.rows(query)) yield { kind: "run", row: runFromRow(row) };
}
