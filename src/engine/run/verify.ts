import type { Json, JsonObject } from "../../base/canonical-json.ts";
import type { ObservedMember, SnapshotReader } from "../../platform/snapshot.ts";
import type { MerchandiseNode, ProductInstance } from "../../contract/asset-contents.ts";
import type { ShownOfCustomer } from "../../ledger/state/enterprise-state.ts";
import { handedIn } from "../model/registry.ts";
import type { StateChange, ShownThing } from "../model/state.ts";
import { toInstant } from "../../base/clock.ts";
import { failureOf, stackOf } from "../../base/errors.ts";
import { channelCodesOf } from "../../contract/assumption-settings.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { workInLanes } from "../../base/lanes.ts";
import type { RunDependencies, RunRequest } from "./request.ts";

const shownKinds = ["enterprise", "member", "asset", "product", "package", "loan", "twice"] as const;

type LinkedCustomer = Pick<ShownOfCustomer, "customer" | "link">;

export interface Verified extends ShownOfCustomer {
  assets: number;
  products: number;
  members: number;
}

/** Makes no writing call. Throws if a reading failed: then nothing is recorded. Records no values of people. */
export async function verifyCustomer(
  { ledger, reader }: { ledger: Ledger; reader: SnapshotReader },
  { customer, link }: LinkedCustomer,
  signal: AbortSignal | undefined,
): Promise<Verified> {
  if (link === undefined) return { customer, link, assets: 0, products: 0, members: 0, changes: [] };
  const differing = await differingFields(ledger, customer);
  const { enterprises, members, rows, loans, contents } = await reader.of(customer, signal).everything(link);
  const shown: ShownThing[] = [];
  const observe = (kind: (typeof shownKinds)[number], subject: string, body: Json): void => {
    shown.push({ kind, subject, body });
  };
  for (const enterprise of enterprises) {
    observe("enterprise", enterprise.enterpriseGlobalId, {
      customers: enterprise.customers.map((item) => ({ customerId: item.customerId, isDefault: item.isDefault })),
    });
  }
  for (const member of members) {
    const { deleted, assetNums, globalId } = member;
    const otherwise = differing(member);
    observe("member", globalId, {
      deleted,
      assetNums: [...assetNums].sort(),
      ...(otherwise.length === 0 ? {} : { otherwise }),
    });
  }
  for (const { lock, assetId, lent, borrower } of loans) observe("loan", lock, { assetId, lent, borrower });
  let assets = 0;
  let products = 0;
  const types = new Set<string>();
  for (const [assetNum, times] of shownTwice(rows.map((row) => row.assetNum)))
    observe("twice", `asset ${assetNum}`, { assetNum, times });
  for await (const { asset, products: held, packages } of contents) {
    assets += 1;
    observe("asset", asset.assetNum, { assetId: asset.assetId, holder: asset.holder, borrowed: asset.borrowed });
    const ids = held.flatMap(({ crmProductId }) => crmProductId ?? []);
    for (const [crmProductId, times] of shownTwice(ids)) {
      const { assetNum } = asset;
      observe("twice", `product ${assetNum}/${crmProductId}`, { assetNum, crmProductId, times });
    }
    products += held.length;
    for (const { licenseType } of held) if (licenseType !== null) types.add(licenseType);
    for (const [id, body] of together(held, (product) => product.crmProductId ?? product.id, productBody))
      observe("product", `${asset.assetNum}/${id}`, body);
    for (const [id, body] of together(packages, (item) => item.merchandiseNum ?? item.id, packageBody))
      observe("package", `${asset.assetNum}/${id}`, body);
  }
  const changes: StateChange[] = [
    { type: "observed-all", customer, kinds: shownKinds, shown },
    { type: "licence-types-shown", types: [...types] },
  ];
  return { customer, link, assets, products, members: members.filter(({ deleted }) => !deleted).length, changes };
}

async function differingFields(ledger: Ledger, customer: RecordKey): Promise<(member: ObservedMember) => string[]> {
  const resources = handedIn().resources.flatMap(({ differing }) => differing ?? []);
  const all = await Promise.all(resources.map(async (differing) => await differing(ledger, customer)));
  return (member) => all.flatMap((fieldsOf) => fieldsOf(member));
}

/** By name. Further rows of a name, such as an old form, are listed with the first. */
function together<Row extends { id: string }>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  bodyOf: (row: Row) => JsonObject,
): Map<string, JsonObject> {
  const named = Map.groupBy(
    rows.toSorted((left, right) => (left.id < right.id ? -1 : 1)),
    nameOf,
  );
  return new Map(
    [...named].map(([name, same]) => {
      const [body = {}, ...others] = same.map(bodyOf);
      return [name, others.length === 0 ? body : { ...body, others }];
    }),
  );
}

function shownTwice(names: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > 1);
}

function packageBody(item: MerchandiseNode): JsonObject {
  const { merchandiseNum, merchandiseName, parentMerchandiseNum, channelOrderId, licenseOrderId } = item;
  return { merchandiseNum, merchandiseName, parentMerchandiseNum, channelOrderId, licenseOrderId };
}

function productBody(product: ProductInstance): JsonObject {
  return {
    id: product.id,
    channelOrderId: product.channelOrderId ?? null,
    licenseOrderId: product.licenseOrderId ?? null,
    crmProductId: product.crmProductId ?? null,
    licenseType: product.licenseType ?? null,
    productUri: product.productUri ?? null,
    gmsPid: product.gmsPid ?? null,
    appKey: product.appKey ?? null,
    productName: product.productName ?? null,
    limitConcurrent: product.limitConcurrent ?? null,
    limitStartTime: product.limitStartTime ?? null,
    limitEndTime: product.limitEndTime ?? null,
    limitTimeDuration: product.limitTimeDuration ?? null,
    trial: product.trial ?? null,
    trialEndDate: product.trialEndDate ?? null,
    timeDurationExpression: product.timeDurationExpression ?? null,
    srcLicenseOrderId: product.srcLicenseOrderId ?? null,
  };
}

const page = 200;

const keptTogether = 100;

export interface ReadBack {
  customers: number;
  failed: number;
  unclear: number;
  defects: number;
  assets: number;
  products: number;
  members: number;
}

/** The oldest reading first, within a budget of calls, but at least one customer. */
export async function readBack(
  deps: RunDependencies,
  request: Pick<RunRequest, "signal"> & { calls?: number | undefined },
  reader: SnapshotReader,
  summary: ReadBack,
): Promise<void> {
  const { ledger } = deps;
  const budget = new CallBudget(ledger, { calls: request.calls, settings: deps.settings });
  const keeping = new Keeping(deps, summary);
  const stopped = (): boolean => request.signal?.aborted === true;
  const read = async (customer: LinkedCustomer): Promise<void> => {
    try {
      const verified = await verifyCustomer({ ledger, reader }, customer, request.signal);
      budget.took(customer, verified);
      await keeping.add(verified);
    } catch (error) {
      if (ledger.broken !== undefined) throw error;
      // The call ended by a person's stop says nothing about the service.
      if (stopped()) return;
      await keeping.failed(customer.customer, error);
    }
    deps.progress("verifying", keeping.read, undefined);
  };
  for (
    let customers: AsyncIterable<readonly LinkedCustomer[]> | LinkedCustomer[][] = budget.within(
      oldestFirst(ledger, toInstant(deps.clock.now())),
    );
    ;
  ) {
    await workInLanes(customers, { lanes: deps.concurrency, stopped }, read);
    await keeping.end();
    const again = keeping.linkedOtherwise.splice(0);
    if (again.length === 0 || stopped()) return;
    customers = [again];
  }
}

/** E3 per channel code, M5 per page, M6, E8, M8, and M7 per asset. */
function callsFor(
  settings: RunDependencies["settings"],
  { assets, members }: Pick<Verified, "assets" | "members">,
): number {
  return channelCodesOf(settings).length + Math.max(1, Math.ceil(members / settings.staffPage.size)) + 3 + assets;
}

class CallBudget {
  readonly #ledger: Ledger;
  readonly #calls: number;
  readonly #settings: RunDependencies["settings"];
  readonly #expected = new Map<string, number>();
  #spent = 0;

  constructor(ledger: Ledger, of: { calls: number | undefined; settings: RunDependencies["settings"] }) {
    this.#ledger = ledger;
    this.#calls = of.calls ?? Number.POSITIVE_INFINITY;
    this.#settings = of.settings;
  }

  /** The first customer always fits, so that each has its turn. */
  async *within(pages: AsyncIterable<LinkedCustomer[]>): AsyncGenerator<LinkedCustomer[], void, void> {
    if (this.#calls === Number.POSITIVE_INFINITY) {
      yield* pages;
      return;
    }
    for await (const customers of pages) {
      for (const item of customers) {
        const size = await this.#ledger.state.read((rows) => rows.enterprise.readings.size(item.customer));
        const calls = callsFor(this.#settings, size);
        if (this.#spent > 0 && this.#spent + calls > this.#calls) return;
        this.#spent += calls;
        this.#expected.set(formatKey(item.customer), calls);
        yield [item];
      }
    }
  }

  took({ customer }: LinkedCustomer, size: Pick<Verified, "assets" | "members">): void {
    const key = formatKey(customer);
    const calls = callsFor(this.#settings, size);
    this.#spent += calls - (this.#expected.get(key) ?? calls);
    this.#expected.delete(key);
  }
}

async function* oldestFirst({ state }: Ledger, start: string): AsyncGenerator<LinkedCustomer[], void, void> {
  // After the clock was set back, some readings have future times. They are found before new ones exist.
  const ahead: LinkedCustomer[] = [];
  if (((await state.read((rows) => rows.enterprise.readings.newest())) ?? "") >= start)
    for await (const page of readBefore(state, { customer: nobody, seenAt: start }, "9999")) ahead.push(...page);
  for (let after: RecordKey | undefined; ;) {
    const customers = await state.read((rows) => rows.enterprise.readings.neverRead(after, page));
    if (customers.length === 0) break;
    yield customers;
    after = customers.at(-1)?.customer;
  }
  yield* readBefore(state, undefined, start);
  yield ahead;
}

const nobody: RecordKey = { namespace: "", id: "" };

async function* readBefore(
  state: Ledger["state"],
  from: { customer: RecordKey; seenAt: string } | undefined,
  until: string,
): AsyncGenerator<LinkedCustomer[], void, void> {
  for (let after = from; ;) {
    const customers = await state.read((rows) => rows.enterprise.readings.oldestRead(after, until, page));
    if (customers.length === 0) return;
    yield customers;
    after = customers.at(-1);
  }
}

const countedAs = { service: "failed", data: "unclear", program: "defects" } as const;

/** Records several customers with one flush of the disk: no call depends on them. */
class Keeping {
  readonly #deps: Pick<RunDependencies, "ledger" | "logger">;
  readonly #summary: ReadBack;
  readonly #waiting: Verified[] = [];
  readonly linkedOtherwise: LinkedCustomer[] = [];

  constructor(deps: Pick<RunDependencies, "ledger" | "logger">, summary: ReadBack) {
    this.#deps = deps;
    this.#summary = summary;
  }

  async add(verified: Verified): Promise<void> {
    this.#waiting.push(verified);
    if (this.#waiting.length >= keptTogether) await this.end();
  }

  get read(): number {
    return this.#summary.customers + this.#waiting.length;
  }

  async end(): Promise<void> {
    await this.#keep(this.#waiting.splice(0));
  }

  async failed(customer: RecordKey, error: unknown): Promise<void> {
    const { ledger, logger } = this.#deps;
    const { of, code, reason } = failureOf(error);
    this.#summary.customers += 1;
    this.#summary[countedAs[of]] += 1;
    await ledger.state.record(customer, [{ type: "observation-failed", customer }]);
    const named = { customer: formatKey(customer), code };
    logger.warn({ ...named, reason }, "customer not verified");
    if (of === "program") logger.error({ ...named, stack: stackOf(error) }, "defect");
  }

  /** If recording them together fails, each is recorded alone, so that only the faulty one fails. */
  async #keep(read: readonly Verified[]): Promise<void> {
    const { ledger } = this.#deps;
    try {
      const otherwise = await ledger.state.keepShown(read);
      this.linkedOtherwise.push(...otherwise);
      const names = new Set(otherwise.map(({ customer }) => formatKey(customer)));
      for (const { customer, assets, products, members } of read) {
        if (names.has(formatKey(customer))) continue;
        this.#summary.customers += 1;
        this.#summary.assets += assets;
        this.#summary.products += products;
        this.#summary.members += members;
      }
    } catch (error) {
      const [first, ...others] = read;
      if (ledger.broken !== undefined || first === undefined) throw error;
      if (others.length === 0) await this.failed(first.customer, error);
      else for (const verified of read) await this.#keep([verified]);
    }
  }
}
