import pLimit from "p-limit";
import { sha256 } from "../base/canonical-json.ts";
import { limits } from "../contract/limits.ts";
import { assetNumberOf } from "../contract/selection.ts";
import { licenseTypes } from "../crm/model.ts";
import type { RecordKey } from "../crm/model.ts";
import type { AttemptEnd } from "../ledger/journal/journal.ts";
import type { WantedNumbers } from "../ledger/state/numbers.ts";
import { operation } from "../operation/new-operation.ts";
import type { WriteOutcome } from "../platform/call.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import { attemptEnd, keptAnswer } from "./attempt-end.ts";
import type { PlannedAsset } from "../operation/asset-numbers.ts";
import { sendOnce } from "./sending.ts";

/** The customer under whom the pool's operations stand in the journal: nobody's. */
export const poolOwner: RecordKey = { namespace: "", id: "" };
/**
 * So many E9 calls that came to nothing in a row end the asking: for an order, and for every other order of the run.
 */
const mostRefills = 3;

/** Why an order has no numbers yet. */
interface Unready {
  code: string;
  reason: string;
}

/**
 * Asset numbers: taken from E9 in batches, kept in the ledger before use, fixed to an asset instance for good. An E9
 * whose answer was lost has spent its numbers: the gap is recorded and a new call is made, never more than three in a
 * row within a run, whose pool this is.
 */
export class NumberPool {
  readonly #deps: ApplyDependencies;
  readonly #oneAtATime = pLimit(1);
  #vainInRow = 0;

  constructor(deps: ApplyDependencies) {
    this.#deps = deps;
  }

  /** Fixes a number to every unit of the order's assets. Returns why not, or undefined. */
  async fix(
    order: RecordKey,
    assets: readonly PlannedAsset[],
    signal: AbortSignal | undefined,
  ): Promise<Unready | undefined> {
    const { settings } = this.#deps;
    const key = { namespace: order.namespace, id: order.id };
    const wanted = assets.map((asset) => {
      const licenseType = licenseTypes.find((type) => type === asset.licenseType);
      return {
        instanceId: asset.id,
        quantity: asset.quantity,
        given: asset.given,
        wireNumber: (digits: string): string =>
          licenseType === undefined ? digits : assetNumberOf(digits, licenseType, settings),
      };
    });
    const early = await this.#fixed(key, wanted);
    if (early.kind !== "lacking") return early.problem;
    // Whoever refills the pool takes its own numbers before the next one's turn, so that nobody waits behind those who
    // came later.
    return await this.#oneAtATime(async () => {
      let vain = 0;
      for (let before = Number.POSITIVE_INFINITY; ;) {
        const found = await this.#fixed(key, wanted);
        if (found.kind !== "lacking") return found.problem;
        const missing = found.lacking - (await this.#deps.ledger.state.poolSize());
        vain = missing < before ? 0 : vain + 1;
        before = missing;
        if (vain >= mostRefills)
          return { code: "pool.empty", reason: "the order service handed out no asset numbers (E9)" };
        if (signal?.aborted === true) return { code: "run.stopped", reason: "the run was stopped" };
        const problem = await this.#refill(found.lacking, signal);
        if (problem !== undefined) return problem;
      }
    });
  }

  async #fixed(
    order: RecordKey,
    wanted: readonly WantedNumbers[],
  ): Promise<{ kind: "settled"; problem: Unready | undefined } | { kind: "lacking"; lacking: number }> {
    const { lacking, clashing } = await this.#deps.ledger.state.fixNumbers(order, wanted);
    if (clashing.length > 0) {
      const reason = `the CRM gives the asset number ${clashing[0]} to this order, and it belongs to another asset already`;
      return { kind: "settled", problem: { code: "asset.number-taken", reason } };
    }
    return lacking === 0 ? { kind: "settled", problem: undefined } : { kind: "lacking", lacking };
  }

  async #refill(lacking: number, signal: AbortSignal | undefined): Promise<Unready | undefined> {
    const { ledger, platform, settings, random } = this.#deps;
    if ((await ledger.state.poolSize()) >= lacking) return undefined;
    if (this.#vainInRow >= mostRefills) {
      return {
        code: "pool.empty",
        reason: `the order service handed out no asset numbers ${mostRefills} times in a row (E9); the next run asks again`,
      };
    }
    const size = Math.min(limits.assetNumbersPerCall, Math.max(settings.poolBatch, lacking));
    const planned = operation("take-asset-numbers", {
      customer: poolOwner,
      subject: "pool",
      records: [],
      target: {},
      payload: { size },
      reason: "the pool of asset numbers is empty",
      before: null,
      after: null,
    });
    const body = JSON.stringify(planned.payload);
    const nonce = random.hex(16);
    return await sendOnce(
      () =>
        ledger.journal.intend({
          operation: planned,
          runId: null,
          wireHash: sha256(JSON.stringify([planned.endpoint, {}, body])),
          nonce,
          context: { size },
        }),
      (permit) => platform.orderService.takeAssetNumbers(size, { nonce, body, signal, ...permit }),
      (id, outcome) => this.#record(id, size, outcome),
    );
  }

  async #record(id: string | undefined, size: number, outcome: WriteOutcome<string[]>): Promise<Unready | undefined> {
    const { ledger, logger } = this.#deps;
    const attempt = attemptEnd(outcome);
    if (id === undefined) {
      if (outcome.kind !== "not-sent") throw new Error("E9 left without an intent");
      return notHandedOut(attempt);
    }
    if (outcome.kind === "done") this.#vainInRow = 0;
    else if (outcome.kind !== "not-sent") this.#vainInRow += 1;
    if (outcome.kind === "done") {
      await ledger.journal.conclude(id, {
        state: "done",
        attempt,
        changes: [{ type: "numbers-taken", numbers: outcome.data, operationId: id }],
        audit: {
          kind: "take-asset-numbers",
          body: { count: outcome.data.length, first: outcome.data[0], last: outcome.data.at(-1) },
        },
      });
      return undefined;
    }
    const lost = outcome.kind === "unknown";
    await ledger.journal.conclude(id, {
      state: outcome.kind === "rejected" ? "rejected" : "dropped",
      attempt,
      verdict: lost ? "the numbers are spent and lost" : undefined,
      code: attempt.code,
      message: attempt.detail,
      answer: "raw" in outcome ? keptAnswer(outcome.raw) : undefined,
      changes: [],
      audit: { kind: lost ? "numbers-lost" : "numbers-refused", body: { asked: size, reason: attempt.detail } },
    });
    logger.warn(
      { operation: id, asked: size, reason: attempt.detail, code: attempt.code },
      lost ? "asset numbers lost" : "asset numbers not handed out",
    );
    return lost ? undefined : notHandedOut(attempt);
  }
}

function notHandedOut(attempt: AttemptEnd): Unready {
  const reason = `the order service handed out no asset numbers (E9): ${attempt.code ?? attempt.detail ?? "no reason given"}`;
  return { code: "pool.empty", reason };
}
