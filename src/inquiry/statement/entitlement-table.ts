import { sql } from "kysely";
import type { Statement } from "better-sqlite3";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { measures } from "../../report/statement/entitlements.ts";
import type { Measure } from "../../report/statement/entitlements.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import type { EntitlementKey } from "./entitlement-figures.ts";
import type { Assignment } from "./product-lives.ts";

/** What is counted of each measure: by events, and by what stands at the beginning and at the end. */
const counted = ["opening", "granted", "revoked", "adjusted", "standing_from", "standing_to"] as const;
type Counted = (typeof counted)[number];

const figureNames = measures.flatMap((measure) => counted.map((figure) => `${measure}_${figure}`));
const keyNames = ["namespace", "customer_id", "license_type", "gms_pid", "app_key", "product", "branch"] as const;

/** Sums in memory before they are written to the table. */
const mostSums = 5000;

/** Branches of a customer: at the end of the period, and when something happened. */
type BranchOf = (customer: RecordKey) => string | null;

interface Sum {
  key: EntitlementKey;
  branch: string | null;
  figures: number[];
}

let tables = 0;

/**
 * Figures of entitlements in a table of the connection, in a file of SQLite's own: memory does not grow with the number
 * of customers. Nothing is written to the ledger.
 */
export class EntitlementTable {
  readonly #ledger: ReadOnlyLedger;
  readonly #branchAtEnd: BranchOf;
  readonly #insert: Statement;
  readonly #addSeat: Statement<[string, string]>;
  readonly #hasSeat: Statement<[string, string], { number: string }>;
  readonly #parts: string;
  readonly #seats: string;
  readonly #sums = new Map<string, Sum>();
  /** The table of the sums, once all figures are in. */
  readonly name: string;

  constructor(ledger: ReadOnlyLedger, branchAtEnd: BranchOf) {
    this.#ledger = ledger;
    this.#branchAtEnd = branchAtEnd;
    tables += 1;
    this.name = `temp.entitlement_${tables}`;
    this.#parts = `temp.entitlement_part_${tables}`;
    const columns = [...keyNames.map((name) => `${name} text`), ...figureNames.map((name) => `${name} integer`)];
    const values = columns.map(() => "?").join(", ");
    this.#seats = `temp.entitlement_seat_${tables}`;
    const prepared = ledger.reading((database) => {
      database.exec(`create table ${this.#parts} (${columns.join(", ")})`);
      database.exec(
        `create table ${this.#seats} (number text, customer text, primary key (number, customer)) without rowid`,
      );
      return {
        insert: database.prepare(`insert into ${this.#parts} values (${values})`),
        addSeat: database.prepare<[string, string]>(`insert or ignore into ${this.#seats} values (?, ?)`),
        hasSeat: database.prepare<[string, string], { number: string }>(
          `select number from ${this.#seats} where number = ? and customer = ?`,
        ),
      };
    });
    this.#insert = prepared.insert;
    this.#addSeat = prepared.addSeat;
    this.#hasSeat = prepared.hasSeat;
  }

  /** Adds to a figure of a customer's product in a branch. */
  add(of: { key: EntitlementKey; branch: string | null }, measure: Measure, figure: Counted, count: number): void {
    const { key, branch } = of;
    const { customer, licenseType, gmsPid, appKey, product } = key;
    const name = JSON.stringify([customer.namespace, customer.id, licenseType, gmsPid, appKey, product, branch]);
    let sum = this.#sums.get(name);
    if (sum === undefined) {
      if (this.#sums.size >= mostSums) this.flush();
      this.#sums.set(name, (sum = { key, branch, figures: figureNames.map(() => 0) }));
    }
    const at = placeOf(measure, figure);
    sum.figures[at] = (sum.figures[at] ?? 0) + count;
  }

  /** Notes a seat that an order of the customer brought. */
  addSeat({ assetNumber, customer }: Assignment): void {
    this.#addSeat.run(assetNumber, formatKey(customer));
  }

  hasSeat({ assetNumber, customer }: Assignment): boolean {
    return this.#hasSeat.get(assetNumber, formatKey(customer)) !== undefined;
  }

  /** Writes what was added. */
  flush(): void {
    this.#ledger.reading(() => {
      for (const { key, branch, figures } of this.#sums.values()) {
        const atEnd = this.#branchAtEnd(key.customer);
        const moved = branch === atEnd ? undefined : movedAway(figures);
        this.#write(key, branch, moved?.left ?? figures);
        if (moved !== undefined) this.#write(key, atEnd, moved.came);
      }
    });
    this.#sums.clear();
  }

  /** Adds up what was written, of one branch where only that is asked for. */
  finish(branch: string | undefined): void {
    this.flush();
    const keys = keyNames.join(", ");
    const sums = figureNames.map((name) => `sum(${name}) as ${name}`).join(", ");
    const closings = measures.map((measure) => `sum(${closing(measure)}) as ${measure}_closing`).join(", ");
    this.#ledger.reading((database) => {
      database.exec(`create table ${this.name} as select ${keys}, ${sums}, ${closings} from ${this.#parts}
        group by ${keys}`);
      database.exec(`drop table ${this.#parts}`);
      if (branch !== undefined) database.prepare(`delete from ${this.name} where branch is not ?`).run(branch);
    });
  }

  drop(): void {
    this.#ledger.reading((database) => {
      for (const name of [this.#parts, this.#seats, this.name]) database.exec(`drop table if exists ${name}`);
    });
  }

  /** The rows of a query over the sums. */
  rows<Row>(query: string): Generator<Row, void, void> {
    return this.#ledger.rows({ compile: () => sql.raw<Row>(query).compile(this.#ledger.db) });
  }

  #write(
    { customer, licenseType, gmsPid, appKey, product }: EntitlementKey,
    branch: string | null,
    of: number[],
  ): void {
    this.#insert.run(customer.namespace, customer.id, licenseType, gmsPid, appKey, product, branch, ...of);
  }
}

/** What stands at the end of a period, by what stood before and what happened. */
function closing(measure: Measure): string {
  return `${measure}_opening + ${measure}_granted - ${measure}_revoked + ${measure}_adjusted`;
}

function placeOf(measure: Measure, figure: Counted): number {
  return measures.indexOf(measure) * counted.length + counted.indexOf(figure);
}

/** What is left in a branch by the end of a period moved on with its customer. */
function movedAway(figures: readonly number[]): { left: number[]; came: number[] } {
  const left = [...figures];
  const came = figures.map(() => 0);
  for (const measure of measures) {
    const of = (figure: Counted): number => figures[placeOf(measure, figure)] ?? 0;
    const balance = of("opening") + of("granted") - of("revoked") + of("adjusted");
    left[placeOf(measure, "adjusted")] = of("adjusted") - balance;
    came[placeOf(measure, "adjusted")] = balance;
  }
  return { left, came };
}
