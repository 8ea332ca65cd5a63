import { column, amountColumns, type Part, type PartRow, type Column, type Row, type StatementShape } from "./shape.ts";
import { formatKey } from "../../crm/keys.ts";
import type { Money, RecordKey } from "../../crm/model.ts";
import { crmDay, type CrmDate } from "../crm-date.ts";
import { plus, type Exact } from "./cells.ts";
import { exceptionRow, stakesOf, type FoundException } from "./exception-row.ts";
import { ageAt, ageBuckets } from "./tolerances.ts";

const signOffsPart: Part = {
  name: "sign_offs",
  title: "Signed off",
  about:
    "One row for each blocker of the period that somebody signed off: an outcome, a " +
    "hold, a source, a run, an amount or a sum; and for each row in quarantine, record that waits or " +
    "refusal that somebody accepted. A sign-off covers the state of its time: a later change needs a new " +
    "one. A statement " +
    "that is limited to a source, customer, branch or product has none.",
  groupBy: "kind",
  columns: [
    column(
      "text",
      "kind",
      "Kind",
      "`operation`, `hold`, `source`, `run`, `money` or `sum`; of accepted rows `quarantined`, " +
        "`deferred` or `rejected`.",
    ),
    column("text", "blocker", "Blocker", "Its name in `crm-sync report blockers` or in `sign_off_id` of `exceptions`."),
    column("text", "what", "What", "What it was."),
    column("text", "signed_off_by", "Signed off by", "Who signed it off."),
    column("instant", "signed_off_at", "Signed off", "When that was."),
    column("text", "sign_off_reason", "Reason", "Why it was accepted, in that person's words."),
    column("text", "facts", "Facts", "SHA-256 of the signed facts."),
    column("integer", "audit_sequence", "Audit entry", "The audit entry that says so."),
  ],
};

export interface SignOffFacts {
  at: string;
  blocker: string;
  what: string;
  by: string;
  reason: string;
  facts: string;
  auditSequence: number;
}

export function signOffRow({ at, blocker, what, by, reason, facts, auditSequence }: SignOffFacts): PartRow {
  const row = {
    kind: blocker.split(":", 1)[0] ?? null,
    blocker,
    what,
    signed_off_by: by,
    signed_off_at: at,
    sign_off_reason: reason,
    facts,
    audit_sequence: auditSequence,
  };
  return { part: signOffsPart.name, row };
}

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

/** Who must act. `program`: the next run; `operator`: whoever runs crm-sync. */
const actors = ["crm", "configuration", "platform", "program", "operator"] as const;
export type Actor = (typeof actors)[number];

export interface ConcernedOrder {
  key: RecordKey;
  crmDate: CrmDate | null;
  amount: Money | undefined;
}

export interface StatedException extends FoundException {
  open: boolean;
  owner: Actor | null;
  branch: string | null;
  orders: readonly ConcernedOrder[];
}

const stake =
  "At stake is the amount of the orders concerned, as the CRM had it at the end of the period: of an order that " +
  "waits, or an operation for it, its own; of a customer that waits those of its orders that were not placed by " +
  "then. It is empty where no usable form of the order had come by then, or the CRM gives no amount. What two " +
  "exceptions concern is at stake in each of them.";

const naming: readonly Column[] = [
  column("text", "kind", "Kind", `Its kind: ${kinds.map((kind) => `\`${kind}\``).join(", ")}.`),
  column("boolean", "open", "Open", "It had not ended at the end of the period, or has not ended as far as is known."),
  column(
    "text",
    "owner",
    "Owner",
    `Who had to act then: ${actors.map((name) => `\`${name}\``).join(", ")}; empty where nobody had to.`,
  ),
  column(
    "text",
    "ageing",
    "Ageing",
    `How old it was then, in the classes of the configuration: ${ageBuckets()
      .map((name) => `\`${name}\``)
      .join(", ")}.`,
  ),
];

export const exceptionsStatement: StatementShape = {
  kind: "exceptions",
  version: 4,
  tolerates: true,
  title: "Exceptions",
  about:
    "Everything that was not done at some moment of the period, as it was at the end of the period or at " +
    "the time of the statement; and operations that ended badly in it. By age and by who " +
    `had to act. ${stake}`,
  parts: [
    {
      name: "summary",
      title: "Summary",
      about:
        "How many exist of each kind, by owner and age, and the sum at stake in each currency. Each is " +
        "counted once; it is checked against the rows of `exceptions`.",
      groupBy: "kind",
      columns: [
        ...naming,
        column("text", "currency", "Currency", "Currency of the sum at stake; empty if it is not known."),
        column("integer", "count", "Count", "How many; one with several currencies counts with the first of them.", {
          total: true,
        }),
        column("integer", "orders", "Orders", "Orders concerned whose amount is in this currency, or not known.", {
          total: true,
        }),
        ...amountColumns("at_stake", "At stake", "The sum at stake in this currency.", {
          currencyIn: "currency",
          total: true,
        }),
      ],
    },
    {
      name: "exceptions",
      title: "Exceptions",
      about:
        "One row for each. The columns of the sign-off are empty until somebody signs the row off. Signing " +
        "off holds and unknown outcomes lets the period close; rows in quarantine, waiting or refused " +
        "records are only accepted, since they do not block the close.",
      groupBy: "kind",
      columns: [
        ...naming,
        column(
          "integer",
          "age_hours",
          "Age",
          "Hours from its begin to its end, or else to the end of the period or of the known time.",
        ),
        column("instant", "since", "Since", "When it began."),
        column("instant", "until", "Until", "When it ended, also where that was after the period."),
        column("text", "customer", "Customer", "Key of the customer."),
        column("text", "branch", "Branch", "Code of the branch that looked after the customer then."),
        column("text", "record", "Record", "The record or the subject that it is about."),
        column("text", "source", "Source", "The source that gave it."),
        column("text", "place", "Place", "Where in the source it stands."),
        column("text", "field", "Field", "The field at fault."),
        column("text", "code", "Code", "The kind of problem, as a word for machines."),
        column(
          "text",
          "reason",
          "Reason",
          "The problem, in words of crm-sync: those of the CRM and of the services may name people, and " +
            "`crm-sync explain` shows them.",
        ),
        column("integer", "count", "Count", "How many things it is about, where there is a number."),
        column("integer", "orders", "Orders", "How many orders are concerned."),
        ...amountColumns("at_stake", "At stake", "The sum at stake, if it is in one currency."),
        column("list", "at_stake_in", "Currencies", "The currencies of the sum at stake."),
        column("text", "operation", "Operation", "The operation."),
        column("integer", "attempts", "Attempts", "How often it was sent."),
        column("text", "run", "Run", "The run."),
        column("text", "hold", "Hold", "The hold."),
        column("text", "next", "Next", "What to do next."),
        column(
          "text",
          "sign_off_id",
          "Sign-off id",
          "What `crm-sync report sign-off` takes for it; empty where there is nothing to sign off.",
        ),
        column("text", "signed_off_by", "Signed off by", "Who signed it off."),
        column("instant", "signed_off_at", "Signed off", "When that was."),
        column("text", "sign_off_reason", "Reason of the sign-off", "Why it was accepted."),
      ],
    },
    {
      name: "orders",
      title: "Orders concerned",
      about: "One row for each order that an exception concerns, with its sum at stake.",
      groupBy: "kind",
      columns: [
        ...naming.slice(0, 3),
        column("text", "customer", "Customer", "Key of the customer of the exception."),
        column("text", "record", "Record", "The record or the subject that the exception is about."),
        column("text", "operation", "Operation", "Its operation."),
        column("text", "hold", "Hold", "Its hold."),
        column("text", "crm_order", "CRM order", "Key of the order concerned."),
        column("date", "crm_date", "CRM date", "Date that the CRM gives the order."),
        ...amountColumns("amount", "Amount", "Amount of the order, as the CRM had it then."),
      ],
    },
    signOffsPart,
  ],
};

interface Known {
  knownAt: string | null;
  ageing?: readonly number[] | undefined;
}

type Told = Row & { kind: string; open: boolean; owner: Actor | null; ageing: string | null };

function toldOf(
  { facts, ended, open, owner }: StatedException,
  { knownAt, ageing }: Known,
): { told: Told; hours: number | null; row: Row } {
  const { kind, ...row } = exceptionRow(facts);
  const by = open || ended === null ? knownAt : ended.at;
  const { hours, bucket } = ageAt(typeof row["since"] === "string" ? row["since"] : null, by, ageing);
  return { told: { kind: String(kind), open, owner, ageing: bucket }, hours, row };
}

/** How the row changes if the exception ended, in the period or later. */
function endOf({ facts, ended, open }: StatedException, { reason = null, code = null }: Row): Row {
  if (ended === null) return {};
  const told = { until: ended.at, reason: ended.how === null ? reason : `${String(reason)}; ${ended.how}` };
  switch (facts.kind) {
    case "settled":
    case "numbers-lost":
      return told;
    case "source-incomplete":
    case "run":
      // Their rows already have the end, and somebody must still act after it.
      return {};
    case "held":
      return { ...told, code: open ? "open" : code };
    default:
      return { ...told, next: open ? "nothing: it has ended since" : "nothing: it is over" };
  }
}

/** Without its sign-off. */
export function statedException(exception: StatedException, known: Known): Row {
  const { told, hours, row } = toldOf(exception, known);
  const stakes = stakesOf(exception);
  const [only, ...others] = stakes;
  const isOne = only !== undefined && others.length === 0;
  return {
    ...told,
    age_hours: hours,
    ...row,
    ...endOf(exception, row),
    branch: exception.branch,
    orders: exception.orders.length,
    at_stake: isOne ? only.minor : null,
    at_stake_currency: isOne ? only.currency : null,
    at_stake_in: stakes.map(({ currency }) => currency),
  };
}

export function concernedRows(exception: StatedException, known: Known, zone: string): PartRow[] {
  const { told, row } = toldOf(exception, known);
  const { kind, open, owner } = told;
  const { customer = null, record = null, operation = null, hold = null } = row;
  const of = { kind, open, owner, customer, record, operation, hold };
  return exception.orders.map(({ key, crmDate, amount }) => ({
    part: "orders",
    row: {
      ...of,
      crm_order: formatKey(key),
      crm_date: crmDay(crmDate, zone),
      amount: amount?.minor ?? null,
      amount_currency: amount?.currency ?? null,
    },
  }));
}

export class ExceptionTotals {
  readonly #sums = new Map<
    string,
    Told & { currency: string | null; count: number; orders: number; at_stake: Exact }
  >();

  readonly #known: Known;

  constructor(known: Known) {
    this.#known = known;
  }

  add(exception: StatedException): void {
    const { told } = toldOf(exception, this.#known);
    const stakes = stakesOf(exception);
    const [first] = stakes;
    this.#sumOf(told, first?.currency ?? null).count += 1;
    for (const { currency, minor } of stakes) {
      const sum = this.#sumOf(told, currency);
      sum.at_stake = plus(sum.at_stake, minor);
    }
    for (const { amount } of exception.orders) this.#sumOf(told, amount?.currency ?? null).orders += 1;
  }

  #sumOf({ kind, open, owner, ageing }: Told, currency: string | null) {
    const name = JSON.stringify([kind, open, owner, ageing, currency]);
    const known = this.#sums.get(name) ?? { kind, open, owner, ageing, currency, count: 0, orders: 0, at_stake: 0 };
    this.#sums.set(name, known);
    return known;
  }

  rows(): Row[] {
    const names: readonly string[] = kinds;
    const buckets = ageBuckets(this.#known.ageing);
    const place = ({ kind, open, owner, ageing, currency }: Told & { currency: string | null }): string =>
      [
        String(names.indexOf(kind)).padStart(2, "0"),
        open ? 0 : 1,
        owner === null ? actors.length : actors.indexOf(owner),
        String(ageing === null ? buckets.length : buckets.indexOf(ageing)).padStart(2, "0"),
        currency ?? "",
      ].join(" ");
    return [...this.#sums.values()]
      .toSorted((one, other) => (place(one) < place(other) ? -1 : 1))
      .map(({ at_stake: minor, ...row }) => ({ ...row, at_stake: row.currency === null ? null : minor }));
  }
}
