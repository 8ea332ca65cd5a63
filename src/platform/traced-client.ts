import { traced } from "../base/traces.ts";
import type { SpanEnd, Traces } from "../base/traces.ts";
import { documentedCodes } from "../contract/codes.ts";
import type { ServiceName } from "../contract/endpoints.ts";
import { ReadFailure } from "../http/call-outcome.ts";
import type { WriteOutcome } from "../http/call-outcome.ts";
import type { ServiceClient } from "../http/client.ts";

/** A client whose calls are spans, from the wish to call to the answer, with the waiting for a permit. */
export function tracedClient(client: ServiceClient, service: ServiceName, traces: Traces | undefined): ServiceClient {
  if (traces === undefined) return client;
  return {
    read: async (call) => {
      const facts = { service, endpoint: call.endpoint };
      const outcome = await traced(
        traces,
        "call",
        facts,
        () =>
          client.read(call).then(
            (value) => ({ value }),
            (thrown: unknown) => ({ thrown }),
          ),
        (ended) => ("thrown" in ended ? ofFailure(ended.thrown) : { outcome: "done" }),
      );
      if ("thrown" in outcome) throw outcome.thrown;
      return outcome.value;
    },
    write: (call) => traced(traces, "call", { service, endpoint: call.endpoint }, () => client.write(call), ofOutcome),
    state: () => client.state(),
    close: () => client.close(),
  };
}

function ofFailure(thrown: unknown): SpanEnd {
  if (!(thrown instanceof ReadFailure)) return { failed: true, outcome: "failed" };
  return { failed: true, outcome: thrown.kind, ...statusOf(thrown.status), ...codeOf(thrown.serviceCode) };
}

function ofOutcome(outcome: WriteOutcome<unknown>): SpanEnd {
  return {
    failed: outcome.kind !== "done" && outcome.kind !== "already",
    outcome: outcome.kind,
    ...("status" in outcome ? statusOf(outcome.status) : {}),
    ...("code" in outcome ? codeOf(outcome.code) : {}),
  };
}

function statusOf(status: number | undefined): { status?: number } {
  return status === undefined ? {} : { status };
}

const known: ReadonlySet<string> = new Set(documentedCodes);

/** A service may write anything where a code belongs. */
function codeOf(code: string | undefined): { code?: string } {
  if (code === undefined) return {};
  return { code: known.has(code) ? code : "other" };
}
