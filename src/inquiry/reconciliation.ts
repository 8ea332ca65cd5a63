import { sql, type NotNull } from "kysely";
import type { RecordKey } from "../crm/model.ts";
import { compareCustomer } from "../report/reconciliation/compare-customer.ts";
import {
  agreementOf,
  differencesOf,
  type AgreementCount,
  type Comparison,
  type Difference,
  type ReconciliationView,
  type OrderCase,
} from "../report/reconciliation/case.ts";
import { asOf } from "./audit.ts";
import { customerCase, fixedRows } from "./customer-case.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";
import { stored } from "../ledger/database/damage.ts";
import type { KeptOrder } from "../engine/model/desired.ts";
import type { OrderSides } from "../report/order-tree.ts";
import { orderRows } from "../report/reconciliation/compare-orders.ts";
import { isSameKey } from "../engine/model/state.ts";

interface DifferencesOfCustomer {
  customer: RecordKey;
  seenAt: string;
  differences: Difference[];
  neverShown: ReadonlyMap<string, string>;
}

/** Differences of each linked customer with a complete reading from `since` on, in key order. */
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

/** How many things of each kind match, over all customers. */
export async function agreement(ledger: ReadOnlyLedger): Promise<AgreementCount[]> {
  const view = await reconciliationView(ledger);
  function* rows(): Generator<Comparison, void, void> {
    for (const key of ledger.rows(everyCustomer(ledger))) yield* compareCustomer(customerCase(ledger, key), view);
  }
  return agreementOf(rows());
}

/** Every customer in the CRM, the ledger or the quarantine, in key order. */
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

const mostThings = 2_000;

/** An order's three sides for its present customer. Undefined: never usable; `tooLarge`: too large for a page. */
export async function orderSides(ledger: ReadOnlyLedger, key: RecordKey): Promise<OrderSides | "tooLarge" | undefined> {
  const row = await ledger.db
    .selectFrom("record as r")
    .innerJoin("record_version as v", (join) =>
      join
        .onRef("v.stream", "=", "r.stream")
        .onRef("v.namespace", "=", "r.namespace")
        .onRef("v.id", "=", "r.id")
        .onRef("v.version", "=", "r.version"),
    )
    .select(["r.customer_namespace", "r.customer_id", "v.body"])
    .where("r.stream", "=", "orders")
    .where("r.namespace", "=", key.namespace)
    .where("r.id", "=", key.id)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { instances } = stored<KeptOrder>(row.body);
  const customer = { namespace: row.customer_namespace, id: row.customer_id };
  const numbers = fixedRows(ledger, customer).filter(
    (one) => one.namespace === key.namespace && one.order_id === key.id,
  );
  if (instances.length + numbers.length > mostThings) return "tooLarge";
  const item = customerCase(ledger, customer);
  const orders = item.orders.filter((one) => isSameKey(one.key, key));
  const rows = orderRows({ ...item, orders }, { visibleTypes: await visibleTypes(ledger, orders), asOf: null });
  const own = new Set(orders.flatMap((order) => order.numbers));
  return {
    things: thingsOf(instances),
    // Another order may also have bought something under this asset.
    rows: rows.filter(({ inCrm, sent, channelOrderId }) => inCrm || sent || own.has(channelOrderId ?? "")),
    assetOf: new Map(
      numbers.flatMap(({ wire_number: number, instance_id: id }) => (number === null ? [] : [[number, id ?? ""]])),
    ),
  };
}

function thingsOf(instances: KeptOrder["instances"]): OrderSides["things"] {
  return instances.flatMap((one): OrderSides["things"][number][] => {
    if (one.kind === "asset") return [{ kind: "asset", id: one.id, item: one.id, parent: null, name: one.licenseType }];
    if (one.kind === "package")
      return [{ kind: "package", id: one.id, item: one.number, parent: one.parentId, name: one.name }];
    if (one.kind === "product")
      return [{ kind: "product", id: one.id, item: one.id, parent: one.parentId, name: one.name }];
    return [];
  });
}

/** The licence types of an order that the platform has shown, of any customer. */
async function visibleTypes({ db }: ReadOnlyLedger, orders: readonly OrderCase[]): Promise<ReadonlySet<string>> {
  const sides = orders.flatMap(({ products, packages }) => [products, packages]);
  const items = sides.flatMap(({ wanted, placed, sent }) => [...wanted, ...placed, ...sent]);
  const types = JSON.stringify([...new Set(items.map(({ licenseType }) => licenseType))]);
  const { rows } = await sql<{ type: string }>`select t.value as type from json_each(${types}) t
    where exists (select 1 from shown_licence_type s where s.shown_by = 'product' and s.license_type = t.value)
      or exists (select 1 from observation o where o.kind = 'product' and o.body ->> '$.licenseType' = t.value)`.execute(
    db,
  );
  return new Set(rows.map(({ type }) => type));
}
