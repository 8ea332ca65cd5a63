import type { LockRequest } from "../app/locks.ts";
import type { RequestResult } from "../app/requests.ts";
import type { JsonObject } from "../base/canonical-json.ts";
import { lockStatuses, lockStatusMeanings } from "../contract/vocabulary.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Operation } from "../operation/operation.ts";
import { only } from "../operation/requests.ts";
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
export function resultJson({ customer, run, requests, open }: RequestResult): JsonObject {
  return {
    customer: formatKey(customer),
    run: run ?? null,
    locks: only(requests, "lock").map((lock) => ({
      asset: lock.about,
      wanted: lock.wanted,
      status: lock.answer?.status ?? null,
      by: lock.by,
      reason: lock.reason,
      askedAt: lock.askedAt,
      operation: lock.operationId,
    })),
    open,
  };
}

/** How the locks that were asked for stand, for people. */
export function resultLines({ requests, open }: RequestResult, { numbers, withdraw }: LockRequest): string[] {
  if (withdraw) return [printable(`taken back: ${numbers.join(", ")}; nothing was sent`)];
  const lines = only(requests, "lock")
    .filter((lock) => numbers.includes(lock.about))
    .map(({ about, wanted, answer }) => {
      if (answer === null) return `${about} is asked for (${wanted}) and not answered yet`;
      const { status } = answer;
      return status === lockStatuses.succeeded
        ? `${about} is ${wanted}`
        : `${about} is not ${wanted}: status ${status}, ${lockStatusMeanings[status].meaning}`;
    });
  const waits = open.map(
    (row) => `waits for the outcome of ${row.endpoint} on ${row.subject} (${row.id}), which is ${row.state}`,
  );
  return [...lines, ...waits].map(printable);
}
