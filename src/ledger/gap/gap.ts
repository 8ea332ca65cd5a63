import type { OpenRows } from "../../engine/model/resource.ts";
import { toJson, type JsonObject } from "../../base/canonical-json.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { headsPath, lastMark } from "../audit/audit-heads.ts";
import type { LedgerContext } from "../context.ts";
import { stored } from "../database/damage.ts";
import { notLookedAt } from "../state/unread-customers.ts";
import type { StateRows } from "../state/registry.ts";
import { GapStatements, type GapPlace, type NumberAside, type OpenOperation } from "./gap-statements.ts";

/** What is recorded of a placed order. */
type OrderStanding = Exclude<ReturnType<OpenRows["order"]["standing"]>, undefined | { lost: string }>;

/** What a ledger that was restored lacks: all that was done between the two. */
export interface GapFacts {
  /** When what the ledger knew was set aside. */
  at: string;
  from: { commits: number; sequence: number; at: string | null };
  /** What was there last; null where no head was kept, so that nobody knows. */
  until: { commits: number; sequence: number; hash: string; at: string } | null;
  /** Which backup was put back, and when; null where it was put back by hand. */
  restored: { backup: string; at: string } | null;
}

/** A number under which a unit goes on that continues another one. */
export interface SharedNumber {
  number: string;
  /** Whether that other one stands as well. */
  unitStands: boolean;
}

/** Where a customer stood by what the ledger knew when it was restored. */
interface SetAside {
  orders: { order: RecordKey; channelOrderId: string; agrees: boolean }[];
}

/**
 * The gap of a restored ledger. At one instant, every row of its state of customers ends. A row that the platform shows
 * exactly so is brought back; everything else is read again. History, audit log, runs, books and private values stay.
 */
export class Gap {
  readonly #context: LedgerContext;
  readonly #rows: StateRows;
  readonly #statements: GapStatements;

  constructor(context: LedgerContext, tables: { rows: StateRows }) {
    this.#context = context;
    this.#rows = tables.rows;
    this.#statements = new GapStatements(context.database, tables.rows);
  }

  /** Whether the ledger lacks what its file of heads names, or was restored and not all of it is read back yet. */
  isOpen(): boolean {
    return this.#context.read(() => this.#statements.openSince() !== undefined || this.#lacks());
  }

  /** The last gap of this ledger. */
  last(): GapFacts | undefined {
    return this.#context.read(() => {
      const text = this.#statements.gap();
      return text === undefined ? undefined : stored<GapFacts>(text);
    });
  }

  /** When the last call may have left that this ledger knows nothing of; undefined where nobody knows. */
  lastCommitAt(): string | undefined {
    const last = lastMark(headsPath(this.#context.path));
    return last?.at;
  }

  #lacks(): boolean {
    const last = lastMark(headsPath(this.#context.path));
    if (last === undefined) return false;
    const chained = last.sequence === 0 || this.#context.audit.hashAt(last.sequence) === last.hash;
    return !chained || this.#statements.commits() < last.commit;
  }

  /**
   * Sets aside all that the ledger knows of customers, once for each restore: links, orders and what stands of them,
   * numbers, accounts, assignments, what was asked for, held or approved and not carried out, and what was on its way.
   * From then on everybody but a rebuild is refused until `close`. Gives the operations whose outcome was open.
   */
  async begin(by: string): Promise<{ gap: GapFacts; inDoubt: OpenOperation[] }> {
    return await this.#context.write(() => {
      const run = this.#statements;
      const known = run.gap();
      if (run.openSince() !== undefined && known !== undefined && !this.#lacks())
        return { gap: stored<GapFacts>(known), inDoubt: [] };
      const at = run.momentAfter(this.#context.now);
      const last = lastMark(headsPath(this.#context.path));
      const head = this.#context.audit.head();
      const restored = run.restored();
      const isKnown = last !== undefined && restored?.unknown !== true;
      const gap: GapFacts = {
        at,
        from: { commits: run.commits(), sequence: head?.sequence ?? 0, at: run.lastEntryAt() ?? null },
        until: isKnown ? { commits: last.commit, sequence: last.sequence, hash: last.hash, at: last.at } : null,
        restored: restored === undefined ? null : { backup: restored.backup, at: restored.at },
      };
      const inDoubt = run.inDoubt();
      const counts = run.setAside(at, "the ledger was restored from a backup: the outcome is read back");
      run.notLookedAt(notLookedAt, at);
      run.keep(gap, Math.max(run.commits(), last?.commit ?? 0));
      this.#context.audit.append({
        at,
        kind: "gap",
        subject: "ledger",
        body: {
          at,
          from: toJson(gap.from),
          until: toJson(gap.until),
          restored: toJson(gap.restored),
          by,
          setAside: counts,
          inDoubt: inDoubt.length,
        },
      });
      return { gap, inDoubt };
    });
  }

  /** The placed orders of a customer that were set aside, the one that was placed first at the head. */
  async setAside(customer: RecordKey): Promise<SetAside> {
    return this.#context.read(() => {
      const at = this.last()?.at;
      return { orders: at === undefined ? [] : this.#statements.orders(customer, at) };
    });
  }

  /** Whether an order was placed by what the ledger knew, and was not brought back. */
  async wasPlaced(order: RecordKey): Promise<boolean> {
    return this.#context.read(() => {
      const at = this.last()?.at;
      return at !== undefined && this.#statements.wasPlaced(order, at);
    });
  }

  /**
   * Brings an order of a customer back with what stands of it, where `isSo` says of that that the platform shows just
   * this, and with the `numbers` that it has from earlier units. Answers whether it did.
   */
  async bringOrderBack(
    customer: RecordKey,
    order: RecordKey,
    isSo: (standing: OrderStanding) => boolean,
    numbers: readonly SharedNumber[] = [],
  ): Promise<boolean> {
    return await this.#context.write(() => {
      const at = this.last()?.at;
      if (at === undefined) return false;
      this.#statements.bringOrder(order, at);
      const standing = this.#rows.resources.order.standing(customer, order);
      if (standing !== undefined && !("lost" in standing) && isSo(standing)) {
        for (const { number, unitStands } of numbers) this.#statements.bringNumber(number, unitStands, at);
        this.#context.audit.append({
          at: this.#context.now,
          kind: "gap-kept",
          subject: `order:${formatKey(order)}`,
          body: { customer: formatKey(customer) },
        });
        return true;
      }
      this.#statements.setOrderAside(order, at);
      return false;
    });
  }

  /** The numbers that units of orders had by what the ledger knew, where those orders were not brought back. */
  async numbersAside(customer: RecordKey): Promise<NumberAside[]> {
    return this.#context.read(() => {
      const at = this.last()?.at;
      return at === undefined ? [] : this.#statements.numbers(customer, at);
    });
  }

  /** Has numbers in use again that units which continue others go on under. */
  async bringNumbersBack(numbers: readonly SharedNumber[]): Promise<void> {
    if (numbers.length === 0) return;
    await this.#context.write(() => {
      const at = this.last()?.at;
      if (at === undefined) return;
      for (const { number, unitStands } of numbers) this.#statements.bringNumber(number, unitStands, at);
    });
  }

  /**
   * Brings the accounts of a customer's people back that M5 shows, and what M6 shows in their hands; and what the
   * platform acknowledged of the customer, which nothing shows.
   */
  async bringPeopleBack(customer: RecordKey, shown: GapPlace): Promise<void> {
    await this.#context.write(() => {
      const at = this.last()?.at;
      if (at !== undefined) this.#statements.bringPeople(customer, shown, at);
    });
  }

  /** Lets everybody write again. */
  async close(by: string, body: JsonObject): Promise<void> {
    await this.#context.write(() => {
      this.#statements.close();
      this.#context.audit.append({
        at: this.#context.now,
        kind: "gap-closed",
        subject: "ledger",
        body: { ...body, by },
      });
    });
    this.#context.flushHeads();
  }
}
