import { formatKey } from "../../crm/keys.ts";
import type { Money, RecordKey } from "../../crm/model.ts";
import { exceptionRow } from "./exception-row.ts";
import type { ExceptionFacts } from "./exception-row.ts";
import { ageAt, ageBuckets } from "./ageing.ts";
import { amountColumns, column } from "./column.ts";
import { localDate } from "./local-date.ts";
import type { Column, PartRow, Row, StatementShape } from "./shape.ts";

/** The kinds of exceptions, in the order in which they are told. */
const kinds = [
  "quarantined",
  "deferred",
  "rejected",
  "unknown",
  "parked",
  "settled",
  "numbers-lost",
  "by-hand",
  "held",
  "source-incomplete",
  "run",
] as const;

/** Who has to act: the people of the CRM, of the configuration, of the platform, the next run, or who runs this. */
export const actors = ["crm", "configuration", "platform", "program", "operator"] as const;
export type Actor = (typeof actors)[number];

/** An order that an exception concerns, as the CRM has it. */
export interface ConcernedOrder {
  key: RecordKey;
  crmDate: string | null;
  amount: Money | undefined;
}

/** Something that did not go its way, with who has to act and what is at stake. */
export interface StatedException {
  facts: ExceptionFacts;
  owner: Actor | null;
  branch: string | null;
  orders: readonly ConcernedOrder[];
}

const stake =
  "At stake is the amount of the orders concerned, as the CRM has it: of an order that waits, or an operation for " +
  "it, its own; of a customer that waits those of its orders that are not placed. It is empty where no usable " +
  "form of the order ever came, or the CRM gives no amount. What two exceptions concern is at stake in each of them.";

const naming: readonly Column[] = [
  column("text", "kind", "Kind", `What it is: ${kinds.map((kind) => `\`${kind}\``).join(", ")}.`),
  column("boolean", "open", "Open", "It is not over by what the statement knows."),
  column(
    "text",
    "owner",
    "Owner",
    `Who has to act: ${actors.map((name) => `\`${name}\``).join(", ")}; empty where nobody has to.`,
  ),
  column("text", "ageing", "Ageing", `How old it is: ${ageBuckets.map((name) => `\`${name}\``).join(", ")}.`),
];

/** What did not go its way. */
export const exceptionsStatement: StatementShape = {
  kind: "exceptions",
  version: 1,
  title: "Exceptions",
  about:
    "Everything that did not go its way: what was open at some moment of the period, and what ended badly in it, by " +
    `age and by who has to act. ${stake}`,
  parts: [
    {
      name: "summary",
      title: "Summary",
      about:
        "How many there are of each kind, by owner and age, and what is at stake, each currency by itself. Each is " +
        "counted once; it is checked against the rows of `exceptions`.",
      groupBy: "kind",
      columns: [
        ...naming,
        column("text", "currency", "Currency", "Currency of what is at stake; empty where that is not known."),
        column("integer", "count", "Count", "How many; one with several currencies counts with the first of them.", {
          total: true,
        }),
        column("integer", "orders", "Orders", "Orders concerned whose amount is in this currency, or not known.", {
          total: true,
        }),
        ...amountColumns("at_stake", "At stake", "What is at stake in this currency.", {
          currencyIn: "currency",
          total: true,
        }),
      ],
    },
    {
      name: "exceptions",
      title: "Exceptions",
      about: "One row for each. The columns of the sign-off are empty until somebody signs it off to close the books.",
      groupBy: "kind",
      columns: [
        ...naming,
        column("integer", "age_hours", "Age", "Hours since it began, to its end or to what the statement knows last."),
        column("instant", "since", "Since", "When it began."),
        column("instant", "until", "Until", "When it ended, or was refused."),
        column("text", "customer", "Customer", "Key of the customer."),
        column("text", "branch", "Branch", "Code of the branch that looks after the customer."),
        column("text", "record", "Record", "The record or the subject that it is about."),
        column("text", "source", "Source", "The source that gave it."),
        column("text", "place", "Place", "Where in the source it stands."),
        column("text", "field", "Field", "The field at fault."),
        column("text", "code", "Code", "What is wrong, as a word for machines."),
        column("text", "reason", "Reason", "What is wrong, in words."),
        column("integer", "count", "Count", "How many things it is about, where there is a number."),
        column("integer", "orders", "Orders", "How many orders are concerned."),
        ...amountColumns("at_stake", "At stake", "What is at stake, where it is in one currency."),
        column("list", "at_stake_in", "Currencies", "The currencies of what is at stake."),
        column("text", "operation", "Operation", "The operation."),
        column("integer", "attempts", "Attempts", "How often it was sent."),
        column("text", "run", "Run", "The run."),
        column("text", "hold", "Hold", "The hold."),
        column("text", "next", "Next", "What to do next."),
        column("text", "signed_off_by", "Signed off by", "Who signed it off."),
        column("instant", "signed_off_at", "Signed off", "When that was."),
        column("text", "sign_off_reason", "Reason of the sign-off", "Why it may stay as it is."),
      ],
    },
    {
      name: "orders",
      title: "Orders concerned",
      about: "One row for each order that an exception concerns: what is at stake, order by order.",
      groupBy: "kind",
      columns: [
        ...naming.slice(0, 3),
        column("text", "customer", "Customer", "Key of the customer of the exception."),
        column("text", "record", "Record", "The record or the subject that the exception is about."),
        column("text", "operation", "Operation", "Its operation."),
        column("text", "hold", "Hold", "Its hold."),
        column("text", "crm_order", "CRM order", "Key of the order concerned."),
        column("date", "crm_date", "CRM date", "Date that the CRM gives the order, in the zone of the statement."),
        ...amountColumns("amount", "Amount", "Amount of the order, as the CRM has it."),
      ],
    },
  ],
};

type Told = Row & { kind: string; open: boolean; owner: Actor | null; ageing: string | null };

/** What is told of an exception at all: its kind, whether it is over, who has to act, and how old it is. */
function toldOf({ facts, owner }: StatedException, knownAt: string | null): { told: Told; hours: number | null } {
  const { kind, since, until } = exceptionRow(facts);
  const ended = isOver(facts) && typeof until === "string" ? until : undefined;
  const { hours, bucket } = ageAt(typeof since === "string" ? since : null, ended ?? knownAt);
  return { told: { kind: String(kind), open: !isOver(facts), owner, ageing: bucket }, hours };
}

/** Whether nobody waits for it any more. What was refused stays refused, and what was read in part was. */
function isOver(facts: ExceptionFacts): boolean {
  switch (facts.kind) {
    case "quarantined":
      return facts.row.resolvedAt !== null;
    case "held":
      return facts.row.decidedAt !== null;
    case "settled":
    case "numbers-lost":
      return true;
    case "deferred":
    case "rejected":
    case "unknown":
    case "by-hand":
    case "source-incomplete":
    case "run":
      return false;
  }
}

/** One exception as a row of `exceptions`. */
export function statedException(exception: StatedException, knownAt: string | null): PartRow {
  const { told, hours } = toldOf(exception, knownAt);
  const { kind: _kind, ...row } = exceptionRow(exception.facts);
  const stakes = stakesOf(exception);
  const [only, ...others] = stakes;
  const isOne = only !== undefined && others.length === 0;
  return {
    part: "exceptions",
    row: {
      ...told,
      age_hours: hours,
      ...row,
      branch: exception.branch,
      orders: exception.orders.length,
      at_stake: isOne ? only.minor : null,
      at_stake_currency: isOne ? only.currency : null,
      at_stake_in: stakes.map(({ currency }) => currency),
      signed_off_by: null,
      signed_off_at: null,
      sign_off_reason: null,
    },
  };
}

/** The orders that an exception concerns, as rows of `orders`. */
export function concernedRows(exception: StatedException, knownAt: string | null, zone: string): PartRow[] {
  const { kind, open, owner } = toldOf(exception, knownAt).told;
  const { customer = null, record = null, operation = null, hold = null } = exceptionRow(exception.facts);
  const of = { kind, open, owner, customer, record, operation, hold };
  return exception.orders.map(({ key, crmDate, amount }) => ({
    part: "orders",
    row: {
      ...of,
      crm_order: formatKey(key),
      crm_date: localDate(crmDate, zone),
      amount: amount?.minor ?? null,
      amount_currency: amount?.currency ?? null,
    },
  }));
}

/** What is at stake, currency by currency. */
function stakesOf({ orders }: StatedException): Money[] {
  const sums = new Map<string, number>();
  for (const { amount } of orders) {
    if (amount !== undefined) sums.set(amount.currency, (sums.get(amount.currency) ?? 0) + amount.minor);
  }
  return [...sums]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([currency, minor]) => ({ currency, minor }));
}

/** Counts exceptions by kind, owner, age and currency: a few sums, however many there are. */
export class ExceptionTotals {
  readonly #sums = new Map<
    string,
    Told & { currency: string | null; count: number; orders: number; at_stake: number }
  >();

  add(exception: StatedException, knownAt: string | null): void {
    const { told } = toldOf(exception, knownAt);
    const stakes = stakesOf(exception);
    const [first] = stakes;
    this.#sumOf(told, first?.currency ?? null).count += 1;
    for (const { currency, minor } of stakes) {
      const sum = this.#sumOf(told, currency);
      sum.at_stake += minor;
      if (!Number.isSafeInteger(sum.at_stake)) throw new RangeError("what is at stake is too large to be exact");
    }
    for (const { amount } of exception.orders) this.#sumOf(told, amount?.currency ?? null).orders += 1;
  }

  #sumOf({ kind, open, owner, ageing }: Told, currency: string | null) {
    const name = JSON.stringify([kind, open, owner, ageing, currency]);
    const known = this.#sums.get(name) ?? { kind, open, owner, ageing, currency, count: 0, orders: 0, at_stake: 0 };
    this.#sums.set(name, known);
    return known;
  }

  /** The rows of the summary, in a fixed order. */
  rows(): Row[] {
    const names: readonly string[] = kinds;
    const place = ({ kind, open, owner, ageing, currency }: Told & { currency: string | null }): string =>
      [
        String(names.indexOf(kind)).padStart(2, "0"),
        open ? 0 : 1,
        owner === null ? actors.length : actors.indexOf(owner),
        ageing === null ? ageBuckets.length : ageBuckets.indexOf(ageing),
        currency ?? "",
      ].join(" ");
    return [...this.#sums.values()]
      .toSorted((one, other) => (place(one) < place(other) ? -1 : 1))
      .map(({ at_stake: minor, ...row }) => ({ ...row, at_stake: row.currency === null ? null : minor }));
  }
}
