import type { LockRequest, LockResult } from "../app/locks.ts";
import type { JsonObject } from "../base/canonical-json.ts";
import { lockStatusMeanings } from "../contract/vocabulary.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Operation } from "../operation/operation.ts";
import { kindOf } from "../operation/registry.ts";
import { printable } from "../report/text.ts";

/** What would be sent, for machines. */
export function previewJson(customer: RecordKey, operations: readonly Operation[]): JsonObject {
  return {
    customer: formatKey(customer),
    operations: operations.map(({ kind, endpoint, subject, reason, payload }) => {
      return { kind, endpoint, subject, reason, payload };
    }),
  };
}

/** What would be sent of one operation, for people. */
export function previewLines(operation: Operation): string[] {
  const lines = kindOf(operation)
    .planLines(operation.payload)
    .map((line) => `    ${line}`);
  return [`${operation.endpoint} ${operation.subject}: ${operation.reason}`, ...lines].map(printable);
}

/** How each lock stands, for machines. */
export function resultJson({ customer, run, locks, open }: LockResult): JsonObject {
  return {
    customer: formatKey(customer),
    run: run ?? null,
    locks: locks.map((lock) => ({
      asset: lock.assetNumber,
      wanted: lock.wanted,
      status: lock.status,
      by: lock.by,
      reason: lock.reason,
      askedAt: lock.askedAt,
      operation: lock.operationId,
    })),
    open,
  };
}

/** How the locks that were asked for stand, for people. */
export function resultLines({ locks, open }: LockResult, { numbers, withdraw }: LockRequest): string[] {
  if (withdraw) return [printable(`taken back: ${numbers.join(", ")}; nothing was sent`)];
  const lines = locks
    .filter((lock) => numbers.includes(lock.assetNumber))
    .map((lock) => {
      if (lock.status === null) return `${lock.assetNumber} is asked for (${lock.wanted}) and not answered yet`;
      const { meaning } = lockStatusMeanings[lock.status];
      return lock.status === 1
        ? `${lock.assetNumber} is ${lock.wanted}`
        : `${lock.assetNumber} is not ${lock.wanted}: status ${lock.status}, ${meaning}`;
    });
  const waits = open.map(
    (row) => `waits for the outcome of ${row.endpoint} on ${row.subject} (${row.id}), which is ${row.state}`,
  );
  return [...lines, ...waits].map(printable);
}
