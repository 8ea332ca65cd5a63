import { Problem } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { uniquenessCodes } from "../ledger/journal/uniqueness.ts";
import type { PlannedAsset } from "../operation/asset-numbers.ts";
import type { Operation } from "../operation/operation.ts";
import { kindOf } from "../operation/registry.ts";
import type { FixedNumber } from "../operation/state/asset-numbers.ts";
import { CustomerState } from "./customer-state.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import { park, recordOutcome } from "./outcome.ts";
import type { Delivery, Existing } from "./outcome.ts";
import { makeReady } from "./ready.ts";
import type { Ready } from "./ready.ts";
import { scrubbed, textsOf } from "./scrubbed.ts";
import { sendOnce } from "./sending.ts";

/** Why an order has no numbers yet. */
export interface Unready {
  code: string;
  reason: string;
}

/** Gives the assets of an order their numbers, for good. */
export interface AssetNumbers {
  /**
   * Fixes a number to every unit of the order's assets; `keep` is given those that were fixed now. Returns why not, or
   * undefined.
   */
  fix(
    order: RecordKey,
    assets: readonly PlannedAsset[],
    signal: AbortSignal | undefined,
    keep?: (numbers: readonly FixedNumber[]) => void,
  ): Promise<Unready | undefined>;
}

/** How an operation is carried out. */
export interface DeliverOptions {
  runId: string | null;
  /** What is known of the customer; it learns what this teaches. */
  state?: CustomerState | undefined;
  /** An operation of the journal that is sent again. */
  existing?: Existing | undefined;
  plannedId?: string | undefined;
  /** The members that M5 showed (M1 only). */
  shownBefore?: readonly string[] | undefined;
  signal?: AbortSignal | undefined;
  /** What is done is committed with what is written next; whoever asks for it waits for `state.settled()`. */
  ahead?: boolean | undefined;
}

/**
 * Carries one operation out: numbers, binding, permit, intent, one attempt, outcome. One that is sent again must bind
 * to the very bytes of the intent, else nothing is sent and it is parked.
 */
export async function deliver(
  deps: ApplyDependencies,
  pool: AssetNumbers,
  operation: Operation,
  options: DeliverOptions,
): Promise<Delivery> {
  const { existing, state = new CustomerState(deps, operation.customer) } = options;
  const assets = kindOf(operation).assets(operation);
  if (assets.length > 0 && existing === undefined) {
    const [order] = operation.records;
    if (order === undefined) return { kind: "blocked", code: "order.unnamed", reason: "the operation names no order" };
    const block = await pool.fix(order, assets, options.signal, (numbers) => state.fixed(numbers));
    if (options.signal?.aborted === true) return { kind: "stopped" };
    if (block !== undefined) return { kind: "blocked", ...block };
  }
  const ready = await makeReady(deps, operation, state, options);
  if ("kind" in ready) {
    if (existing === undefined) return ready;
    return await park(deps, { operation, id: existing.id, state }, ready.again ?? ready.reason);
  }
  try {
    return await send(deps, operation, { ...options, ready, state });
  } catch (error) {
    if (!(error instanceof Problem) || !uniquenessCodes.some((code) => code === error.code)) throw error;
    return { kind: "blocked", code: error.code, reason: `${error.message}; ${error.cure}` };
  }
}

/** Permit, intent, first byte, outcome. */
async function send(
  deps: ApplyDependencies,
  operation: Operation,
  sending: DeliverOptions & { ready: Ready; state: CustomerState },
): Promise<Delivery> {
  const { runId, existing, plannedId, signal, state, ready, ahead } = sending;
  const { prepared, wire, body, wireHash } = ready;
  const nonce = deps.random.hex(16);
  return await sendOnce(
    () =>
      deps.ledger.journal.intend({
        operation,
        id: existing?.id ?? plannedId,
        runId,
        wireHash,
        nonce,
        context: existing?.context ?? prepared.context,
        sealed: ready.toSeal,
        after: state.after,
      }),
    async (permit) => {
      const customer = kindOf(operation).isOfCustomer ? formatKey(operation.customer) : undefined;
      const call = { nonce, body, signal, customer, ...permit };
      const texts = (): string[] => deps.ledger.private.textsOf(state.customer);
      return scrubbed(texts, wire, await prepared.send(deps.platform, call));
    },
    async (id, { outcome, conclude }) => {
      if (id !== undefined) {
        const sent = { operation, id, state, existing, ahead, texts: () => textsOf(wire) };
        return await recordOutcome(deps, sent, outcome, conclude);
      }
      if (outcome.kind !== "not-sent")
        throw new Error(`${operation.endpoint} on ${operation.subject} left without an intent`);
      return signal?.aborted === true ? { kind: "stopped" } : { kind: "not-sent", id, reason: outcome.reason };
    },
  );
}
