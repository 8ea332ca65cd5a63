import { isJsonObject, parseJson, type Json, type JsonObject } from "../../base/canonical-json.ts";
import { exitCodes, Problem } from "../../base/errors.ts";
import { formatKey, parseKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { nameKey } from "../../crm/name-keys.ts";
import type { Sqlite } from "../database/database.ts";
import { stored } from "../database/damage.ts";
import { replacing } from "./erased-texts.ts";

/** Entries of a person's command with a reason. Refusing one loses no work in progress. */
const decided: ReadonlySet<string> = new Set([
  "hold-approved",
  "hold-rejected",
  "operation-approved",
  "rejection-taken-back",
  "linked-by-hand",
  "unlinked-by-hand",
  "request-made",
  "request-withdrawn",
  "assumption-accepted",
  "done-by-hand",
  "erased",
  "period-closed",
  "period-reopened",
  "signed-off",
  "paused",
  "resumed",
]);

/** The check against all values stops after this many. Names and account names beyond have an index. */
const mostOfAll = 100_000;
const shortest = 3;
/** Values that are no everyday word: several words, or with digits. */
const isTelling = /^(?=.*[^\p{L}]).{6,}$/su;
/** For quarantined rows, whose fields are unknown: several words, e-mail and phone numbers. */
const isTellingInRow = /^(?:.*\p{L}.*\s.*|.*\s.*\p{L}.*|.*@.*|[+(0][\d\s()/-]{5,})$/su;
/** Dates, instants, amounts, and numbers too short for a phone. */
const isFigure = /^(?:\d{4}-\d\d-\d\d.*|[-+]?[\d.,' ]+[.,]\d{1,4}|\P{L}{0,5})$/su;
const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"));

interface QuarantinedForm {
  body: string;
  id: string | null;
  customer: string | null;
}

/**
 * The audit log keeps reasons for good, but values must be erasable. Compares with the values of the affected customer,
 * its staff and the quarantined row. If none is affected, with everybody's. Throws a usage Problem.
 */
export class ReasonGuard {
  readonly #ofCustomer;
  readonly #ofAll;
  readonly #named;
  readonly #ofRow;
  readonly #ofAllRows;
  readonly #customerOf;

  constructor(database: Sqlite) {
    this.#ofCustomer = () =>
      database.prepare<[RecordKey], { body: string }>(
        `select p.body from private_value p where p.body is not null and p.ref in (
           select 'customers/' || @namespace || '/' || @id union all
           select 'staff/' || r.namespace || '/' || r.id from record r
             where r.customer_namespace = @namespace and r.customer_id = @id and +r.stream = 'staff')`,
      );
    this.#ofAll = () =>
      database.prepare<[number], { body: string }>(
        `select body from private_value where (ref > 'customers/' and ref < 'customers0'
           or ref > 'staff/' and ref < 'staff0') and body is not null limit ?`,
      );
    this.#named = () =>
      database.prepare<[string]>(
        `select 1 from json_each(?) part where exists (select 1 from private_value where name_key = part.value)
          or exists (select 1 from private_value where login_key = part.value) limit 1`,
      );
    const forms = `select p.body, q.record_id as id, q.customer_id as customer from quarantine q
      join private_value p on p.ref = q.raw_ref and p.version = 1 where p.body is not null`;
    this.#ofRow = () => database.prepare<[string], QuarantinedForm>(`${forms} and q.id = +?`);
    this.#ofAllRows = () => database.prepare<[number], QuarantinedForm>(`${forms} limit ?`);
    const customer = "select customer_namespace as namespace, customer_id as id from";
    const isIt = "namespace = +@namespace and id = +@id";
    const isNamed = "id = @namespace || @id";
    const asked = (text: string) => () => database.prepare<[RecordKey], RecordKey>(`${customer} ${text}`);
    this.#customerOf = new Map([
      ["order", asked(`record where stream = 'orders' and ${isIt}`)],
      ["money", asked(`record where stream = 'orders' and ${isIt}`)],
      ["staff", asked(`record where stream = 'staff' and ${isIt}`)],
      ["hold", asked(`question where ${isNamed}`)],
      ["operation", asked(`operation where ${isNamed}`)],
    ]);
  }

  require({ kind, subject, body }: { kind: string; subject: string; body: JsonObject }): void {
    const { by, reason } = body;
    if (!decided.has(kind) && typeof body["decision"] !== "string") return;
    if (typeof by !== "string" || typeof reason !== "string") return;
    const row = quarantinedIn(body);
    if (row !== undefined && repeats(`${reason}\n${by}`, formTexts(this.#ofRow().iterate(row))))
      throw refused("--reason or --by", ` of the row ${row} in quarantine`);
    // Erased data is gone already; `Erasure` checks this reason itself.
    const customer = kind === "erased" ? undefined : this.#concerned(subject, body);
    if (customer !== undefined) {
      if (repeats(`${reason}\n${by}`, textsOf(this.#ofCustomer().iterate(customer))))
        throw refused("--reason or --by", ` of the customer ${formatKey(customer)}`);
      return;
    }
    // `by` is not checked here: the deciding person may be among the values.
    const texts = textsOf(this.#ofAll().iterate(mostOfAll)).filter((text) => isTelling.test(text));
    const inRows = formTexts(this.#ofAllRows().iterate(mostOfAll)).filter((text) => isTellingInRow.test(text));
    const isNamed = this.#named().get(JSON.stringify(namesIn(reason))) !== undefined;
    if (isNamed || repeats(reason, [...texts, ...inRows])) throw refused("--reason", "");
  }

  /** The customer that a decision affects. Undefined for none or many. */
  #concerned(subject: string, body: JsonObject): RecordKey | undefined {
    if (typeof body["customer"] === "string") return parseKey(body["customer"]);
    const about = typeof body["blocker"] === "string" ? body["blocker"] : subject;
    const colon = about.indexOf(":");
    const [kind, name] = [about.slice(0, colon), about.slice(colon + 1)];
    if (kind === "customer") return parseKey(name);
    const key = name.includes("/") ? parseKey(name) : { namespace: name, id: "" };
    return this.#customerOf.get(kind)?.().get(key);
  }
}

const wordsOfName = 12;

/** Parts of a text that may be names, as keys of the index. */
function namesIn(text: string): string[] {
  const words = [...text.matchAll(/[\p{L}\p{N}_]+/gu)];
  const parts = words.flatMap(({ index }, from) =>
    words.slice(from, from + wordsOfName).flatMap((last) => {
      const end = last.index + last[0].length;
      const part = text.slice(index, end);
      return [part, `${part}${/^\S*/u.exec(text.slice(end))?.[0] ?? ""}`];
    }),
  );
  const telling = [...new Set(parts)].filter((part) => isTelling.test(part));
  return telling.flatMap((part) => [nameKey("company", part), nameKey("person", part)]).filter((key) => key !== null);
}

function quarantinedIn({ blocker }: JsonObject): string | undefined {
  const start = "quarantined:";
  return typeof blocker === "string" && blocker.startsWith(start) ? blocker.slice(start.length) : undefined;
}

function repeats(words: string, texts: readonly string[]): boolean {
  const folded = words.toLowerCase();
  const near = texts.filter((text) => folded.includes(text.toLowerCase()));
  return near.length > 0 && replacing(near)(words) !== words;
}

function refused(options: string, whose: string): Problem {
  return new Problem({
    code: "reason.names",
    message:
      `nothing was decided: ${options} contains personal data${whose}, and the audit log and closed periods would ` +
      "keep it for good",
    cure: "write ids of people and customers instead of names, then try again",
    exitCode: exitCodes.usage,
  });
}

function textsOf(rows: Iterable<{ body: string }>): string[] {
  const texts = new Set<string>();
  for (const { body } of rows) addTexts(stored<Json>(body), texts);
  return [...texts];
}

function formTexts(rows: Iterable<QuarantinedForm>): string[] {
  const all = new Set<string>();
  for (const { body, id, customer } of rows) {
    const texts = new Set<string>();
    addTexts(readForm(body), texts);
    for (const text of texts)
      for (const part of text.split(/[;,:=|<>"\p{Cc}]/u)) if (part.trim().length >= shortest) texts.add(part.trim());
    for (const text of texts)
      if (text !== id && text !== customer && !isFigure.test(text) && !currencies.has(text)) all.add(text);
  }
  return [...all];
}

function readForm(body: string): Json {
  try {
    return parseJson(body);
  } catch {
    return body;
  }
}

function addTexts(value: Json | undefined, into: Set<string>): void {
  if (typeof value === "string" && value.trim().length >= shortest) into.add(value.trim());
  else if (Array.isArray(value)) for (const item of value) addTexts(item, into);
  else if (isJsonObject(value)) for (const item of Object.values(value)) addTexts(item, into);
}
