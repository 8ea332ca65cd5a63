import type { JsonObject } from "../../base/canonical-json.ts";
import type { SpanFacts, SpanName } from "../../base/traces.ts";

/** A span that has ended. */
export interface EndedSpan {
  traceId: string;
  spanId: string;
  parentId: string | undefined;
  name: SpanName;
  /** Epoch milliseconds, with fractions. */
  start: number;
  end: number;
  facts: SpanFacts;
  failed: boolean;
}

/** The name of each attribute. What is not listed here leaves the program in no span. */
const attributes: readonly (readonly [keyof SpanFacts, string])[] = [
  ["run", "crm_sync.run"],
  ["job", "crm_sync.job"],
  ["kind", "crm_sync.kind"],
  ["trigger", "crm_sync.trigger"],
  ["state", "crm_sync.state"],
  ["exit", "crm_sync.exit"],
  ["customer", "crm_sync.customer"],
  ["service", "crm_sync.service"],
  ["endpoint", "crm_sync.endpoint"],
  ["outcome", "crm_sync.outcome"],
  ["status", "http.response.status_code"],
  ["code", "crm_sync.code"],
];

const kinds = { internal: 1, client: 3 } as const;
const failedStatus = 2;

/** Spans as an OTLP request in JSON. */
export function otlpOf(
  spans: readonly EndedSpan[],
  resource: Readonly<Record<string, string>>,
  version: string,
): JsonObject {
  return {
    resourceSpans: [
      {
        resource: {
          attributes: Object.entries(resource).map(([key, value]) => ({ key, value: { stringValue: value } })),
        },
        scopeSpans: [{ scope: { name: "crm-sync", version }, spans: spans.map(spanJson) }],
      },
    ],
  };
}

function spanJson({ traceId, spanId, parentId, name, start, end, facts, failed }: EndedSpan): JsonObject {
  return {
    traceId,
    spanId,
    ...(parentId === undefined ? {} : { parentSpanId: parentId }),
    name: name === "call" ? (facts.endpoint ?? name) : name,
    kind: name === "call" ? kinds.client : kinds.internal,
    startTimeUnixNano: nanoseconds(start),
    endTimeUnixNano: nanoseconds(end),
    attributes: attributes.flatMap(([fact, key]) => {
      const value = facts[fact];
      if (value === undefined) return [];
      return [{ key, value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value } }];
    }),
    status: failed ? { code: failedStatus } : {},
  };
}

/** A number of nanoseconds is too large for a number of JSON. */
function nanoseconds(ms: number): string {
  const whole = Math.floor(ms);
  return String(BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1_000_000)));
}
