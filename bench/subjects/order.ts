import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import type { JsonObject } from "../../src/base/canonical-json.ts";
import { sha256 } from "../../src/base/canonical-json.ts";
import { bindingsFrom } from "../../src/apply/bindings.ts";
import { payloadFactsOf } from "../../src/operation/payload-facts.ts";
import { configSchema } from "../../src/config/config.ts";
import { batchOrderRequestSchema } from "../../src/contract/order-record.ts";
import { withTree } from "../../src/operation/desired.ts";
import { bind } from "../../src/plan/bind.ts";
import type { CustomerInput } from "../../src/plan/input.ts";
import type { DesiredInstance } from "../../src/operation/desired.ts";
import type { PrivateMarker } from "../../src/operation/references.ts";
import { markerKey } from "../../src/operation/references.ts";
import { planOrders } from "../../src/plan/orders.ts";
import { prepare } from "../../src/plan/prepared.ts";
import { StandingRejections } from "../../src/plan/rejections.ts";
import { text } from "./arguments.ts";

/**
 * T5: what one order costs in this process, from its canonical form to the bytes of E5 and their hash, in turns with a
 * bare JSON.stringify and sha-256 of the same body. In microseconds, `--rounds` times.
 */

const profile = parse(readFileSync(new URL("../../config/profiles/sandbox.yaml", import.meta.url), "utf8"));
const settings = configSchema.parse({ ledger: { path: "not-used.db" }, sources: {}, ...profile }).assumptions;

const privateFields = ["name", "address", "adminName", "adminAccount", "adminEmail", "adminMobile", "purchaserMobile"];
const privateValues = new Map<string, string>();

function marker(field: string): PrivateMarker {
  const made = { $private: "customers/crm/C1", field, version: 1, commitment: sha256(field) };
  privateValues.set(markerKey(made), `a value of ${field}`);
  return made;
}

function product(id: string, parentId: string): DesiredInstance {
  return {
    kind: "product",
    id,
    parentId,
    name: `Product ${id}`,
    gmsPid: `pid-${id}`,
    type: "tool",
    nodes: 5,
    timeUnit: "YEAR",
    timeUnitQuantity: 1,
    term: "1-0-0",
    trial: false,
    features: [],
  };
}

function packageOf(id: string, number: string, parentId: string, parentNumber: string | undefined): DesiredInstance {
  return {
    kind: "package",
    id,
    parentId,
    number,
    name: `Package ${number}`,
    term: "1-0-0",
    ...(parentNumber === undefined ? {} : { parentNumber }),
  };
}

const asset: DesiredInstance = {
  kind: "asset",
  id: "A1",
  licenseType: "cloud_customer",
  quantity: 1,
  assetNumbers: [],
  extensions: [],
};

/** One asset with three products, as Northwind's orders have on average. */
const plain: DesiredInstance[] = [asset, ...["P1", "P2", "P3"].map((id) => product(id, "A1"))];

/** One asset with a product, and packages three levels deep with twelve products. */
const deep: DesiredInstance[] = [
  asset,
  product("P1", "A1"),
  packageOf("K1", "N1", "A1", undefined),
  packageOf("K2", "N2", "K1", "N1"),
  packageOf("K3", "N3", "K2", "N2"),
  ...["K1", "K2", "K3"].flatMap((parent) => [1, 2, 3, 4].map((number) => product(`${parent}P${number}`, parent))),
];

const known: CustomerInput["known"] = {
  link: {
    enterpriseGlobalId: "g1",
    channelCode: "crm",
    channelCustomerId: "C1",
    origin: "created",
    examined: false,
  },
  platformCustomers: [true, false].map((isDefault, index) => ({
    customerId: `${index + 1}`,
    isDefault,
    channelCode: "crm",
    channelCustomerId: "C1",
  })),
  acknowledged: undefined,
  placedOrders: new Map(),
  numbers: [{ number: "8000000001", namespace: "crm", orderId: "O1", instanceId: "A1", unit: 0 }],
  staffLinks: new Map(),
  assignments: [],
  protectedMembers: new Set(),
  enterpriseCode: undefined,
  requests: [],
};

function customerWith(instances: DesiredInstance[]): CustomerInput {
  const key = { namespace: "crm", id: "C1" };
  const order = { namespace: "crm", id: "O1" };
  const fields = Object.fromEntries(privateFields.map((field) => [field, marker(field)]));
  return {
    customer: key,
    desiredCustomer: {
      key,
      version: 1,
      bodyHash: sha256("customer"),
      state: "current",
      pending: false,
      body: {
        ...key,
        name: marker("name"),
        ...fields,
        customerType: "company",
        branchCode: "B1",
        branchName: "Branch B1",
      },
    },
    orders: [
      withTree({
        key: order,
        version: 1,
        bodyHash: sha256("order"),
        state: "current",
        pending: true,
        body: { ...order, customerId: key.id, cancelled: false, instances },
      }),
    ],
    staff: [],
    known,
    observed: { enterprises: undefined, members: undefined, assets: undefined },
    privateValues,
    rejections: [],
    quarantinedInScope: 0,
    sourceWithStrayRecord: undefined,
  };
}

interface Built {
  wire: unknown;
  hash: string;
}

function build(input: CustomerInput): Built {
  const prepared = prepare({ ...input, orders: input.orders.map(withTree) }, settings);
  const { meant, blocks } = planOrders(prepared, settings);
  const [operation] = new StandingRejections([], settings).operations(meant).operations;
  const payload: JsonObject | undefined = operation?.payload;
  if (payload === undefined) throw new Error(`the order is blocked: ${blocks[0]?.[1].reason}`);
  const bindings = bindingsFrom(payloadFactsOf(input.known), settings, {
    privateValue: (value) => privateValues.get(markerKey(value)),
    initialPassword: () => undefined,
  });
  const bound = bind(payload, bindings);
  if (!bound.ok) throw new Error(`the order cannot be bound: ${JSON.stringify(bound.missing)}`);
  const request = batchOrderRequestSchema.safeParse(bound.wire);
  if (!request.success) throw new Error(`the order does not fit the contract: ${request.error.message}`);
  return { wire: bound.wire, hash: sha256(JSON.stringify(["E5", {}, JSON.stringify(bound.wire)])) };
}

const repeats = 2_000;

function microseconds(work: () => { length: number }): number {
  const started = performance.now();
  let length = 0;
  for (let index = 0; index < repeats; index += 1) length += work().length;
  if (length === 0) throw new Error("nothing was hashed");
  return ((performance.now() - started) * 1_000) / repeats;
}

function round(input: CustomerInput): { bare: number; program: number } {
  const { wire } = build(input);
  return {
    bare: microseconds(() => hash("sha256", JSON.stringify(wire))),
    program: microseconds(() => build(input).hash),
  };
}

const { values } = parseArgs({ options: { rounds: { type: "string" } }, strict: false });
const rounds = Number(text(values["rounds"], "rounds"));
const inputs = { plain: customerWith(plain), deep: customerWith(deep) };
// The first two rounds are those in which the code is compiled.
const taken = Array.from({ length: rounds + 2 }, () => ({ plain: round(inputs.plain), deep: round(inputs.deep) }));
process.stdout.write(`${JSON.stringify({ rounds: taken.slice(2) })}\n`);
