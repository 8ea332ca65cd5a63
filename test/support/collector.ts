import type { ServerResponse } from "node:http";
import { z } from "zod";
import { startServer } from "./http-server.ts";
import type { Asked } from "./http-server.ts";

const valueSchema = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ intValue: z.string().regex(/^\d+$/u) }),
]);
const attributesSchema = z.array(z.strictObject({ key: z.string(), value: valueSchema }));

const spanSchema = z.strictObject({
  traceId: z.string().regex(/^[0-9a-f]{32}$/u),
  spanId: z.string().regex(/^[0-9a-f]{16}$/u),
  parentSpanId: z
    .string()
    .regex(/^[0-9a-f]{16}$/u)
    .optional(),
  name: z.string(),
  kind: z.union([z.literal(1), z.literal(3)]),
  startTimeUnixNano: z.string().regex(/^\d{19}$/u),
  endTimeUnixNano: z.string().regex(/^\d{19}$/u),
  attributes: attributesSchema,
  status: z.strictObject({ code: z.literal(2).optional() }),
});

/** What the form of OTLP over HTTP in JSON allows of what this program sends. */
const requestSchema = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: attributesSchema }),
      scopeSpans: z.array(
        z.strictObject({
          scope: z.strictObject({ name: z.string(), version: z.string() }),
          spans: z.array(spanSchema),
        }),
      ),
    }),
  ),
});

/** A span as a collector has it. */
export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parent: string | undefined;
  name: string;
  start: bigint;
  end: bigint;
  failed: boolean;
  facts: Record<string, string>;
}

/** A collector of traces on this machine. */
export interface Collector {
  url: string;
  asked: Asked[];
  spans(): CollectedSpan[];
  /** What the sender says of itself. */
  resource(): Record<string, string>;
}

/** Starts one; `answer` takes the place of its good answers. */
export async function startCollector(
  answer: (response: ServerResponse, asked: Asked) => void = (response) => response.end("{}"),
): Promise<Collector> {
  const asked: Asked[] = [];
  const url = await startServer((one, response) => {
    asked.push(one);
    answer(response, one);
  });
  const parts = () => asked.flatMap(({ body }) => requestSchema.parse(JSON.parse(body)).resourceSpans);
  return {
    url,
    asked,
    spans: () =>
      parts().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans.map((span) => collected(span)))),
    resource: () => factsOf(parts()[0]?.resource.attributes ?? []),
  };
}

function collected(span: z.infer<typeof spanSchema>): CollectedSpan {
  const { traceId, spanId, parentSpanId: parent, name } = span;
  return {
    traceId,
    spanId,
    parent,
    name,
    start: BigInt(span.startTimeUnixNano),
    end: BigInt(span.endTimeUnixNano),
    failed: span.status.code === 2,
    facts: factsOf(span.attributes),
  };
}

function factsOf(attributes: z.infer<typeof attributesSchema>): Record<string, string> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, "stringValue" in value ? value.stringValue : value.intValue]),
  );
}
