import { handInResources } from "../../src/app/resources.ts";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { type JsonObject, sha256 } from "../../src/base/canonical-json.ts";
import { bindingsFrom, bind } from "../../src/engine/deliver.ts";
import { payloadFactsOf } from "../../src/engine/customer.ts";
import { configSchema } from "../../src/config/config.ts";
import { wireText } from "../../src/contract/answer-json.ts";
import {
  withTree,
  type DesiredCustomer,
  type DesiredInstance,
  type OrderWithTree,
} from "../../src/engine/model/desired.ts";
import type { Operation } from "../../src/engine/model/operation.ts";
import { typeOf } from "../../src/engine/model/registry.ts";
import type { Known } from "../../src/engine/model/state.ts";
import { type CustomerNumbers, type CustomerInput, planInputOf } from "../../src/engine/plan/input.ts";
import { newBuyRecords } from "../../src/resources/order/payload.ts";
import { type PrivateMarker, markerKey } from "../../src/engine/model/references.ts";
import { planOrders } from "../../src/resources/order/plan.ts";
import { StandingRejections } from "../../src/engine/plan/rejections.ts";
import { text } from "./arguments.ts";

handInResources();

/**
 * T5: what the payload of one order costs in this process, from the planned order to the bytes of E5 and their hash, in
 * turns with a bare JSON.stringify and sha-256 of the same body; and what it costs with the planning before it. In
 * microseconds, `--rounds` times.
 */

const profile = parse(readFileSync(new URL("../../config/profiles/sandbox.yaml", import.meta.url), "utf8"));
const { assumptions: settings, policies } = configSchema.parse({
  ledger: { path: "not-used.db" },
  sources: {},
  ...profile,
});

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
  crmAsked: [],
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
      since: "2026-10-01T08:00:00.000Z",
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
        since: "2026-10-01T08:00:00.000Z",
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

/** An order whose customer is prepared, and the operation that was planned for it. */
interface Planned {
  operation: Operation<"place-order">;
  numbers: CustomerNumbers;
  order: OrderWithTree;
}

/** What is decided of the order: which operation it takes, with the plan's own hash over its unbound payload. */
function plan(input: CustomerInput): Planned {
  const prepared = planInputOf({ ...input, orders: input.orders.map(withTree) }, settings);
  const { meant, blocks } = planOrders(prepared, { settings, policies });
  const [operation] = new StandingRejections([], { settings, policies, contradicted: new Map() }).operations(
    meant,
  ).operations;
  const [order] = prepared.orders;
  if (operation?.kind !== "place-order" || order === undefined)
    throw new Error(`the order is blocked: ${blocks[0]?.[1].reason}`);
  return { operation, numbers: prepared.numbers, order };
}

/** Its payload alone, as planning makes it. */
function payloadOf({ numbers, order }: Planned, body: DesiredCustomer): Operation<"place-order">["payload"] {
  const orderList = newBuyRecords(settings, { order: order.key, numbers, body, assets: order.tree.assets });
  return {
    channelCode: settings.channelCode ?? "",
    channelOrderId: order.key.id,
    syncMode: settings.syncMode,
    orderList,
  };
}

interface Sendable {
  wire: JsonObject;
  hash: string;
}

/** The payload bound, as the bytes that are sent and their hash, and found to fit the contract. */
function sendable(input: CustomerInput, operation: Operation<"place-order">): Sendable {
  const facts = payloadFactsOf(input.known);
  const bindings = bindingsFrom(facts, settings, {
    privateValue: (value) => privateValues.get(markerKey(value)),
    initialPassword: () => undefined,
    newPassword: () => undefined,
  });
  const bound = bind(operation.payload, bindings);
  if (!bound.ok) throw new Error(`the order cannot be bound: ${JSON.stringify(bound.missing)}`);
  const { wire } = bound;
  const wireHash = sha256(JSON.stringify(["E5", {}, wireText(wire)]));
  const known = (): Known => {
    throw new Error("nothing is answered");
  };
  const made = typeOf(operation).prepare({
    operation,
    wire,
    target: {},
    facts,
    settings,
    shownBefore: [],
    sealed: [],
    known,
  });
  if ("code" in made) throw new Error(made.reason);
  return { wire, hash: wireHash };
}

const repeats = 2_000;

function microseconds(work: () => { length: number }): number {
  const started = performance.now();
  let length = 0;
  for (let index = 0; index < repeats; index += 1) length += work().length;
  if (length === 0) throw new Error("nothing was hashed");
  return ((performance.now() - started) * 1_000) / repeats;
}

/** `payload`: built, bound, checked and hashed; `program`: all of it, from the canonical order on. */
function round(input: CustomerInput): { bare: number; payload: number; program: number } {
  const body = input.desiredCustomer?.body;
  if (body === undefined) throw new Error("the order has no customer");
  const planned = plan(input);
  const { wire } = sendable(input, planned.operation);
  const { operation } = planned;
  return {
    bare: microseconds(() => hash("sha256", JSON.stringify(wire))),
    payload: microseconds(() => sendable(input, { ...operation, payload: payloadOf(planned, body) }).hash),
    program: microseconds(() => sendable(input, plan(input).operation).hash),
  };
}

const { values } = parseArgs({ options: { rounds: { type: "string" } }, strict: false });
const rounds = Number(text(values["rounds"], "rounds"));
const inputs = { plain: customerWith(plain), deep: customerWith(deep) };
// The first two rounds are those in which the code is compiled.
const taken = Array.from({ length: rounds + 2 }, () => ({ plain: round(inputs.plain), deep: round(inputs.deep) }));
process.stdout.write(`${JSON.stringify({ rounds: taken.slice(2) })}\n`);
