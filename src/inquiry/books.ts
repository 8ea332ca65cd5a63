import { sql } from "kysely";
import { z } from "zod";
import { ledgerBegan } from "../ledger/database/read-together.ts";
import { stored } from "../ledger/database/damage.ts";
import { closingFactsOf, type ClosedPeriodTable } from "../ledger/books/tables.ts";
import {
  blockerOf,
  holdBlocker,
  outcomeBlocker,
  type Blocker,
  type ClosedFileFacts,
  type ClosingFacts,
} from "../report/books.ts";
import { joinedTo, requireObserved } from "../report/statement/period.ts";
import type { Period, Tolerances, StatementRequest } from "../report/statement/shape.ts";
import { holdFacts, standingQuestions } from "./holds.ts";
import { openStates } from "./operations.ts";
import { spelled, type ReadOnlyLedger } from "./read-only-ledger.ts";
import { createHash } from "node:crypto";
import { canonicalJson, toJson } from "../base/canonical-json.ts";
import { decimalText } from "../crm/currency.ts";
import { formatKey } from "../crm/keys.ts";
import type { Money } from "../crm/model.ts";
import { otherMoneyItems } from "./statement/reconciliation.ts";
import { statements, type Statement } from "./statement/statement.ts";

export async function closings(ledger: ReadOnlyLedger, period?: string): Promise<ClosingFacts[]> {
  const rows = await ledger.db
    .selectFrom("closed_period")
    .selectAll()
    .$if(period !== undefined, (query) => query.where("period", "=", period ?? ""))
    .orderBy("from_at")
    .orderBy("period")
    .orderBy("closing")
    .execute();
  return rows.map(closingFacts);
}

/** A period as it would be closed: it joins the closed period before it, also across zones. */
export async function joinedPeriod(ledger: ReadOnlyLedger, period: Period): Promise<Period> {
  const before = await ledger.db
    .selectFrom("closed_period")
    .select(["zone", "from_at as from", "to_at as to"])
    .where("reopened_at", "is", null)
    .where("period", "<>", period.label)
    .where("from_at", "<", period.from)
    .orderBy("to_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return joinedTo(period, before);
}

function closingFacts(row: ClosedPeriodTable): ClosingFacts {
  const { reopened_at: at, reopened_by: by, reopened_reason: reason } = row;
  return {
    period: row.period,
    closing: row.closing,
    closedAt: row.closed_at,
    closedBy: row.closed_by,
    ...closingFactsOf(row),
    reopened: at === null ? null : { at, by: by ?? "", reason: reason ?? "" },
  };
}

/** The audit entry of a close, which nobody can change unseen. */
const closedEntry = z.object({
  closing: z.int(),
  asOf: z.string(),
  entry: z.int(),
  hash: z.string(),
  files: z.array(z.object({ name: z.string(), sha256: z.string(), bytes: z.int() })),
});

export async function closingEntry(
  { db }: ReadOnlyLedger,
  period: string,
  closing: number,
): Promise<z.infer<typeof closedEntry> | undefined> {
  const rows = await db
    .selectFrom("audit")
    .select("body")
    .where("subject", "=", `period:${period}`)
    .where("kind", "=", "period-closed")
    .orderBy("sequence")
    .execute();
  return rows.map(({ body }) => closedEntry.parse(stored(body))).find((entry) => entry.closing === closing);
}

export async function frozenDigests(ledger: ReadOnlyLedger): Promise<Set<string>> {
  const rows = await ledger.db.selectFrom("closed_file").select("sha256").distinct().execute();
  return new Set(rows.map(({ sha256 }) => sha256));
}

export async function closedFiles(ledger: ReadOnlyLedger, period: string, closing: number): Promise<ClosedFileFacts[]> {
  return await ledger.db
    .selectFrom("closed_file")
    .select(["name", "kind", "format", "sha256", "bytes"])
    .where("period", "=", period)
    .where("closing", "=", closing)
    .orderBy("name")
    .execute();
}

/**
 * Reasons not to close a period: open outcomes, holds, sources not read since its end, runs in progress, and figures
 * that disagree. Sign-offs of the present facts are added. Throws a usage Problem if the period ended before the ledger
 * began.
 */
export async function blockers(
  ledger: ReadOnlyLedger,
  period: Period,
  tolerances: Tolerances = {},
): Promise<Blocker[]> {
  requireObserved(period, ledger.reading(ledgerBegan));
  const found = [
    ...openOperations(ledger, period.to),
    ...openHolds(ledger, period.to),
    ...unreadStreams(ledger, period.to),
    ...unfinishedRuns(ledger, period.to),
    ...(await figureBlockers(ledger, period, tolerances)),
  ];
  const signed = await ledger.db
    .selectFrom("sign_off")
    .select(["blocker", "facts", "by", "at", "reason"])
    .where("period", "=", period.label)
    .execute();
  return found.map((blocker) => {
    const own = signed.find((row) => row.blocker === blocker.id && row.facts === blocker.facts);
    return own === undefined ? blocker : { ...blocker, signedOff: { by: own.by, at: own.at, reason: own.reason } };
  });
}

function* openOperations(ledger: ReadOnlyLedger, to: string): Generator<Blocker, void, void> {
  const query = ledger.db
    .selectFrom("operation")
    .select(["id", "kind", "endpoint", "subject", "state"])
    .where("state", "in", spelled(openStates))
    .where("created_at", "<", to)
    .orderBy("created_at")
    .orderBy("id");
  for (const row of ledger.rows(query)) yield outcomeBlocker(row);
}

function* openHolds(ledger: ReadOnlyLedger, to: string): Generator<Blocker, void, void> {
  const query = ledger.db
    .selectFrom("question")
    .selectAll()
    .select(sql<number>`0`.as("operations"))
    .where("state", "in", spelled(standingQuestions))
    .where("created_at", "<", to)
    .orderBy("number");
  for (const row of ledger.rows(query)) yield holdBlocker(holdFacts(ledger, row));
}

function* unreadStreams(ledger: ReadOnlyLedger, to: string): Generator<Blocker, void, void> {
  const last = sql<string | null>`(select max(r.finished_at) from source_read r
    where r.source = s.source and r.stream = s.stream and r.complete = 1)`;
  const query = ledger.db
    .selectFrom("source_stream as s")
    .select(["s.source", "s.stream", last.as("last")])
    .where("s.job", "is not", null)
    .orderBy("s.source")
    .orderBy("s.stream");
  for (const { source, stream, last: at } of ledger.rows(query)) {
    if (at !== null && at >= to) continue;
    const since = at === null ? "it was never read completely" : `it was last read completely at ${at}`;
    yield blockerOf(
      "source-unread",
      `source:${source}/${stream}`,
      `${stream} of the source ${source} were not read completely since the period was over: ${since}`,
      { last: at },
    );
  }
}

function* unfinishedRuns(ledger: ReadOnlyLedger, to: string): Generator<Blocker, void, void> {
  const query = ledger.db
    .selectFrom("run")
    .select(["id", "job", "state"])
    .where("state", "=", sql.lit("running"))
    .where("started_at", "<", to)
    .orderBy("started_at")
    .orderBy("id");
  for (const { id, job } of ledger.rows(query))
    yield blockerOf("run", `run:${id}`, `the run ${id} of ${job} began in the period and has not ended`, {});
}

/** At most this many orders with different amounts are named; one more blocker covers the rest. */
const mostNamed = 100;

async function figureBlockers(ledger: ReadOnlyLedger, period: Period, tolerances: Tolerances): Promise<Blocker[]> {
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
      // A unit of a differing line may have equal amounts; prefer one that differs.
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

async function openSums(ledger: ReadOnlyLedger, request: StatementRequest): Promise<Blocker[]> {
  let differing = 0;
  const rows = createHash("sha256");
  const statement: Statement = statements.entitlements;
  for await (const { part, row } of statement.rows(ledger, request)) {
    if (part !== "check" || row["verdict"] !== "differs") continue;
    differing += 1;
    const cells = Object.entries(row).map(([name, cell]) => [name, typeof cell === "bigint" ? `${cell}` : cell]);
    rows.update(canonicalJson(toJson(Object.fromEntries(cells))));
  }
  if (differing === 0) return [];
  const what = `opening or closing entitlements differ from the licences of that moment, in ${differing} rows`;
  return [blockerOf("sum", "sum:entitlements", what, { rows: rows.digest("hex") })];
}
