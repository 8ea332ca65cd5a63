import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { exitCodes, Problem } from "../../base/errors.ts";
import { formatKey, parseKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Sqlite } from "../database/database.ts";
import { stored } from "../database/stored.ts";
import { replacing } from "./erased-texts.ts";

/** Entries that a person makes by a command, with a reason: nothing is under way that a refusal could lose. */
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
  "period-closed",
  "period-reopened",
  "signed-off",
]);

/** So many private values at most are looked through where words concern nobody in particular. */
const mostOfAll = 100_000;
/** A shorter text is no name. */
const shortest = 3;
/** Of everybody's values, those that are no word of every day: of several words, or with digits. */
const isTelling = /^(?=.*[^\p{L}]).{6,}$/su;

/**
 * Refuses reasons that hold a private value: they stand in the audit record for good, and values where they can be
 * erased. Values are those of the customer that is concerned and of its people; of everybody where it is nobody in
 * particular.
 */
export class ReasonGuard {
  readonly #ofCustomer;
  readonly #ofAll;
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
    const customer = "select customer_namespace as namespace, customer_id as id from";
    const isIt = "namespace = +@namespace and id = +@id";
    const isNamed = "id = @namespace || @id";
    const asked = (text: string) => () => database.prepare<[RecordKey], RecordKey>(`${customer} ${text}`);
    this.#customerOf = new Map([
      ["order", asked(`record where stream = 'orders' and ${isIt}`)],
      ["money", asked(`record where stream = 'orders' and ${isIt}`)],
      ["staff", asked(`record where stream = 'staff' and ${isIt}`)],
      ["hold", asked(`hold where ${isNamed}`)],
      ["operation", asked(`operation where ${isNamed}`)],
    ]);
  }

  /** Throws a usage Problem where the reason of a person's decision, or their name, holds a private value. */
  require({ kind, subject, body }: { kind: string; subject: string; body: JsonObject }): void {
    const { by, reason } = body;
    if (!decided.has(kind) && typeof body["decision"] !== "string") return;
    if (typeof by !== "string" || typeof reason !== "string") return;
    const customer = this.#concerned(subject, body);
    const rows = customer === undefined ? this.#ofAll().iterate(mostOfAll) : this.#ofCustomer().iterate(customer);
    const texts = textsOf(rows);
    // Among everybody there may be who decides: the login of a person is no reason to refuse that person.
    const words = customer === undefined ? reason : `${reason}\n${by}`;
    const folded = words.toLowerCase();
    const near = texts.filter(
      (text) => (customer !== undefined || isTelling.test(text)) && folded.includes(text.toLowerCase()),
    );
    if (near.length === 0 || replacing(near)(words) === words) return;
    const whose = customer === undefined ? "" : ` of the customer ${formatKey(customer)}`;
    throw new Problem({
      code: "reason.names",
      message:
        `${customer === undefined ? "--reason" : "--reason or --by"} repeats personal data${whose}; it ` +
        "would stand in the audit record and in closed books for good, so it is refused, and nothing is decided",
      cure: "name people and customers by their ids, and say it again",
      exitCode: exitCodes.usage,
    });
  }

  /** The customer whom a decision is about; undefined where it is about none, or about many. */
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

function textsOf(rows: Iterable<{ body: string }>): string[] {
  const texts = new Set<string>();
  const add = (value: Json | undefined): void => {
    if (typeof value === "string" && value.trim().length >= shortest) texts.add(value.trim());
    else if (Array.isArray(value)) value.forEach(add);
    else if (isJsonObject(value)) Object.values(value).forEach(add);
  };
  for (const { body } of rows) add(stored<Json>(body));
  return [...texts];
}
