import type { RecordKey } from "../../crm/model.ts";
import { type Measure, measures } from "../../report/statement/entitlements.ts";
import { statedOrder } from "./amounts.ts";
import type { OrderHistory } from "./order-history.ts";
import { countedAt, livesOf, seatsOf, type AssignmentsOf, type Assignment } from "./seats.ts";
import { sql } from "kysely";
import type { Statement } from "better-sqlite3";
import { formatKey } from "../../crm/keys.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import type { Cell, PartRow, Row } from "../../report/statement/shape.ts";

/** Seats of a number without a known order have no product. */
export interface EntitlementKey {
  customer: RecordKey;
  licenseType: string | null;
  gmsPid: string | null;
  appKey: string | null;
  product: string | null;
}

export interface Movement {
  key: EntitlementKey;
  measure: Measure;
  at: string;
  isOurs: boolean;
  count: number;
}

/** A seat exists while product and assignment exist. Nothing happens before `placedAt`. */
export function* movementsOf(
  history: OrderHistory,
  placedAt: string,
  assignmentsOf: AssignmentsOf,
): Generator<Movement, void, void> {
  const { changes } = statedOrder(history);
  for (const change of changes) {
    const { customer, moved, origin } = change;
    const at = countedAt(change, placedAt);
    const isOurs = origin === "sent";
    for (const { of, units } of moved) {
      if (units === 0) continue;
      const key = keyOf(customer, of.asset.licenseType, of.product);
      yield { key, measure: "units", at, isOurs, count: units };
      yield { key, measure: "nodes", at, isOurs, count: units * of.product.nodes };
    }
  }
  for (const { life, begun, ended } of seatsOf(livesOf(changes, placedAt), assignmentsOf)) {
    const key = keyOf(life.customer, life.of.asset.licenseType, life.of.product);
    yield { key, measure: "seats", ...begun, count: 1 };
    if (ended !== undefined) yield { key, measure: "seats", ...ended, count: -1 };
  }
}

export function keyOf(
  customer: RecordKey,
  licenseType: string,
  { gmsPid, appKey, name }: { gmsPid?: string | undefined; appKey?: string | undefined; name: string },
): EntitlementKey {
  return { customer, licenseType, gmsPid: gmsPid ?? null, appKey: appKey ?? null, product: name };
}

const counted = ["opening", "granted", "revoked", "adjusted", "standing_from", "standing_to"] as const;
type Counted = (typeof counted)[number];

const figureNames = measures.flatMap((measure) => counted.map((figure) => `${measure}_${figure}`));
const keyNames = ["namespace", "customer_id", "license_type", "gms_pid", "app_key", "product", "branch"] as const;

const mostSums = 5000;

type BranchOf = (customer: RecordKey) => string | null;

interface Sum {
  key: EntitlementKey;
  branch: string | null;
  figures: number[];
}

let tables = 0;

/** A temporary table in a file, so that memory does not grow with customers. Never writes the ledger. */
export class EntitlementTable {
  readonly #ledger: ReadOnlyLedger;
  readonly #branchAtEnd: BranchOf;
  readonly #insert: Statement;
  readonly #addSeat: Statement<[string, string]>;
  readonly #hasSeat: Statement<[string, string], { number: string }>;
  readonly #parts: string;
  readonly #seats: string;
  readonly #sums = new Map<string, Sum>();
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

  addSeat({ assetNumber, customer }: Assignment): void {
    this.#addSeat.run(assetNumber, formatKey(customer));
  }

  hasSeat({ assetNumber, customer }: Assignment): boolean {
    return this.#hasSeat.get(assetNumber, formatKey(customer)) !== undefined;
  }

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

  rows<Row>(query: string): Generator<Row, void, void> {
    return this.#ledger.rows(sql.raw<Row>(query));
  }

  #write(
    { customer, licenseType, gmsPid, appKey, product }: EntitlementKey,
    branch: string | null,
    of: number[],
  ): void {
    this.#insert.run(customer.namespace, customer.id, licenseType, gmsPid, appKey, product, branch, ...of);
  }
}

function closing(measure: Measure): string {
  return `${measure}_opening + ${measure}_granted - ${measure}_revoked + ${measure}_adjusted`;
}

function placeOf(measure: Measure, figure: Counted): number {
  return measures.indexOf(measure) * counted.length + counted.indexOf(figure);
}

/** The rest in an old branch moves with its customer to the branch at the end. */
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

const productKey = ["license_type", "gms_pid", "app_key", "product"] as const;
const shown = ["opening", "granted", "revoked", "adjusted", "closing"] as const;

const sums = [
  { part: "entitlements", of: ["customer", ...productKey, "branch"] },
  { part: "by_product", of: productKey },
  { part: "by_customer", of: ["customer"] },
  { part: "by_branch", of: ["branch"] },
] as const;

const figures = measures.flatMap((measure) => shown.map((figure) => `${measure}_${figure}`));
const standing = measures.flatMap((measure) => [`${measure}_standing_from`, `${measure}_standing_to`]);
const isSomething = [...figures, ...standing].map((name) => `e.${name} <> 0`).join(" or ");

const moments = [
  { moment: "opening", events: "opening", standing: "standing_from" },
  { moment: "closing", events: "closing", standing: "standing_to" },
] as const;

const isDifferent = measures
  .flatMap((measure) => moments.map((of) => `e.${measure}_${of.events} <> e.${measure}_${of.standing}`))
  .join(" or ");

export function* entitlementParts(table: EntitlementTable): Generator<PartRow, void, void> {
  const from = `from (select namespace || '/' || customer_id as customer, * from ${table.name}) e`;
  for (const { part, of } of sums) {
    const names = of.map((name) => `e.${name}`).join(", ");
    const added = figures.map((name) => `sum(e.${name}) as ${name}`).join(", ");
    const query = `select ${names}, ${added}, iif(max(${isDifferent}), 'differs', 'agrees') as verdict ${from}
      where (${isSomething}) group by ${names} order by ${names}`;
    for (const row of table.rows<Row>(query)) yield { part, row };
  }
  yield* sumsCompared(table, from);
  yield* rowsCompared(table, from);
}

function* sumsCompared(table: EntitlementTable, from: string): Generator<PartRow, void, void> {
  const all = [...figures, ...standing].map((name) => `coalesce(sum(e.${name}), 0) as ${name}`).join(", ");
  for (const row of table.rows<Row>(`select ${all} ${from}`)) yield* compared(row, {}, () => true);
}

function* rowsCompared(table: EntitlementTable, from: string): Generator<PartRow, void, void> {
  const keys = ["customer", ...productKey, "branch"] as const;
  const order = keys.map((name) => `e.${name}`).join(", ");
  for (const row of table.rows<Row>(`select e.* ${from} where (${isDifferent}) order by ${order}`)) {
    const key = Object.fromEntries(keys.map((name): [string, Cell] => [name, row[name] ?? null]));
    yield* compared(row, key, ({ verdict }) => verdict === "differs");
  }
}

function* compared(row: Row, key: Row, isShown: (row: Row) => boolean): Generator<PartRow, void, void> {
  for (const measure of measures) {
    for (const of of moments) {
      const both = { events: figureOf(row, measure, of.events), standing: figureOf(row, measure, of.standing) };
      const verdict = both.events === both.standing ? "agrees" : "differs";
      const check: Row = { moment: of.moment, measure, ...key, ...both, verdict };
      if (isShown(check)) yield { part: "check", row: check };
    }
  }
}

function figureOf(row: Row, measure: Measure, figure: string): Cell {
  return row[`${measure}_${figure}`] ?? null;
}
