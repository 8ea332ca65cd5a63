import { measures } from "../../report/statement/entitlements.ts";
import type { Measure } from "../../report/statement/entitlements.ts";
import type { Cell, PartRow, Row } from "../../report/statement/shape.ts";
import type { EntitlementTable } from "./entitlement-table.ts";

const productKey = ["license_type", "gms_pid", "app_key", "product"] as const;
const shown = ["opening", "granted", "revoked", "adjusted", "closing"] as const;

/** Each part that adds up, with what it adds up for and the order of its rows. */
const sums = [
  { part: "entitlements", of: ["customer", ...productKey, "branch"] },
  { part: "by_product", of: productKey },
  { part: "by_customer", of: ["customer"] },
  { part: "by_branch", of: ["branch"] },
] as const;

const figures = measures.flatMap((measure) => shown.map((figure) => `${measure}_${figure}`));
const standing = measures.flatMap((measure) => [`${measure}_standing_from`, `${measure}_standing_to`]);
const isSomething = [...figures, ...standing].map((name) => `e.${name} <> 0`).join(" or ");

/** What two figures are compared at. */
const moments = [
  { moment: "opening", events: "opening", standing: "standing_from" },
  { moment: "closing", events: "closing", standing: "standing_to" },
] as const;

const isDifferent = measures
  .flatMap((measure) => moments.map((of) => `e.${measure}_${of.events} <> e.${measure}_${of.standing}`))
  .join(" or ");

/** The parts of the statement from the sums of its figures. */
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

/** The sums of everything, by events and by what stands. */
function* sumsCompared(table: EntitlementTable, from: string): Generator<PartRow, void, void> {
  const all = [...figures, ...standing].map((name) => `coalesce(sum(e.${name}), 0) as ${name}`).join(", ");
  for (const row of table.rows<Row>(`select ${all} ${from}`)) yield* compared(row, {}, () => true);
}

/** Rows of the entitlements of which something differs. */
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
