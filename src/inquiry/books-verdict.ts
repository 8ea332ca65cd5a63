import { z } from "zod";
import { closingFactsOf } from "../ledger/books/tables.ts";
import type { ClosedPeriodTable, SignOffTable } from "../ledger/books/tables.ts";
import type { AuditFinding } from "../ledger/audit/verify-log.ts";
import { stored } from "../ledger/database/damage.ts";
import { canonicalJson } from "../base/canonical-json.ts";
import type { Json, JsonObject } from "../base/canonical-json.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

const fileSchema = z.object({ name: z.string(), sha256: z.string(), bytes: z.int() });
const closedSchema = z.looseObject({ closing: z.int(), files: z.array(fileSchema) });
const reopenedSchema = z.object({ closing: z.int(), by: z.string(), reason: z.string() });
const signedSchema = z.looseObject({ blocker: z.string(), facts: z.string(), by: z.string(), reason: z.string() });

/** What the tables of closed periods have to say by an entry: the row, and what is in it. */
interface Said {
  sequence: number;
  what: string;
  facts: string;
}

/**
 * The first row of the closed periods that is not as its audit entry says: another one, one that is gone, or one that no
 * entry speaks of. Undefined where there is none.
 */
export function closedBooksFinding(ledger: ReadOnlyLedger): AuditFinding | undefined {
  const said = new Map<string, Said>();
  for (const entry of entriesOfBooks(ledger)) for (const [row, fact] of saidBy(entry)) said.set(row, fact);
  const found = new Map<string, string>();
  for (const [row, facts] of rowsOfBooks(ledger)) found.set(row, facts);
  for (const [row, { sequence, what, facts }] of said) {
    const now = found.get(row);
    if (now === facts) continue;
    const why =
      now === undefined ? `is gone from the tables: entry ${sequence} says it` : `is not as entry ${sequence} says`;
    return { code: "books-changed", firstBad: sequence, why: `${what} ${why}` };
  }
  const more = [...found.keys()].find((row) => !said.has(row));
  if (more === undefined) return undefined;
  return { code: "books-changed", firstBad: 0, why: `${more} is in the tables, and no entry is about it` };
}

interface EntryOfBooks {
  sequence: number;
  at: string;
  kind: string;
  subject: string;
  body: string;
}

function entriesOfBooks(ledger: ReadOnlyLedger): Iterable<EntryOfBooks> {
  return ledger.rows(
    ledger.db
      .selectFrom("audit")
      .select(["sequence", "at", "kind", "subject", "body"])
      .where("subject", ">=", "period:")
      .where("subject", "<", "period;")
      .orderBy("sequence"),
  );
}

function* saidBy({
  sequence,
  at,
  kind,
  subject,
  body,
}: EntryOfBooks): Generator<[row: string, said: Said], void, void> {
  const period = subject.slice("period:".length);
  const words = stored<JsonObject>(body);
  if (kind === "period-closed") {
    const { closing, files } = closedSchema.parse(words);
    // How it is known who closed it is said by the entry alone.
    const { closing: _closing, files: _files, signedOff: _signed, who: _who, ...rest } = words;
    const what = `closing ${closing} of ${period}`;
    yield [what, { sequence, what, facts: canonicalJson({ ...rest, at }) }];
    for (const { name, ...file } of files)
      yield [`${name} of ${what}`, { sequence, what: `${name} of ${what}`, facts: canonicalJson(file) }];
  } else if (kind === "period-reopened") {
    const { closing, by, reason } = reopenedSchema.parse(words);
    const what = `that closing ${closing} of ${period} was opened again`;
    yield [what, { sequence, what, facts: canonicalJson({ at, by, reason }) }];
  } else if (kind === "signed-off") {
    const { blocker, facts, by, reason } = signedSchema.parse(words);
    const what = `the sign-off of ${blocker} for ${period} (${facts.slice(0, 8)})`;
    yield [what, { sequence, what, facts: canonicalJson({ at, by, reason, facts }) }];
  }
}

function* rowsOfBooks(ledger: ReadOnlyLedger): Generator<[row: string, facts: string], void, void> {
  const { db } = ledger;
  for (const row of ledger.rows(db.selectFrom("closed_period").selectAll().orderBy("period").orderBy("closing"))) {
    yield [`closing ${row.closing} of ${row.period}`, canonicalJson(closedFacts(row))];
    if (row.reopened_at !== null)
      yield [
        `that closing ${row.closing} of ${row.period} was opened again`,
        canonicalJson({ at: row.reopened_at, by: row.reopened_by, reason: row.reopened_reason }),
      ];
  }
  for (const { period, closing, name, sha256, bytes } of ledger.rows(
    db.selectFrom("closed_file").selectAll().orderBy("period").orderBy("closing").orderBy("name"),
  ))
    yield [`${name} of closing ${closing} of ${period}`, canonicalJson({ sha256, bytes })];
  for (const row of ledger.rows(db.selectFrom("sign_off").selectAll().orderBy("period").orderBy("blocker")))
    yield [signedName(row), canonicalJson({ at: row.at, by: row.by, reason: row.reason, facts: row.facts })];
}

function signedName({ blocker, period, facts }: SignOffTable): string {
  return `the sign-off of ${blocker} for ${period} (${facts.slice(0, 8)})`;
}

/** A closing in the words of its entry. */
function closedFacts(row: ClosedPeriodTable): Record<string, Json> {
  return { ...closingFactsOf(row), by: row.closed_by, at: row.closed_at };
}
