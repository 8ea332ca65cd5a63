import { createHash } from "node:crypto";
import { canonicalJson, toJson } from "../base/canonical-json.ts";
import { decimalText } from "../crm/currency.ts";
import { blockerOf } from "../report/books.ts";
import type { Blocker } from "../report/books.ts";
import type { Period, Row, StatementRequest } from "../report/statement/shape.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";
import { statements } from "./statement/statements.ts";
import type { Statement, StatementKind } from "./statement/statements.ts";

/** So many orders whose money does not agree are named one by one; what is beyond is one more blocker. */
const mostNamed = 100;

/**
 * What in the figures of a period stands in the way of closing it: an order for which the CRM has another amount now
 * than was sent, and a sum that does not come out.
 */
export async function figureBlockers(ledger: ReadOnlyLedger, period: Period): Promise<Blocker[]> {
  const request: StatementRequest = { period, by: "happened", filters: {} };
  return [...(await otherMoney(ledger, request)), ...(await openSums(ledger, request))];
}

async function otherMoney(ledger: ReadOnlyLedger, request: StatementRequest): Promise<Blocker[]> {
  const named = new Map<string, Blocker>();
  let more = 0;
  const others = createHash("sha256");
  for await (const row of rowsOf(ledger, "reconciliation", "items", request)) {
    if (!isOtherMoney(row)) continue;
    const order = String(row["crm_order"]);
    if (named.has(order)) continue;
    if (named.size >= mostNamed) {
      more += 1;
      others.update(canonicalJson([order, moneyIn(row, "crm"), moneyIn(row, "sent")]));
    } else
      named.set(
        order,
        blockerOf(
          "money",
          `money:${order}`,
          `the CRM has ${moneyIn(row, "crm")} for it, and ${moneyIn(row, "sent")} was sent`,
          {
            crm: moneyIn(row, "crm"),
            sent: moneyIn(row, "sent"),
          },
        ),
      );
  }
  if (more === 0) return [...named.values()];
  const what = `${more} amounts of other orders do not agree either`;
  return [...named.values(), blockerOf("money", "money:others", what, { rows: others.digest("hex") })];
}

/** Both sides are there, and they differ by more than is tolerated. */
function isOtherMoney(row: Row): boolean {
  if (row["in_crm"] !== true || row["sent"] !== true || row["within_tolerance"] === true) return false;
  return row["crm_amount"] !== row["sent_amount"] || moneyIn(row, "crm") !== moneyIn(row, "sent");
}

function moneyIn(row: Row, side: "crm" | "sent"): string {
  const [minor, currency] = [row[`${side}_amount`], row[`${side}_amount_currency`]];
  if (typeof minor !== "number" || typeof currency !== "string") return "no amount";
  return `${decimalText(minor, currency)} ${currency}`;
}

/** Sums that are computed twice, and what it means where they do not agree. */
const sums = [
  {
    kind: "entitlements",
    part: "check",
    what: "opening or closing entitlements are not what stands at that moment",
  },
  {
    kind: "bridge",
    part: "bridge",
    what: "what happened and what the CRM dates in the period do not come to the same",
  },
] as const;

async function openSums(ledger: ReadOnlyLedger, request: StatementRequest): Promise<Blocker[]> {
  const found: Blocker[] = [];
  for (const { kind, part, what } of sums) {
    let differing = 0;
    const rows = createHash("sha256");
    for await (const row of rowsOf(ledger, kind, part, request)) {
      if (row["verdict"] !== "differs") continue;
      differing += 1;
      rows.update(canonicalJson(toJson(row)));
    }
    const facts = { rows: rows.digest("hex") };
    if (differing > 0) found.push(blockerOf("sum", `sum:${kind}`, `${what}, in ${differing} rows`, facts));
  }
  return found;
}

async function* rowsOf(
  ledger: ReadOnlyLedger,
  kind: StatementKind,
  wanted: string,
  request: StatementRequest,
): AsyncGenerator<Row, void, void> {
  const statement: Statement = statements[kind];
  for await (const { part, row } of statement.rows(ledger, request)) if (part === wanted) yield row;
}
