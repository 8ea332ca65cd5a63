import { sha256, type JsonObject } from "../../src/base/canonical-json.ts";

/** A row of a table, by column. */
export type Row = Record<string, string | number | null>;

interface Entry {
  kind: string;
  subject: string;
  body: JsonObject;
}

/** Versions of the customer, and orders of it. */
const times = 10;

/** Rows of operations, attempts, audit entries and versions of one customer. */
export const historyRows = times * 2 * 4;

/** Everything that a customer leaves whom the CRM had and has no more. In one piece: one row of each table. */
export function pastCustomer(number: number, at: string, run: string): { rows: [string, Row][]; entries: Entry[] } {
  const digits = String(number).padStart(8, "0");
  const id = `P${digits}`;
  const gid = `g${id}`;
  const customer = { customer_namespace: "past", customer_id: id };
  const ended = { from_at: at, to_at: at };
  const rows: [string, Row][] = [];
  const entries: Entry[] = [];
  const put = (table: string, row: Row): number => rows.push([table, row]);
  const record = (stream: string, of: string, version: number, body: JsonObject): void => {
    if (version === 1) {
      const hashes = { raw_hash: sha256(`${stream} ${of}`), body_hash: sha256(of) };
      const runs = { changed_run: run, outcome_run: run, outcome: "planned", first_seen: at, changed_at: at };
      const state = { version, ...customer, state: "absent", last_read: 1 };
      put("record", { stream, namespace: "past", id: of, source: "past", ...hashes, ...state, ...runs });
    }
    const place = { source: "past", place: `${stream}.csv:${number}`, body: JSON.stringify(body) };
    put("record_version", { stream, namespace: "past", id: of, version, ...ended, ...place });
    const values = { salt: digits, body: stream === "orders" ? "{}" : '{"name":"Company"}', created_at: at };
    put("private_value", { ref: `${stream}/past/${of}`, version, ...values });
  };
  const operation = (kind: string, endpoint: string, time: number, of: Omit<Done, "subject">): string => {
    const operationId = `op_past${endpoint}${digits}${String(time).padStart(3, "0")}`;
    const subject = `${of.stream === "orders" ? "order" : "customer"}:past/${of.record}`;
    const [hash, wire_hash] = [sha256(operationId), sha256(subject)];
    const json = {
      target: "{}",
      payload: JSON.stringify(of.payload),
      context: JSON.stringify(of.context),
      before: "null",
      after: JSON.stringify(of.after),
    };
    const about = { kind, endpoint, stage: endpoint === "E5" ? "orders" : "enterprise", subject, reason: "it is new" };
    const when = { created_at: at, updated_at: at };
    put("operation", {
      id: operationId,
      run_id: run,
      ...customer,
      ...about,
      hash,
      state: "done",
      wire_hash,
      ...json,
      ...when,
      records: JSON.stringify([{ stream: of.stream, namespace: "past", id: of.record }]),
    });
    const attempt = { nonce: hash.slice(0, 32), wire_hash, started_at: at, finished_at: at, outcome: "done" };
    put("attempt", { operation_id: operationId, number: 1, ...attempt, http_status: 200 });
    put("operation_record", {
      stream: of.stream,
      namespace: "past",
      record_id: of.record,
      operation_id: operationId,
    });
    const said = { operation: operationId, endpoint, kind, customer: `past/${id}`, run, state: "done" };
    entries.push({ kind, subject, body: { ...said, intent: hash, wire: wire_hash } });
    return operationId;
  };

  for (let time = 1; time <= times; time += 1) {
    const marker = (field: string): JsonObject => {
      return {
        $private: `customers/past/${id}`,
        field,
        version: time,
        commitment: sha256(`${id} ${field}`).slice(0, 32),
      };
    };
    record("customers", id, time, { namespace: "past", id, ...customerFields(marker) });
    const after = {
      name: sha256(`${id} ${time}`).slice(0, 32),
      branchName: "Branch",
      address: sha256(id).slice(0, 32),
    };
    const payload = {
      crmCustomerId: id,
      customerName: marker("name"),
      branchName: "Branch",
      address: marker("address"),
    };
    const enterprise = { stream: "customers", record: id, payload, context: { acknowledged: after }, after };
    operation("update-enterprise", "E4", time, enterprise);

    const order = `Q${digits}${String(time).padStart(2, "0")}`;
    const assetNumber = `9${digits.slice(1)}${String(time).padStart(2, "0")}`;
    const bodyHash = sha256(order);
    record("orders", order, 1, orderBody(order, id));
    const placed = operation("place-order", "E5", time, {
      stream: "orders",
      record: order,
      ...placing(order, id, marker),
    });
    const how = { channel_order_id: order, body_hash: bodyHash, version: 1, operation_id: placed, origin: "placed" };
    put("placed_order", { namespace: "past", order_id: order, ...ended, ...customer, ...how });
    const unit = { namespace: "past", order_id: order, instance_id: `A-${order}`, unit: 0 };
    put("asset_number", {
      number: assetNumber,
      origin: "pool",
      taken_at: at,
      fixed_at: at,
      wire_number: assetNumber,
      ...unit,
    });
  }
  const channel = { channel_code: "crm", channel_customer_id: id, origin: "created" };
  put("link", { namespace: "past", customer_id: id, ...ended, enterprise_global_id: gid, ...channel });
  return { rows, entries };
}

interface Done {
  subject: string;
  stream: string;
  record: string;
  payload: JsonObject;
  context: JsonObject;
  after: JsonObject;
}

function customerFields(marker: (field: string) => JsonObject): JsonObject {
  const names = ["name", "address", "adminName", "adminAccount", "adminEmail", "adminMobile", "purchaserMobile"];
  return {
    ...Object.fromEntries(names.map((name) => [name, marker(name)])),
    customerType: "company",
    branchCode: "B1",
    branchName: "Branch",
  };
}

function orderBody(order: string, customerId: string): JsonObject {
  const asset = { kind: "asset", id: `A-${order}`, licenseType: "cloud_account", assetNumbers: [], quantity: 1 };
  const product = { kind: "product", id: `${order}-P1`, name: "Product P1", gmsPid: "P1", type: "tool", nodes: 2 };
  const term = { trial: false, timeUnit: "NONE", timeUnitQuantity: 0, term: "0-0-0" };
  return {
    namespace: "past",
    id: order,
    customerId,
    cancelled: false,
    instances: [
      { ...asset, extensions: [] },
      { ...product, ...term, parentId: `A-${order}`, features: [] },
    ],
  };
}

/** Payload, context and result of an order that was placed. In one piece: the body of one call. */
function placing(
  order: string,
  id: string,
  marker: (field: string) => JsonObject,
): Pick<Done, "payload" | "context" | "after"> {
  const people = ["adminName", "adminAccount", "adminEmail"].map((field) => [field, marker(field)]);
  const crmProductId = `${order}-P1`;
  const product = {
    crmProductId,
    parentCrmProductId: `A-${order}`,
    productUri: "P1",
    productName: "Product P1",
    gmsPid: "P1",
    productType: "tool",
    limitConcurrent: 2,
    limitTimeDuration: 0,
    strictMatchWhenDelete: true,
    trial: 0,
    trialEndDate: 0,
    timeUnit: "NONE",
    timeUnitQuantity: 0,
    timeDurationExpression: "0-0-0",
    productFeatures: [],
  };
  const number: JsonObject = { $ref: "assetNumber", of: JSON.stringify(["past", order, `A-${order}`, 0]) };
  const record: JsonObject = {
    sequence: 1,
    customerId: { $ref: "customerId", of: "cloud_account" },
    crmCustomerId: id,
    customerName: marker("name"),
    channelCustomerId: id,
    ...Object.fromEntries(people),
    adminCellNumber: marker("adminMobile"),
    passwordMobile: marker("purchaserMobile"),
    address: marker("address"),
    customerType: "company",
    branchCode: "B1",
    branchName: "Branch",
    enterpriseGlobalId: { $ref: "enterpriseGlobalId" },
    licenseType: "cloud_account",
    orderType: "new_buy",
    assets: [{ assetNos: [number], products: [product] }],
  };
  const sent = {
    sequence: 1,
    licenseType: "cloud_account",
    customerId: `1${id}`,
    numbers: [order],
    products: [crmProductId],
  };
  const bodyHash = sha256(order);
  return {
    payload: { channelCode: "crm", channelOrderId: order, syncMode: "sync", orderList: [record] },
    context: {
      enterpriseGlobalId: `g${id}`,
      channelOrderId: order,
      bodyHash,
      version: 1,
      order: { namespace: "past", id: order },
      secrets: false,
      records: [sent],
    },
    after: {
      version: 1,
      bodyHash,
      assets: [{ id: `A-${order}`, licenseType: "cloud_account", quantity: 1, given: [] }],
    },
  };
}
