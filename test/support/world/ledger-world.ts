import { onTestFinished } from "vitest";
import { type Json, type JsonObject, sha256 } from "../../../src/base/canonical-json.ts";
import type { DateZones, Customer, Order, RecordKey, Staff, Stream } from "../../../src/crm/model.ts";
import { openInquiry, type Inquiry } from "../../../src/inquiry/inquiry.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import type { StateChange } from "../../../src/engine/model/state.ts";
import type { Operation } from "../../../src/engine/model/operation.ts";
import { planCustomer } from "../../../src/engine/plan/plan.ts";
import { answersWith, canary, readRecord, shownMember } from "./records.ts";
import { openLedger, type HandTime } from "./start.ts";
import { standardRules } from "./rules.ts";
import { trustedAt } from "../trusted.ts";

export const settings = answersWith({ channelOrderIdTemplate: "CO-{id}" });

type AnyRecord = { customers: Customer } | { orders: Order } | { staff: Staff };

/** A ledger in a folder of its own, with a clock that a test moves, and the steps of a run as a test needs them. */
export class LedgerWorld {
  readonly path: string;
  readonly ledger: Ledger;
  readonly #time: HandTime;
  run = "";
  #numbers = 0;

  private constructor(path: string, ledger: Ledger, time: HandTime) {
    this.path = path;
    this.ledger = ledger;
    this.#time = time;
  }

  get now(): number {
    return this.#time.at;
  }

  set now(at: number) {
    this.#time.at = at;
  }

  /** `isNew`: with a ledger that this process makes. */
  static async open(options: { isNew?: true } = {}): Promise<LedgerWorld> {
    const { path, ledger, time } = await openLedger(options);
    const world = new LedgerWorld(path, ledger, time);
    await ledger.identity.name();
    await world.startRun();
    return world;
  }

  async startRun(job = "customers-and-orders"): Promise<string> {
    this.run = await this.ledger.runs.start({
      job,
      kind: "sync",
      trigger: "hand",
      scope: null,
      header: { program: "test" },
    });
    return this.run;
  }

  async inquiry(): Promise<Inquiry> {
    const inquiry = openInquiry(this.path);
    onTestFinished(() => inquiry.close());
    return inquiry;
  }

  /** One whole, complete reading of a stream with these records; `zones` are those of their local dates. */
  async read(
    stream: Stream,
    records: readonly AnyRecord[],
    options: { complete?: boolean; close?: boolean; zones?: DateZones } = {},
  ): Promise<void> {
    const read = await this.ledger.records.startRead(this.run, "erp", stream);
    const items = records.flatMap((item, index) =>
      Object.values(item).map((record: Customer | Order | Staff) =>
        readRecord(stream, record, `${stream}.csv:${index + 2}`),
      ),
    );
    const { zones } = options;
    const dated = items.map(({ record }) => ({ record: { ...record, zones } }));
    await read.ingest(dated);
    await read.finish({
      complete: options.complete !== false,
      whole: true,
      rows: records.length,
      bad: 0,
    });
    if (options.close === true) {
      const rule = { reads: 2, ms: 0, time: async () => trustedAt(this.now) };
      await read.closeWhole(rule);
    }
  }

  /** A row that cannot be used. `raw`: what it was told as first, where the same row is told otherwise now. */
  async reject(
    stream: Stream,
    key: RecordKey | undefined,
    fields: { code?: string; customer?: RecordKey; raw?: string; form?: Json } = {},
  ): Promise<void> {
    const read = await this.ledger.records.startRead(this.run, "erp", stream);
    await read.ingest([
      {
        rejection: {
          rawHash: sha256(`${stream} ${JSON.stringify(key)} ${fields.raw ?? fields.code ?? ""}`),
          place: `${stream}.csv:99`,
          key,
          customer: fields.customer,
          field: "branchCode",
          code: fields.code ?? "missing",
          message: "the field branchCode is missing",
          expected: "a text",
          raw: typeof fields.form === "string" ? fields.form : JSON.stringify(fields.form ?? { name: `${canary} raw` }),
        },
      },
    ]);
    await read.finish({ complete: true, whole: false, rows: 1, bad: 1 });
  }

  /** Links a customer to an enterprise, as after E2 and E3. */
  async link(customer: RecordKey, enterprise: string): Promise<void> {
    const [operation] = await this.plan(customer);
    if (operation?.kind !== "create-enterprise") throw new Error("the customer is not created first");
    await this.done(operation, [
      {
        type: "linked",
        customer,
        link: {
          enterpriseGlobalId: enterprise,
          channelCode: "crm",
          channelCustomerId: customer.id,
          origin: "created",
          examined: true,
        },
      },
      {
        type: "acknowledged",
        customer,
        fields: operation.after,
      },
    ]);
    await this.ledger.state.record(customer, [
      {
        type: "platform-customers",
        enterpriseGlobalId: enterprise,
        customers: [
          { customerId: `${enterprise}-d`, isDefault: true, channelCode: "crm", channelCustomerId: customer.id },
          { customerId: `${enterprise}-n`, isDefault: false, channelCode: "crm", channelCustomerId: customer.id },
        ],
      },
    ]);
    await this.ledger.records.setOutcomes(this.run, [{ stream: "customers", key: customer, outcome: "planned" }]);
  }

  async plan(
    customer: RecordKey,
    members?: { globalId: string; userName: string; name: string }[],
  ): Promise<Operation[]> {
    const loaded = this.ledger.state.load(customer);
    const observed = {
      enterprises: [],
      members: members?.map((member) => shownMember(member.globalId, member)),
      assets: members === undefined ? undefined : [],
    };
    return planCustomer({ ...loaded, observed }, { ...standardRules, settings }).operations;
  }

  async intend(operation: Operation): Promise<string> {
    const hash = sha256(operation.hash);
    return await this.ledger.journal.intend({
      operation,
      runId: this.run,
      wireHash: hash,
      nonce: hash.slice(0, 32),
      context: {},
    });
  }

  async done(operation: Operation, changes: StateChange[], audit: JsonObject = {}): Promise<string> {
    const id = await this.intend(operation);
    await this.ledger.journal.conclude(id, {
      state: "done",
      attempt: { outcome: "done", httpStatus: 200 },
      changes: changes.map((change) => ("operationId" in change ? { ...change, operationId: id } : change)),
      audit: { kind: operation.kind, body: audit },
    });
    return id;
  }

  /** Places a pending order: numbers, E5, licence order L-<id>. Answers the operation's id. */
  async place(customer: RecordKey, order: RecordKey): Promise<string> {
    const operation = await this.orderOperation(customer, order);
    const loaded = this.ledger.state.load(customer);
    const desired = loaded.orders.find((item) => item.key.id === order.id);
    if (desired === undefined) throw new Error(`no pending order ${order.id}`);
    const id = await this.done(
      operation,
      [
        {
          type: "order-placed",
          order,
          customer,
          channelOrderId: `CO-${order.id}`,
          bodyHash: desired.bodyHash,
          version: desired.version,
          products: 1,
          operationId: null,
          origin: "placed",
          licenceOrders: [
            { sequence: 1, licenseType: "cloud_account", platformCustomerId: "E1-d", licenseOrderId: `L-${order.id}` },
          ],
        },
      ],
      { order: `${order.namespace}/${order.id}` },
    );
    await this.ledger.records.setOutcomes(this.run, [{ stream: "orders", key: order, outcome: "planned" }]);
    return id;
  }

  /** The operation that places a pending order, with its numbers fixed. */
  async orderOperation(customer: RecordKey, order: RecordKey): Promise<Operation> {
    this.#numbers += 1;
    await this.ledger.state.record(customer, [
      { type: "numbers-taken", numbers: [`8${String(this.#numbers).padStart(9, "0")}`], operationId: "op_pool" },
    ]);
    await this.ledger.state.write((rows, at) =>
      rows.order.numbers.fixNumbers(
        order,
        customer,
        [{ instanceId: `A-${order.id}`, quantity: 1, given: [], wireNumber: (digits) => digits }],
        at,
      ),
    );
    const operation = (await this.plan(customer)).find(
      (item) => item.subject === `order:${order.namespace}/${order.id}`,
    );
    if (operation === undefined) throw new Error(`no operation places ${order.id}`);
    return operation;
  }

  async addStaff(customer: RecordKey, staff: RecordKey, member: string): Promise<void> {
    const operation = (await this.plan(customer, [])).find((item) => item.kind === "add-staff");
    if (operation === undefined) throw new Error("nobody is added");
    await this.done(
      operation,
      [
        {
          type: "staff-linked",
          staff,
          customer,
          enterpriseGlobalId: "E1",
          memberGlobalId: member,
          origin: "created",
          profile: { userName: "c1", name: "c2", remark: null, mobile: null, departmentId: null },
        },
      ],
      { added: [{ staff: `${staff.namespace}/${staff.id}`, memberGlobalId: member }] },
    );
  }

  async grant(customer: RecordKey, staff: RecordKey, member: string, assetNumber: string): Promise<void> {
    await this.ledger.state.record(customer, [
      {
        type: "asset-granted",
        assetNumber,
        staff,
        customer,
        memberGlobalId: member,
        origin: "granted",
        operationId: null,
      },
    ]);
  }

  async observe(
    customer: RecordKey,
    seen: { kind: string; subject: string; body: Json }[],
    complete = true,
  ): Promise<void> {
    const kinds = ["enterprise", "member", "asset", "product", "package"];
    await this.ledger.state.record(customer, [
      ...seen
        .filter(({ kind }) => !kinds.includes(kind))
        .map((item): StateChange => ({ type: "observed", customer, ...item })),
      { type: "observed-all", customer, kinds, shown: seen.filter(({ kind }) => kinds.includes(kind)) },
      ...(complete ? [] : [{ type: "observation-failed", customer } as const]),
    ]);
  }
}

export async function collect<T>(rows: AsyncIterable<T> | Iterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

/** What M7, M6 and E3 would show of placed orders: every field as it was sent. */
export function shownOf(
  operation: Operation,
  asset: string,
  licenceOrder: string,
): { kind: string; subject: string; body: JsonObject }[] {
  const shown: { kind: string; subject: string; body: JsonObject }[] = [];
  const { channelOrderId, orderList }: JsonObject = operation.payload;
  const showProduct = (sent: JsonObject): void => {
    shown.push({
      kind: "product",
      subject: `${asset}/${textOf(sent["crmProductId"])}`,
      body: {
        id: "7",
        channelOrderId,
        licenseOrderId: licenceOrder,
        crmProductId: sent["crmProductId"],
        licenseType: "cloud_account",
        productUri: sent["productUri"],
        gmsPid: sent["gmsPid"] ?? null,
        appKey: null,
        productName: sent["productName"],
        limitConcurrent: sent["limitConcurrent"],
        limitStartTime: sent["limitStartDate"] === undefined ? null : textOf(sent["limitStartDate"]),
        limitEndTime: sent["limitEndDate"] ?? null,
        limitTimeDuration: sent["limitTimeDuration"],
        trial: sent["trial"],
        trialEndDate: null,
        timeDurationExpression: sent["timeDurationExpression"],
        srcLicenseOrderId: null,
      },
    });
  };
  const list = orderList as unknown as {
    assets: { products: JsonObject[]; merchandises?: JsonObject[] }[];
  }[];
  for (const record of list) {
    for (const item of record.assets) {
      item.products.forEach(showProduct);
      for (const merchandise of item.merchandises ?? []) {
        (merchandise["licenseOrderProductList"] as JsonObject[]).forEach(showProduct);
        shown.push({
          kind: "package",
          subject: `${asset}/${textOf(merchandise["merchandiseNum"])}`,
          body: {
            merchandiseNum: merchandise["merchandiseNum"],
            merchandiseName: merchandise["merchandiseName"],
            parentMerchandiseNum: "",
            channelOrderId,
            licenseOrderId: licenceOrder,
          },
        });
      }
    }
  }
  shown.push({ kind: "asset", subject: asset, body: { assetId: `id-${asset}`, holder: null, borrowed: false } });
  return shown;
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
