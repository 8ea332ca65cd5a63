import { askFor, previewOf, type Asking, type RequestDesk, type RequestResult } from "../requests/requests.ts";
import type { ExitCode } from "../base/errors.ts";
import type { JsonObject } from "../base/canonical-json.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Operation } from "../engine/model/operation.ts";
import { payloadLines } from "../engine/model/operation-line.ts";
import { nameOf, requestKindOf, standing } from "../engine/model/requests.ts";
import { printable } from "../report/text.ts";
import { ok, type Invocation } from "./command.ts";

export async function carryOutRequest(
  { output, options, signal }: Invocation,
  application: RequestDesk,
  asking: Asking,
  dryRun: boolean,
): Promise<ExitCode> {
  if (dryRun) {
    const operations = await previewOf(application, asking, signal);
    if (options.json) output.json(previewJson(asking.customer, operations));
    else for (const line of operations.flatMap(previewLines)) output.line(line);
    return ok;
  }
  return await askFor(application, asking, {
    signal,
    show: async (result) => {
      if (options.json) output.result(resultJson(result));
      else for (const line of resultLines(result, asking)) output.line(line);
    },
  });
}

function previewJson(customer: RecordKey, operations: readonly Operation[]): JsonObject {
  return {
    customer: formatKey(customer),
    operations: operations.map(({ kind, endpoint, subject, reason, payload }) => {
      return { kind, endpoint, subject, reason, payload };
    }),
  };
}

function previewLines(operation: Operation): string[] {
  const lines = payloadLines(operation).map((line) => `    ${line}`);
  return [`${operation.endpoint} ${operation.subject}: ${operation.reason}`, ...lines].map(printable);
}

function resultJson({ customer, run, requests, open }: RequestResult): JsonObject {
  return {
    customer: formatKey(customer),
    run: run ?? null,
    requests: requests.map((request) => ({
      of: request.of,
      about: request.about,
      wanted: request.wanted,
      standing: standing(request),
      answer: request.answer,
      by: request.by,
      reason: request.reason,
      askedAt: request.askedAt,
      operation: request.operationId,
    })),
    open,
  };
}

function resultLines({ requests, open }: RequestResult, { names, withdraw }: Asking): string[] {
  const [{ of }] = names;
  const about = names.map((name) => name.about);
  if (withdraw) return [printable(`taken back: ${about.join(", ")}; nothing was sent`)];
  const lines = requests
    .filter((request) => request.of === of && about.includes(request.about))
    .map((request) => `${nameOf(request)} ${requestKindOf(request).stands(request)}`);
  const gone = about
    .filter((one) => !requests.some((request) => request.of === of && request.about === one))
    .map((one) => `${nameOf({ of, about: one })} was taken back by somebody before it was sent`);
  const waits = open.map(
    (row) => `waits for the outcome of ${row.endpoint} on ${row.subject} (${row.id}), which is ${row.state}`,
  );
  return [...lines, ...gone, ...waits].map(printable);
}
