import type { z } from "zod";
import { isJsonObject } from "../base/canonical-json.ts";
import type { Json } from "../base/canonical-json.ts";
import type { Logger } from "../base/logger.ts";
import type { EndpointId } from "../contract/endpoints.ts";
import { unknownFields } from "../contract/unknown-fields.ts";

/** Answers that are searched for unknown fields, for each endpoint. */
const answersSearched = 50;
const fieldsReported = 1_000;

/** Logs each field that the contract does not show, once (A38). */
export type UnknownFieldLog = (endpoint: EndpointId, schema: z.ZodType, answer: Json) => void;

export function createUnknownFieldLog(logger: Logger): UnknownFieldLog {
  const searched = new Map<EndpointId, number>();
  const reported = new Set<string>();
  return (endpoint, schema, answer) => {
    const count = (searched.get(endpoint) ?? 0) + 1;
    if (count > answersSearched) return;
    searched.set(endpoint, count);
    if (!isJsonObject(answer)) return;
    for (const field of unknownFields(schema, answer["data"])) {
      const place = `${endpoint} ${field}`;
      if (reported.has(place) || reported.size >= fieldsReported) continue;
      reported.add(place);
      logger.info({ endpoint, field }, "an answer holds a field that the contract does not show");
    }
  };
}
