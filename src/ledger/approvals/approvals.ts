import { exitCodes, Problem } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { LedgerContext } from "../context.ts";
import type { HoldRow, HoldTables } from "./holds.ts";
import type { WorkTables } from "../records/work.ts";

/** What limits stopped, and the word of a person on it. */
export class Approvals {
  readonly #context: LedgerContext;
  readonly #holds: HoldTables;
  readonly #work: WorkTables;

  constructor(context: LedgerContext, tables: { holds: HoldTables; work: WorkTables }) {
    this.#context = context;
    this.#holds = tables.holds;
    this.#work = tables.work;
  }

  /** Opens a hold, or answers the one of exactly this set that a person was asked about already, whatever its state. */
  async open(hold: Omit<HoldRow, "id" | "state" | "createdAt" | "decidedAt" | "reason">): Promise<HoldRow> {
    return await this.#context.write(() => {
      const current = this.#holds.holdOf(hold.customer);
      const at = this.#context.now;
      if (current?.setHash === hold.setHash) return current;
      const rejected = this.#holds.rejectedHold(hold.customer, hold.setHash);
      if (rejected !== undefined) return rejected;
      if (current !== undefined) this.#holds.setHold(current.id, "lapsed", at, null);
      const row: HoldRow = {
        ...hold,
        id: `h-${this.#context.random.hex(4)}`,
        state: "open",
        createdAt: at,
        decidedAt: null,
        reason: null,
      };
      this.#holds.openHold(row);
      this.#context.audit.append({
        at,
        kind: "held",
        subject: `customer:${formatKey(hold.customer)}`,
        body: {
          hold: row.id,
          scope: hold.scope,
          count: hold.count,
          allowed: hold.allowed,
          total: hold.total,
          set: hold.setHash,
        },
      });
      return row;
    });
  }

  async of(customer: RecordKey): Promise<HoldRow | undefined> {
    return this.#context.read(() => this.#holds.holdOf(customer));
  }

  async standing(): Promise<HoldRow[]> {
    return this.#context.read(() => this.#holds.openHolds());
  }

  /** A person's decision on a hold, with who it is, or its use by the run that carries it out. */
  async decide(
    id: string,
    state: "approved" | "rejected" | "used" | "lapsed",
    reason: string,
    by?: string,
  ): Promise<HoldRow> {
    return await this.#context.write(() => {
      const hold = this.#holds.hold(id);
      if (hold === undefined) {
        throw new Problem({
          code: "hold.unknown",
          message: `there is no hold ${id}`,
          cure: "`crm-sync status` lists the holds",
          exitCode: exitCodes.usage,
        });
      }
      const from = state === "used" ? ["approved"] : state === "lapsed" ? ["open", "approved"] : ["open"];
      if (!from.includes(hold.state)) {
        throw new Problem({
          code: "hold.decided",
          message: `hold ${id} is ${hold.state} already`,
          cure: "`crm-sync status` lists the holds that wait for a person",
          exitCode: exitCodes.usage,
        });
      }
      const at = this.#context.now;
      this.#holds.setHold(id, state, at, reason, by);
      if (state === "approved" || state === "rejected") this.#work.markPending({ customer: hold.customer });
      this.#context.audit.append({
        at,
        kind: `hold-${state}`,
        subject: `customer:${formatKey(hold.customer)}`,
        body: { hold: id, reason, set: hold.setHash, ...(by === undefined ? {} : { by }) },
      });
      return { ...hold, state };
    });
  }

  /** Whether a person rejected exactly this set of revokes of a customer. */
  async isRejected(customer: RecordKey, setHash: string): Promise<boolean> {
    return this.#context.read(() => this.#holds.rejectedHold(customer, setHash) !== undefined);
  }
}
