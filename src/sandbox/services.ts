import { z } from "zod";
import { failure, Refusal, type Answer } from "./answers.ts";
import { assetOperations } from "./assets.ts";
import { createContradicted, type ContradictedRow } from "./contradictions.ts";
import { dropOrders } from "./deletions.ts";
import { endpointIds, routes, type Call, type EndpointId, type Platform, type Run } from "./endpoints.ts";
import { enterpriseOperations } from "./enterprises.ts";
import { contentEdits } from "./hand-contents.ts";
import {
  handEditSchema,
  peopleEdits,
  type EditOf,
  type Edits,
  type HandEdit,
  type HandEditInput,
  type HandResult,
} from "./hand-edits.ts";
import { orderOperations } from "./orders.ts";
import { privilegeOperations } from "./privileges.ts";
import { staffListOperations } from "./staff-list.ts";
import { isObject, staffOperations } from "./staff.ts";
import type { DeferredKind } from "./store.ts";

const notedCallSchema = z.strictObject({
  operation: z.enum(endpointIds),
  parameters: z.array(z.string()),
  query: z.string(),
  text: z.string(),
});

function operationsOf(platform: Platform) {
  const { E5, applyDeferred, failDeferred } = orderOperations(platform);
  const runs: Record<EndpointId, Run> = {
    ...enterpriseOperations(platform),
    E5,
    ...assetOperations(platform),
    ...staffOperations(platform),
    ...staffListOperations(platform),
    ...privilegeOperations(platform),
  };
  return { runs, applyDeferred, failDeferred };
}

export type Services = ReturnType<typeof createServices>;

export function createServices(platform: Platform) {
  const { store } = platform;
  const { runs, applyDeferred, failDeferred } = operationsOf(platform);
  const hand = createHand(platform);
  const contradicted = createContradicted(platform.settings.contradicts);
  const answerTo = (operation: EndpointId, call: Call): Answer => contradicted.run(operation, call, runs[operation]);

  function write(operation: EndpointId, call: Call): Answer {
    const answer = answerTo(operation, call);
    // 60027 is the only error with an effect.
    store.run(
      "INSERT INTO effects (operation, count) VALUES (?, 1) ON CONFLICT (operation) DO UPDATE SET count = count + 1",
      operation,
    );
    return answer;
  }

  return {
    /** A write runs in its own transaction, committed on return. */
    run(operation: EndpointId, call: Call): Answer {
      try {
        return routes[operation].writes ? store.transact(() => write(operation, call)) : answerTo(operation, call);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return failure(error.code, error.reason, platform.settings.fillPlaceholders ? error.numbers : []);
      }
    },
    runLater(operation: EndpointId, call: Call, delayMs: number): void {
      const noted: z.infer<typeof notedCallSchema> = {
        operation,
        parameters: [...call.parameters],
        query: call.query.toString(),
        text: call.text,
      };
      platform.defer("call", JSON.stringify(noted), delayMs);
    },
    runDeferred: (kind: DeferredKind, payload: string): void => {
      if (kind === "orders") return applyDeferred(payload);
      const { operation, parameters, query, text } = notedCallSchema.parse(JSON.parse(payload));
      write(operation, {
        parameters,
        query: new URLSearchParams(query),
        body: parseBody(text),
        text,
        failingEntries: 0,
      });
    },
    /** The orders of a rejected asynchronous call have failed. */
    giveUpDeferred: (kind: DeferredKind, payload: string): void => {
      if (kind === "orders") failDeferred(payload);
    },
    contradict: (rows: readonly ContradictedRow[]): void => contradicted.set(rows),
    hand,
    dropOrders: (channelOrderId: string): number => dropOrders(platform, channelOrderId),
  };
}

/** Integers beyond 2^53 stay digits, but departmentId is a bigint (M1, M2 reject text). Undefined: no JSON body. */
export function parseBody(text: string): unknown {
  if (text === "") return undefined;
  try {
    if (!/\d{16}/.test(text)) return JSON.parse(text);
    // The third argument has the source text of a number; its type declaration is missing.
    return JSON.parse(text, (...[key, value, context]: unknown[]) => {
      if (typeof value !== "number" || !Number.isInteger(value) || Number.isSafeInteger(value)) return value;
      const digits = isObject(context) ? context["source"] : undefined;
      return key === "departmentId" && typeof digits === "string" && /^-?\d+$/.test(digits) ? BigInt(digits) : digits;
    });
  } catch {
    return undefined;
  }
}

/** All or nothing. Throws NotThere. */
function createHand(platform: Platform): (edit: HandEditInput) => HandResult {
  const edits: Edits = { ...contentEdits(platform), ...peopleEdits(platform) };
  const carryOut = <Action extends HandEdit["action"]>(edit: EditOf<Action>): HandResult | undefined =>
    edits[edit.action](edit);
  return (given) => {
    const edit: HandEdit = handEditSchema.parse(given);
    return platform.store.transact(() => carryOut(edit) ?? {});
  };
}
