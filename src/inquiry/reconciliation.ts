import { sql } from "kysely";
import type { NotNull } from "kysely";
import type { RecordKey } from "../crm/model.ts";
import { compareCustomer } from "../report/reconciliation/compare-customer.ts";
import { AgreementTally, differencesOf } from "../report/reconciliation/case.ts";
import type { AgreementCount, Comparison, Difference, ReconciliationView } from "../report/reconciliation/case.ts";
import { asOf } from "./audit.ts";
import { customerCase } from "./customer-case.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** What a whole reading of a customer showed otherwise than it was sent, and when that was. */
export interface DifferencesOfCustomer {
  customer: RecordKey;
  seenAt: string;
  differences: Difference[];
  /** Licence types of what was bought and of which no product was ever shown, and when the first of it was bought. */
  neverShown: ReadonlyMap<string, string>;
}

/** The same of every linked customer that was read whole at `since` or later, in key order. */
export async function* differences(
  ledger: ReadOnlyLedger,
  since: string,
): AsyncGenerator<DifferencesOfCustomer, void, void> {
  const view = await reconciliationView(ledger);
  for (const { seenAt, ...customer } of ledger.rows(readSince(ledger, since))) {
    const rows = compareCustomer(customerCase(ledger, customer), view);
    const neverShown = typesNeverShown(rows, view);
    yield { customer, seenAt, differences: differencesOf(rows, seenAt), neverShown };
  }
}

/** Licence types of products that were bought and of which the platform has never shown one, with when that was. */
function typesNeverShown(rows: readonly Comparison[], { visibleTypes }: ReconciliationView): Map<string, string> {
  const types = new Map<string, string>();
  for (const { level, sent, shown, licenseType, at } of rows) {
    if (level !== "product" || !sent || shown === true || licenseType === undefined || typeof at !== "string") continue;
    const before = types.get(licenseType);
    if (!visibleTypes.has(licenseType) && (before === undefined || at < before)) types.set(licenseType, at);
  }
  return types;
}

function readSince({ db }: ReadOnlyLedger, since: string) {
  return db
    .selectFrom("observation_read as r")
    .innerJoin("link as l", (join) =>
      join
        .onRef("l.namespace", "=", "r.customer_namespace")
        .onRef("l.customer_id", "=", "r.customer_id")
        .on("l.to_at", "is", null),
    )
    .select(["r.customer_namespace as namespace", "r.customer_id as id", "r.seen_at as seenAt"])
    .where("r.complete", "=", sql.lit(1))
    .where("r.seen_at", ">=", since)
    .orderBy("r.customer_namespace")
    .orderBy("r.customer_id");
}

/** How much of each kind of thing the platform shows as meant, over everything there is. */
export async function agreement(ledger: ReadOnlyLedger): Promise<AgreementCount[]> {
  const tally = new AgreementTally();
  const view = await reconciliationView(ledger);
  for (const key of ledger.rows(everyCustomer(ledger)))
    for (const row of compareCustomer(customerCase(ledger, key), view)) tally.add(row);
  return tally.counts();
}

/** Every customer that the CRM, the ledger or the quarantine names, in key order. */
export function everyCustomer({ db }: ReadOnlyLedger) {
  const ofRecords = db.selectFrom("record").select(["customer_namespace as namespace", "customer_id as id"]);
  const linked = db.selectFrom("link").select(["namespace", "customer_id as id"]).where("to_at", "is", null);
  const inQuarantine = db
    .selectFrom("quarantine")
    .select(["customer_namespace as namespace", "customer_id as id"])
    .where("state", "<>", sql.lit("resolved"))
    .where("customer_id", "is not", null)
    .$narrowType<{ namespace: NotNull; id: NotNull }>();
  return ofRecords.union(linked).union(inQuarantine).orderBy("namespace").orderBy("id");
}

/** What is the same for all customers of one state of the ledger. */
export async function reconciliationView(ledger: ReadOnlyLedger): Promise<ReconciliationView> {
  const type = sql<string>`json_extract(body, '$.licenseType')`;
  const types = await ledger.db
    .selectFrom("observation")
    .select(type.as("type"))
    .distinct()
    .where("kind", "=", sql.lit("product"))
    .where(type, "is not", null)
    .union(
      ledger.db
        .selectFrom("shown_licence_type")
        .select("license_type as type")
        .where("shown_by", "=", sql.lit("product")),
    )
    .execute();
  return { visibleTypes: new Set(types.map((row) => row.type)), asOf: await asOf(ledger) };
}
