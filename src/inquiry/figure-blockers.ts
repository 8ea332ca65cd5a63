import { createHash } from "node:crypto";
import { canonicalJson, toJson } from "../base/canonical-json.ts";
import { decimalText } from "../crm/currency.ts";
import { formatKey } from "../crm/keys.ts";
import type { Money } from "../crm/model.ts";
import { blockerOf } from "../report/books.ts";
import type { Blocker } from "../report/books.ts";
import type { Period, Row, StatementRequest, Tolerances } from "../report/statement/shape.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";
import { otherMoneyItems } from "./statement/reconciliation.ts";
import { statements } from "./statement/statements.ts";
import type { Statement, StatementKind } from "./statement/statements.ts";

/** So many orders whose money does not agree are named one by one; what is beyond is one more blocker. */
const mostNamed = 100;

/**
 * What in the figures of a period stands in the way of closing it: an order for which the CRM has another amount now
 * than was sent, and a sum that does not come out.
 */
export async function figureBlockers(
  ledger: ReadOnlyLedger,
  period: Period,
  tolerances: Tolerances,
): Promise<Blocker[]> {
  const request: StatementRequest = { period, by: "happened", filters: {}, tolerances };
  return [...(await otherMoney(ledger, request)), ...(await openSums(ledger, request))];
}

async function otherMoney(ledger: ReadOnlyLedger, request: StatementRequest): Promise<Blocker[]> {
  const named = new Map<string, { blocker: Blocker; isAlike: boolean }>();
  let more = 0;
  const others = createHash("sha256");
  for await (const { order: key, ...amounts } of otherMoneyItems(ledger, request)) {
    const order = formatKey(key);
    const [crm, sent] = [moneyIn(amounts.crm), moneyIn(amounts.sent)];
    const known = named.get(order);
    if (known === undefined && named.size >= mostNamed) {
      more += 1;
      others.update(canonicalJson([order, crm, sent]));
    } else if (known === undefined || (known.isAlike && crm !== sent)) {
      const what = `the CRM has ${crm} for it, and ${sent} was sent`;
      const blocker = blockerOf("money", `money:${order}`, what, { crm, sent });
      // Of a line that differs a unit may have the same amount; it is named by one that has not.
      named.set(order, { blocker, isAlike: crm === sent });
    }
  }
  const found = [...named.values()].map(({ blocker }) => blocker);
  if (more === 0) return found;
  const what = `${more} amounts of other orders do not agree either`;
  return [...found, blockerOf("money", "money:others", what, { rows: others.digest("hex") })];
}

function moneyIn(amount: Money | undefined): string {
  return amount === undefined ? "no amount" : `${decimalText(amount.minor, amount.currency)} ${amount.currency}`;
}

/** Sums that are computed twice, and what it means where they do not agree. */
const sums = [
  {
    kind: "entitlements",
    part: "check",
    what: "opening or closing entitlements differ from the licences of that moment",
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
      const cells = Object.entries(row).map(([name, cell]) => [name, typeof cell === "bigint" ? `${cell}` : cell]);
      rows.update(canonicalJson(toJson(Object.fromEntries(cells))));
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
