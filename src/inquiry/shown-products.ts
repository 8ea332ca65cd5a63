import { sql } from "kysely";
import type { RecordKey } from "../crm/model.ts";
import { ofEachCustomer } from "./read-only-ledger.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** A product of an order as the platform shows it now, and the asset number under which it does. */
interface ShownProduct {
  id: string;
  number: string;
  licenseOrderId: string | null;
}

const productsOf = ofEachCustomer(({ db }, customer) => {
  const id = sql<string>`json_extract(body, '$.crmProductId')`;
  return db
    .selectFrom("observation")
    .select([
      id.as("id"),
      sql<string>`substr(subject, 1, length(subject) - length(${id}) - 1)`.as("number"),
      sql<string | null>`json_extract(body, '$.licenseOrderId')`.as("licenseOrderId"),
      sql<string | null>`json_extract(body, '$.channelOrderId')`.as("channelOrderId"),
    ])
    .where("customer_namespace", "=", customer.namespace)
    .where("customer_id", "=", customer.id)
    .where("kind", "=", "product")
    .where("to_at", "is", null)
    .where(id, "is not", null)
    .orderBy("subject");
});

/** The products that a customer is shown to have of an order, by asset number. */
export function shownProducts(ledger: ReadOnlyLedger, customer: RecordKey, channelOrderId: string): ShownProduct[] {
  return productsOf(ledger, customer).filter((product) => product.channelOrderId === channelOrderId);
}
