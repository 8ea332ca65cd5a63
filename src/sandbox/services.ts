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

/** The operations of both services, and what is left to do of asynchronous orders. */
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

/** The two services behind their doors. */
export type Services = ReturnType<typeof createServices>;

export function createServices(platform: Platform) {
  const { store } = platform;
  const { runs, applyDeferred, failDeferred } = operationsOf(platform);
  const hand = createHand(platform);
  const contradicted = createContradicted(platform.settings.contradicts);
  const answerTo = (operation: EndpointId, call: Call): Answer => contradicted.run(operation, call, runs[operation]);

  function write(operation: EndpointId, call: Call): Answer {
    const answer = answerTo(operation, call);
    // 60027 is the one error that leaves something done.
    store.run(
      "INSERT INTO effects (operation, count) VALUES (?, 1) ON CONFLICT (operation) DO UPDATE SET count = count + 1",
      operation,
    );
    return answer;
  }

  return {
    /** Runs a call to its end: a writing one in a transaction of its own, committed when this returns. */
    run(operation: EndpointId, call: Call): Answer {
      try {
        return routes[operation].writes ? store.transact(() => write(operation, call)) : answerTo(operation, call);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return failure(error.code, error.reason, platform.settings.fillPlaceholders ? error.numbers : []);
      }
    },
    /** Runs the call later, whatever becomes of this process. */
    runLater(operation: EndpointId, call: Call, delayMs: number): void {
      const noted: z.infer<typeof notedCallSchema> = {
        operation,
        parameters: [...call.parameters],
        query: call.query.toString(),
        text: call.text,
      };
      platform.defer("call", JSON.stringify(noted), delayMs);
    },
    /** Does noted work, inside the transaction of the caller. */
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
    /** Notes that deferred work was refused: the orders of an asynchronous call have failed. */
    giveUpDeferred: (kind: DeferredKind, payload: string): void => {
      if (kind === "orders") failDeferred(payload);
    },
    /** Which rows of A1–A43 the services contradict from now on. */
    contradict: (rows: readonly ContradictedRow[]): void => contradicted.set(rows),
    /** Does something as a person on the platform's own pages; throws NotThere. */
    hand,
    /** Removes what the orders of a channel order number brought; answers how many orders. */
    dropOrders: (channelOrderId: string): number => dropOrders(platform, channelOrderId),
  };
}

/**
 * The body as JSON with integers beyond 2^53 kept as their digits, a departmentId as a bigint, since M1 and M2 refuse
 * it as text; undefined for no body and for text that is no JSON.
 */
export function parseBody(text: string): unknown {
  if (text === "") return undefined;
  try {
    if (!/\d{16}/.test(text)) return JSON.parse(text);
    // The reviver's third argument holds the source text of a number; its declaration does not know it yet.
    return JSON.parse(text, (...[key, value, context]: unknown[]) => {
      if (typeof value !== "number" || !Number.isInteger(value) || Number.isSafeInteger(value)) return value;
      const digits = isObject(context) ? context["source"] : undefined;
      return key === "departmentId" && typeof digits === "string" && /^-?\d+$/.test(digits) ? BigInt(digits) : digits;
    });
  } catch {
    return undefined;
  }
}

/** What carries such an edit out, whole or not at all. Throws NotThere. */
function createHand(platform: Platform): (edit: HandEditInput) => HandResult {
  const edits: Edits = { ...contentEdits(platform), ...peopleEdits(platform) };
  const carryOut = <Action extends HandEdit["action"]>(edit: EditOf<Action>): HandResult | undefined =>
    edits[edit.action](edit);
  return (given) => {
    const edit: HandEdit = handEditSchema.parse(given);
    return platform.store.transact(() => carryOut(edit) ?? {});
  };
}
