/**
 * The one list of places where a personal value can be. An erasure searches the columns that this list names, and tells
 * people about the places beside the ledger. Tests compare it with the schema, so that a new column needs a decision, and
 * with the table in `docs/reference/personal-data.md`.
 */

/**
 * How an erasure treats a place.
 * - `wiped`: it deletes the value in the private table.
 * - `emptied`: it deletes the text of the erased record.
 * - `searched`: it replaces the private texts of the erased record by a mark.
 * - `forgotten`: it deletes the position of a read if the position contains such a text; the next read starts again.
 * - `kept`: the place holds only commitments or hashes, or nobody can change it.
 */
export type Erasing = "wiped" | "emptied" | "searched" | "forgotten" | "kept";

export interface PlaceOfPersonal {
  table: string;
  columns: readonly string[];
  what: string;
  erasing: Erasing;
  /** For `searched`: the rows of one customer. Without it, rows of no or many customers. */
  theirs?: string;
}

const ofCustomer = "customer_namespace = @namespace and customer_id = @id";
const ofTheirs = "namespace = @namespace and customer_id = @id";
const operations = `(select id from operation where ${ofCustomer})`;
const records = `(select stream, namespace, id from record where ${ofCustomer})`;
/** Records that waited under this customer, even if they moved since. */
const waited = `(select w.stream, w.namespace, w.id from record_stood w join record_version v on v.stream = w.stream
  and v.namespace = w.namespace and v.id = w.id where w.deferred_reason is not null
  and v.body ->> '$.customerId' = @id and coalesce(v.body ->> '$.customerNamespace', v.namespace) = @namespace)`;
const bad = `(select id from quarantine where ${ofCustomer})`;

const words = "what of the words of a service or a source surely is of no person";
const decided = "words of a person who decided; phone numbers and e-mail addresses are refused";

function searched(table: string, columns: readonly string[], what: string, theirs?: string): PlaceOfPersonal {
  return { table, columns, what, erasing: "searched", ...(theirs === undefined ? {} : { theirs }) };
}

function kept(table: string, columns: readonly string[], what: string): PlaceOfPersonal {
  return { table, columns, what, erasing: "kept" };
}

const commitments = "commitments";

export const placesOfPersonal: readonly PlaceOfPersonal[] = [
  {
    table: "private_value",
    columns: ["body", "sealed", "salt", "name_key", "login_key"],
    what: "the values, raw forms, answers of services and passwords themselves",
    erasing: "wiped",
  },
  {
    table: "record_version",
    columns: ["place"],
    what: "where a source gave the record, with its key in a database",
    erasing: "emptied",
  },
  { table: "quarantine", columns: ["place"], what: "the same of a row that cannot be used", erasing: "emptied" },
  { table: "quarantine_stood", columns: ["place"], what: "the same", erasing: "emptied" },
  { table: "record", columns: ["raw_hash"], what: "a salted hash of the raw form", erasing: "emptied" },
  { table: "quarantine", columns: ["raw_hash"], what: "the same", erasing: "emptied" },
  {
    table: "read_checkpoint",
    columns: ["position"],
    what: "where a reading that was cut goes on",
    erasing: "forgotten",
  },
  { table: "source_read", columns: ["cursor"], what: "where the next reading of changes begins", erasing: "forgotten" },
  searched("operation", ["evidence", "outcome_message"], words, ofCustomer),
  searched("operation_stood", ["evidence", "outcome_message"], words, `operation_id in ${operations}`),
  searched("attempt", ["detail"], words, `operation_id in ${operations}`),
  searched("rejection", ["reason"], words, ofCustomer),
  searched("record", ["deferred_reason"], words, ofCustomer),
  searched(
    "record_stood",
    ["deferred_reason"],
    words,
    `(stream, namespace, id) in ${records} or (stream, namespace, id) in ${waited}`,
  ),
  searched("quarantine", ["message", "expected"], "the problem of a row, without its values", ofCustomer),
  searched("quarantine_stood", ["message", "expected"], "the same", `${ofCustomer} or id in ${bad}`),
  searched("difference", ["detail"], "what a reading showed", ofTheirs),
  searched("question", ["reason"], decided, ofCustomer),
  searched("decision", ["reason"], decided, ofCustomer),
  searched("manual_request", ["details", "reason", "answer"], decided, ofCustomer),
  searched("unlinked", ["reason"], decided, ofTheirs),
  searched("meta", ["value"], "why it was paused, and by whom", "key = 'pause'"),
  searched("by_hand", ["reason"], decided, `(stream, namespace, id) in ${records}`),
  searched("moved_order", ["unclear"], words, ofCustomer),
  searched("unread_customer", ["why"], words, "namespace = @namespace and id = @id"),
  searched("run", ["summary"], words),
  searched("alert", ["body"], words),
  searched("alert_told", ["body"], words),
  searched("delivery", ["problem"], words),
  searched("source_read", ["problem", "details"], words),
  searched("assumption_met", ["evidence", "reason"], words),
  searched("open_circuit", ["reason"], words),
  searched("head_place", ["problem"], words),
  kept("record_version", ["body"], commitments),
  kept("staff_link", ["profile"], commitments),
  kept("acknowledged", ["fields"], commitments),
  kept("operation", ["target", "payload", "before", "after", "context"], commitments),
  kept("record", ["body_hash", "previous_hash"], "hashes over commitments"),
  kept("operation", ["hash", "wire_hash"], "hashes over commitments, or with the salts of the private values"),
  kept("attempt", ["wire_hash"], "the same"),
  kept("rejection", ["hash"], "the same"),
  kept("hold", ["hash"], "the same"),
  kept("applied_plan", ["hash"], "the same"),
  kept("observation", ["body"], "ids, numbers, products and names of fields; never the value of a private field"),
  kept("audit", ["body"], "ids, counts, codes, commitments, and reason and name of a person who decided"),
  kept("sign_off", ["reason", "by"], "the same: it cannot be changed"),
  kept("closed_period", ["reason", "closed_by", "reopened_by", "reopened_reason"], "the same: it cannot be changed"),
];

export const searchedPlaces = placesOfPersonal.filter(({ erasing }) => erasing === "searched");

/** Places outside the ledger's file, and how their data is erased. */
export const placesBeside: readonly { what: string; where: string; erasing: string }[] = [
  {
    what: "the log of the ledger (-wal, -shm)",
    where: "beside it",
    erasing: "emptied with the erasure; status says so where a reader prevents it",
  },
  {
    what: "temporary copies and raw rows of a read",
    where: "`crm-sync-unfinished-…` beside it, and files without a name",
    erasing: "removed when the process ends, or by the next command",
  },
  { what: "backups and copies from before now", where: "wherever the ledger is copied to", erasing: "by people" },
  { what: "reports and plans with names", where: "wherever they were filed or mailed", erasing: "by people" },
  {
    what: "closed periods, where a reason in them or the words of a service repeat any of it",
    where: "`periods` beside the ledger",
    erasing: "by people",
  },
  { what: "exports of the CRM", where: "the folders of its files", erasing: "by people" },
  {
    what: "logs of other programs",
    where: "proxies, the CRM and the services; the log of crm-sync holds none",
    erasing: "by people",
  },
];

export const leftToPeopleBeside = placesBeside
  .filter(({ erasing }) => erasing === "by people")
  .map(({ what, where }) => ({ what, where }));
