import pLimit from "p-limit";
import { limits } from "../../contract/limits.ts";
import { assetNumberOf, fillTemplate } from "../../contract/template.ts";
import { licenseTypes, type RecordKey } from "../../crm/model.ts";
import type { WantedNumbers } from "./state/asset-number-rows.ts";
import { operation } from "../../engine/model/operation.ts";
import { type FixedNumber, type PlannedAsset, givenToNew, newUnitsOf } from "../../engine/model/references.ts";
import { deliver, type AssetNumbers } from "../../engine/deliver.ts";
import type { EngineDependencies } from "../../engine/customer.ts";
import type { Unready } from "../../engine/send.ts";
import type { OrderWithTree } from "../../engine/model/desired.ts";

const poolOwner: RecordKey = { namespace: "", id: "" };
/** After this many failed E9 calls in a row, the whole run stops asking. */
const mostRefills = 3;
const notGiven = "the order service gave no asset numbers (E9)";

/**
 * Takes asset numbers from E9 in batches, keeps them in the ledger before use, and fixes each to one instance for good.
 */
export class NumberPool implements AssetNumbers {
  readonly #deps: EngineDependencies;
  readonly #oneAtATime = pLimit(1);
  #vainInRow = 0;
  #unanswered = false;

  constructor(deps: EngineDependencies) {
    this.#deps = deps;
  }

  /** Fixes a number to every unit of the assets, or returns why not. `keep` gets the newly fixed numbers. */
  async fix(
    of: { order: RecordKey; customer: RecordKey },
    assets: readonly PlannedAsset[],
    signal: AbortSignal | undefined,
    keep: (numbers: readonly FixedNumber[]) => void = () => {},
  ): Promise<Unready | undefined> {
    const { settings } = this.#deps;
    const { order, customer } = of;
    const key = { order: { namespace: order.namespace, id: order.id }, customer };
    const clash = await this.#fixShown(customer, assets, keep);
    if (clash !== undefined) return clash;
    const wanted = assets.flatMap((asset) => {
      const units = newUnitsOf(asset);
      if (units.length === 0) return [];
      const licenseType = licenseTypes.find((type) => type === asset.licenseType);
      return {
        instanceId: asset.id,
        quantity: asset.quantity,
        units: asset.renewed === undefined ? asset.units : units,
        given: givenToNew(asset),
        wireNumber: (digits: string): string =>
          licenseType === undefined ? digits : assetNumberOf(digits, licenseType, settings),
      };
    });
    const early = await this.#fixed(key, wanted, keep);
    if (early.lacking === 0) return early.problem;
    // Refills take turns, and each caller takes its numbers before the next turn. So later callers cannot overtake.
    return await this.#oneAtATime(async () => {
      let vain = 0;
      for (let before = Number.POSITIVE_INFINITY; ;) {
        const found = await this.#fixed(key, wanted, keep);
        if (found.lacking === 0) return found.problem;
        const missing = found.lacking - (await this.#deps.ledger.state.read((rows) => rows.order.numbers.poolSize()));
        vain = missing < before ? 0 : vain + 1;
        before = missing;
        if (vain >= mostRefills) return this.#empty(notGiven);
        if (signal?.aborted === true) return { code: "run.stopped", reason: "the run was stopped" };
        const problem = await this.#refill(found.lacking, signal);
        if (problem !== undefined) return problem;
      }
    });
  }

  /** Records numbers that only M7 showed, before another unit continues them. */
  async #fixShown(
    customer: RecordKey,
    assets: readonly PlannedAsset[],
    keep: (numbers: readonly FixedNumber[]) => void,
  ): Promise<Unready | undefined> {
    for (const { number, shown, continues } of assets.flatMap(({ renewed = [] }) => renewed)) {
      const [earlier] = continues;
      if (shown !== true || earlier === undefined) continue;
      const { namespace, orderId: id, instanceId, unit } = earlier;
      const wireNumber = (digits: string): string => digits;
      const wanted = [{ instanceId, quantity: 1, units: [unit], given: [number], wireNumber }];
      const { problem } = await this.#fixed({ order: { namespace, id }, customer }, wanted, keep);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  async #fixed(
    { order, customer }: { order: RecordKey; customer: RecordKey },
    wanted: readonly WantedNumbers[],
    keep: (numbers: readonly FixedNumber[]) => void,
  ): Promise<{ lacking: number; problem?: Unready }> {
    const { lacking, clashing, fixed } = await this.#deps.ledger.state.write((rows, at) =>
      rows.order.numbers.fixNumbers(order, customer, wanted, at),
    );
    keep(fixed);
    const [number] = clashing;
    if (number === undefined) return { lacking };
    const reason = `the CRM gives this order the asset number ${number}, which belongs to another licence or cannot be used again`;
    return { lacking: 0, problem: { code: "asset.number-taken", reason } };
  }

  async #refill(lacking: number, signal: AbortSignal | undefined): Promise<Unready | undefined> {
    const { ledger, settings } = this.#deps;
    if ((await ledger.state.read((rows) => rows.order.numbers.poolSize())) >= lacking) return undefined;
    if (this.#vainInRow >= mostRefills) {
      const what = `the order service gave no asset numbers ${mostRefills} times in a row (E9)`;
      return this.#empty(`${what}; the next run asks again`);
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
    const delivery = await deliver(this.#deps, this, planned, { runId: null, signal });
    this.#unanswered = delivery.kind === "unknown" || delivery.kind === "not-sent";
    switch (delivery.kind) {
      case "done":
        this.#vainInRow = 0;
        return undefined;
      case "unknown":
        // The numbers of a lost answer are spent; the next call takes others.
        this.#vainInRow += 1;
        return undefined;
      case "rejected":
        this.#vainInRow += 1;
        return this.#empty(`${notGiven}: ${delivery.answered}`);
      case "stopped":
        return this.#empty(`${notGiven}: the run was stopped`);
      case "blocked":
        return { code: delivery.code, reason: delivery.reason };
      case "parked":
      case "not-sent":
        return this.#empty(`${notGiven}: ${delivery.reason}`);
    }
  }

  #empty(reason: string): Unready {
    return { code: "pool.empty", reason, ...(this.#unanswered ? { unreached: true } : {}) };
  }
}

export function channelNumberOf(
  deps: Pick<EngineDependencies, "settings">,
  { key: { id, namespace }, body }: Pick<OrderWithTree, "key" | "body">,
): string {
  return body.channelOrderId ?? fillTemplate(deps.settings.channelOrderIdTemplate, { id, namespace });
}
