import type { OpenRows } from "../../engine/model/resource.ts";
import { toJson, type JsonObject } from "../../base/canonical-json.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { headsPath, lastMark } from "../audit/audit-heads.ts";
import type { LedgerContext } from "../context.ts";
import { stored } from "../database/damage.ts";
import { notLookedAt } from "../state/unread-customers.ts";
import type { StateRows } from "../state/registry.ts";
import {
  GapStatements,
  type GapPlace,
  type NumberAside,
  type OpenOperation,
  type OrderAside,
} from "./gap-statements.ts";

type OrderStanding = Exclude<ReturnType<OpenRows["order"]["standing"]>, undefined | { lost: string }>;

export interface GapFacts {
  at: string;
  from: { commits: number; sequence: number; at: string | null };
  /** The last known entry. Null if no head was kept: then nobody knows. */
  until: { commits: number; sequence: number; hash: string; at: string } | null;
  /** Null if somebody restored the backup manually. */
  restored: { backup: string; at: string } | null;
}

export interface SharedNumber {
  number: string;
  unitStands: boolean;
}

/**
 * At one instant, all state of customers ends. Rows that the platform still shows unchanged come back; the rest is read
 * again. An order or seat that is read again counts in statements from today, as found, and cannot be undone. History,
 * audit log, runs, books and private values stay.
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

  /** Whether the ledger is behind its file of heads, or a rebuild is not finished. */
  isOpen(): boolean {
    return this.#context.read(() => this.#statements.openSince() !== undefined || this.#lacks());
  }

  last(): GapFacts | undefined {
    return this.#context.read(() => {
      const text = this.#statements.gap();
      return text === undefined ? undefined : stored<GapFacts>(text);
    });
  }

  /** When the last unknown call may have been sent. Undefined if nobody knows. */
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

  /** Once for each restore. Until `close`, only a rebuild may write. Returns the operations with an unknown outcome. */
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

  /** Orders of a customer that were set aside. `agrees`: the CRM still has the form that the backup has as placed. */
  async ordersAside(customer: RecordKey): Promise<OrderAside[]> {
    return this.#since((at) => this.#statements.orders(customer, at)) ?? [];
  }

  async wasPlaced(order: RecordKey): Promise<boolean> {
    return this.#since((at) => this.#statements.wasPlaced(order, at)) ?? false;
  }

  async numbersAside(customer: RecordKey): Promise<NumberAside[]> {
    return this.#since((at) => this.#statements.numbers(customer, at)) ?? [];
  }

  #since<Value>(read: (at: string) => Value): Value | undefined {
    const at = this.last()?.at;
    return at === undefined ? undefined : this.#context.read(() => read(at));
  }

  /** `isSo` says whether the platform shows exactly this. True if the order came back. */
  async bringOrderBack(
    customer: RecordKey,
    order: RecordKey,
    isSo: (standing: OrderStanding) => boolean,
    numbers: readonly SharedNumber[],
  ): Promise<boolean> {
    return (
      (await this.#write((at) => {
        this.#statements.changeOrder(order, { from: at, to: null });
        const standing = this.#rows.resources.order.standing(customer, order);
        if (standing === undefined || "lost" in standing || !isSo(standing)) {
          this.#statements.changeOrder(order, { from: null, to: at });
          return false;
        }
        for (const { number, unitStands } of numbers) this.#statements.bringNumber(number, unitStands, at);
        this.#context.audit.append({
          at: this.#context.now,
          kind: "gap-kept",
          subject: `order:${formatKey(order)}`,
          body: { customer: formatKey(customer) },
        });
        return true;
      })) ?? false
    );
  }

  /** Brings back numbers under which a unit continues another one. */
  async bringNumbersBack(numbers: readonly SharedNumber[]): Promise<void> {
    if (numbers.length === 0) return;
    await this.#write((at) => {
      for (const { number, unitStands } of numbers) this.#statements.bringNumber(number, unitStands, at);
    });
  }

  /** Brings back accounts that M5 shows, and assignments that M6 shows. */
  async bringPeopleBack(customer: RecordKey, shown: GapPlace): Promise<void> {
    await this.#write((at) => this.#statements.bringPeople(customer, shown, at));
  }

  async #write<Value>(change: (at: string) => Value): Promise<Value | undefined> {
    const at = this.last()?.at;
    return at === undefined ? undefined : await this.#context.write(() => change(at));
  }

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
