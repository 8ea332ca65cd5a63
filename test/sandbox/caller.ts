import { randomBytes } from "node:crypto";
import { Agent, request } from "undici";
import { onTestFinished } from "vitest";
import type { Sandbox, SandboxOptions } from "../../src/sandbox/sandbox.ts";
import { openSandbox } from "../support/world/start.ts";

/** What JSON.parse gives: each test says what it expects of it. */
export type Parsed = ReturnType<typeof JSON.parse>;

export interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  code: unknown;
  message: unknown;
  cause: unknown;
  data: Parsed;
}

interface CallOptions {
  headers?: Record<string, string | undefined>;
  nonce?: string | null;
  appKey?: string | null;
  text?: string;
  /** Aborted when the caller gives up waiting for a reply. */
  signal?: AbortSignal;
}

export interface Caller {
  order: (method: Method, path: string, body?: unknown, options?: CallOptions) => Promise<Reply>;
  member: (method: Method, path: string, body?: unknown, options?: CallOptions) => Promise<Reply>;
  control: (method: Method, name: string, body?: unknown) => Promise<Reply>;
  placeOrders: (body: unknown, options?: CallOptions) => Promise<Reply>;
}

type Method = "GET" | "POST" | "PUT" | "DELETE";

/** A sandbox in memory that ends with the test, and something that calls it as the contracts say. */
export async function started(options: Partial<SandboxOptions> = {}): Promise<{ sandbox: Sandbox } & Caller> {
  const sandbox = await openSandbox(options);
  return { sandbox, ...callerOf(sandbox.url) };
}

/** Calls a sandbox at `url` with the static tokens. */
export function callerOf(url: string): Caller {
  const agent = new Agent({ pipelining: 1 });
  onTestFinished(() => agent.destroy());

  async function send(method: Method, target: string, headers: object, body: unknown, options: CallOptions) {
    const text = options.text ?? (body === undefined ? undefined : JSON.stringify(body));
    const merged = Object.entries({ ...headers, ...options.headers }).filter(([, value]) => value !== undefined);
    const response = await request(url + target, {
      dispatcher: agent,
      method,
      headers: Object.fromEntries(merged),
      body: text ?? null,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const received = await response.body.text();
    const parsed = parse(received);
    return { status: response.statusCode, headers: response.headers, text: received, ...parsed };
  }

  function withNonce(path: string, options: CallOptions): string {
    if (options.nonce === null) return path;
    const nonce = options.nonce ?? randomBytes(16).toString("hex");
    return `${path}${path.includes("?") ? "&" : "?"}g_nonce=${nonce}`;
  }

  const authorization = "Bearer sandbox-app-token";
  const json = { "content-type": "application/json" };
  const member = { authorization, clientToken: "sandbox-app-token", userToken: "sandbox-user-token" };
  const order: Caller["order"] = (method, path, body, options = {}) =>
    send(method, withNonce(`/order/api/order/v1${path}`, options), { authorization, ...json }, body, options);
  return {
    order,
    member: (method, path, body, options = {}) => {
      const hasBody = body !== undefined || options.text !== undefined;
      const headers = { ...member, ...(hasBody ? json : {}) };
      return send(method, withNonce(`/me/api/v1${path}`, options), headers, body, options);
    },
    control: (method, name, body) => send(method, `/_sandbox/${name}`, json, body, {}),
    placeOrders: (body, options = {}) => {
      const appKey = options.appKey === null ? "" : `?appKey=${options.appKey ?? "sandbox-app"}`;
      return order("POST", `/licenseOrder/batchOrder${appKey}`, body, options);
    },
  };
}

function parse(text: string): Pick<Reply, "code" | "message" | "cause" | "data"> {
  try {
    // Large numbers are kept as their digits, so that a test sees them whole.
    const body = JSON.parse(text, (...[, value, context]: unknown[]) =>
      typeof value === "number" && !Number.isSafeInteger(value) ? (context as { source: string }).source : value,
    );
    const { code, message, cause, data } = body;
    return { code, message, cause, data: "data" in body ? data : "code" in body ? undefined : body };
  } catch {
    return { code: undefined, message: undefined, cause: undefined, data: undefined };
  }
}

/** A customer of the sandbox, by E2 and E3. */
export interface Enterprise {
  crmCustomerId: string;
  enterpriseGlobalId: string;
  customerId: string;
  industryCustomerId: string;
  administrator: string;
  member: string;
}

export async function createEnterprise(caller: Caller, crmCustomerId = "C1"): Promise<Enterprise> {
  const made = await caller.order("POST", "/enterprise/user/create", {
    crmCustomerId,
    customerName: `Customer ${crmCustomerId}`,
    branchName: "Branch",
    address: "Street 1",
  });
  const query = `channelCode=crm&channelCustomerId=${crmCustomerId}&defaultCustomer=N`;
  const shown = await caller.order("GET", `/enterprise/user/query?${query}`);
  const { enterpriseGlobalId, members } = made.data;
  const customers = shown.data.filter((row: Parsed) => row.enterpriseGlobalId === enterpriseGlobalId);
  return {
    crmCustomerId,
    enterpriseGlobalId,
    customerId: customers.find((row: Parsed) => row.isDefault).customerId,
    industryCustomerId: customers.find((row: Parsed) => !row.isDefault).customerId,
    administrator: members[0].memberGlobalId,
    member: members[1].memberGlobalId,
  };
}

export async function addStaff(caller: Caller, enterprise: Enterprise, userName: string): Promise<string> {
  const added = await caller.member("POST", `/enterprise/${enterprise.enterpriseGlobalId}/member`, {
    userList: [{ userName, password: "secret-pass", name: `Person ${userName}` }],
  });
  return added.data.succeeded[0].globalId;
}

/** The asset numbers and ids of an enterprise (M6), by number. */
export async function assetIds(caller: Caller, enterprise: Enterprise): Promise<Record<string, string>> {
  const shown = await caller.member("GET", `/enterprise/${enterprise.enterpriseGlobalId}/asset/assetNums`);
  return Object.fromEntries(shown.data.map((row: Parsed) => [row.assetNum, row.assetId]));
}

/** M7 of one asset number. */
export async function contentsOf(caller: Caller, enterprise: Enterprise, assetNumber: string): Promise<Parsed> {
  const ids = await assetIds(caller, enterprise);
  return (await caller.member("GET", `/enterprise/asset/${ids[assetNumber]}/merchandiseProducts`)).data;
}
