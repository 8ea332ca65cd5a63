import { sql } from "kysely";
import type { RecordKey } from "../crm/model.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** A product of an order as the platform shows it now, and the asset number under which it does. */
interface ShownProduct {
  id: string;
  number: string;
  licenseOrderId: string | null;
}

/** The products that a customer is shown to have of an order, by asset number. */
export async function shownProducts(
  ledger: ReadOnlyLedger,
  customer: RecordKey,
  channelOrderId: string,
): Promise<ShownProduct[]> {
  const id = sql<string>`json_extract(body, '$.crmProductId')`;
  return await ledger.db
    .selectFrom("observation")
    .select([
      id.as("id"),
      sql<string>`substr(subject, 1, length(subject) - length(${id}) - 1)`.as("number"),
      sql<string | null>`json_extract(body, '$.licenseOrderId')`.as("licenseOrderId"),
    ])
    .where("customer_namespace", "=", customer.namespace)
    .where("customer_id", "=", customer.id)
    .where("kind", "=", "product")
    .where("to_at", "is", null)
    .where(sql<string>`json_extract(body, '$.channelOrderId')`, "=", channelOrderId)
    .where(id, "is not", null)
    .orderBy("subject")
    .execute();
}
