import { randomBytes } from "node:crypto";
import { request } from "undici";
import { z } from "zod";

/**
 * What a test sees of the platform: the two services through their own calls, and what the sandbox tells about itself.
 */

const orderState = z.object({
  calls: z.int(),
  licenseOrders: z.int(),
  waiting: z.int(),
  failed: z.int(),
  assets: z.int(),
  products: z.int(),
  merchandises: z.int(),
});
const deletionState = z.object({
  calls: z.int(),
  licenseOrders: z.int(),
  waiting: z.int(),
  failed: z.int(),
  assets: z.int(),
  products: z.int(),
});
const state = z.looseObject({
  enterprises: z.int(),
  licenseOrders: z.int(),
  assets: z.int(),
  products: z.int(),
  merchandises: z.int(),
  addedStaff: z.int(),
  assignments: z.int(),
  shellNumbers: z.int(),
  deferred: z.int(),
  orders: z.record(z.string(), orderState),
  deletions: z.record(z.string(), deletionState),
});
const duplicates = z.strictObject({
  enterprises: z.array(z.unknown()),
  orders: z.array(z.unknown()),
  products: z.array(z.unknown()),
  staff: z.array(z.unknown()),
});
const batches = z.object({ bodies: z.array(z.object({ body: z.string() })) });

export type PlatformState = z.infer<typeof state>;
export type PlatformDuplicates = z.infer<typeof duplicates>;

async function getJson(url: string, headers: Record<string, string> = {}): Promise<unknown> {
  const answer = await request(url, { headers });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${url}: HTTP ${answer.statusCode} ${text}`);
  return JSON.parse(text);
}

export async function readState(sandbox: string): Promise<PlatformState> {
  return state.parse(await getJson(`${sandbox}/_sandbox/state`));
}

export async function readDuplicates(sandbox: string): Promise<PlatformDuplicates> {
  return duplicates.parse(await getJson(`${sandbox}/_sandbox/duplicates`));
}

/** The bodies of every accepted E5 of a channel order number. */
export async function readOrderBodies(sandbox: string, channelOrderId: string): Promise<unknown[]> {
  const found = batches.parse(
    await getJson(`${sandbox}/_sandbox/e5?channelOrderId=${encodeURIComponent(channelOrderId)}`),
  );
  return found.bodies.map((item): unknown => JSON.parse(item.body));
}

const customer = z.looseObject({ customerId: z.string(), enterpriseGlobalId: z.string(), isDefault: z.boolean() });
const assetRow = z.looseObject({
  assetNum: z.string(),
  assetId: z.string(),
  cloudAccountGlobalId: z.string().nullable(),
});
const product = z.looseObject({
  crmProductId: z.string(),
  channelOrderId: z.string(),
  licenseOrderId: z.string(),
  licenseType: z.string(),
  limitConcurrent: z.int(),
});
export type ShownProduct = z.infer<typeof product>;

interface Node {
  productInstanceList: ShownProduct[] | null;
  children: Node[] | null;
}
const node: z.ZodType<Node> = z.lazy(() =>
  z.looseObject({ productInstanceList: z.array(product).nullable(), children: z.array(node).nullable() }),
);
const contents = z.object({ productInstanceList: z.array(product), children: z.array(node).nullable() });
const member = z.looseObject({ globalId: z.string(), userName: z.string(), deleted: z.boolean() });
const page = z.looseObject({ total: z.int(), list: z.array(member) });

/** The reading calls of both services, as somebody else would make them. */
export class PlatformView {
  readonly #sandbox: string;

  constructor(sandbox: string) {
    this.#sandbox = sandbox;
  }

  async #read<T>(path: string, query: Record<string, string>, schema: z.ZodType<T>): Promise<T> {
    const search = new URLSearchParams({ g_nonce: randomBytes(16).toString("hex"), ...query });
    const answer = await getJson(`${this.#sandbox}${path}?${search.toString()}`, {
      authorization: "Bearer sandbox-app-token",
      clienttoken: "sandbox-app-token",
      usertoken: "sandbox-user-token",
      "content-type": "application/json",
    });
    return z.object({ code: z.literal(0), data: schema }).parse(answer).data;
  }

  /** E3 with all customers. */
  customers(channelCode: string, channelCustomerId: string): Promise<z.infer<typeof customer>[]> {
    const query = { channelCode, channelCustomerId, defaultCustomer: "N" };
    return this.#read("/order/api/order/v1/enterprise/user/query", query, z.array(customer));
  }

  /** M5, one page of 200: no test has more staff in one enterprise. */
  async members(enterprise: string): Promise<z.infer<typeof member>[]> {
    const path = `/me/api/v1/enterprise/${enterprise}/members`;
    const { total, list } = await this.#read(path, { pageNum: "1", pageSize: "200" }, page);
    if (total !== list.length) throw new Error(`M5 shows ${list.length} of ${total}`);
    return list.filter((item) => !item.deleted);
  }

  /** M6. */
  assets(enterprise: string): Promise<z.infer<typeof assetRow>[]> {
    return this.#read(`/me/api/v1/enterprise/${enterprise}/asset/assetNums`, {}, z.array(assetRow));
  }

  /** M7: every product of an asset, those in packages too. */
  async products(assetId: string): Promise<ShownProduct[]> {
    const shown = await this.#read(`/me/api/v1/enterprise/asset/${assetId}/merchandiseProducts`, {}, contents);
    const inside = (nodes: readonly Node[]): ShownProduct[] =>
      nodes.flatMap((item) => [...(item.productInstanceList ?? []), ...inside(item.children ?? [])]);
    return [...shown.productInstanceList, ...inside(shown.children ?? [])];
  }
}
