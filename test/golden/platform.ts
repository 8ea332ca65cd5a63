import { fetch } from "undici";
import type { Call } from "./recorder.ts";
import { type Json, basePaths, elements, member, operationOf, parseExactly, text } from "./operations.ts";

/** Members that the services number or date by themselves. */
const left = new Set(["id", "userId", "createTime", "updateTime", "merchandiseInsId", "assetInsId", "orderBy"]);

/**
 * What both services hold at the end of a life, read by the operations of the contract: customer by customer what E3,
 * M5, M6, M7 and M8 show, and what the sandbox counts. `reads` are the calls that this took.
 */
export async function platformState(url: string, calls: readonly Call[]): Promise<{ state: Json; reads: Call[] }> {
  const reads: Call[] = [];
  const read = async (method: "order" | "member", path: string): Promise<Json> => {
    const answer = await get(`${url}${basePaths[method]}${path}`);
    const [pathname = "", query = ""] = path.split("?");
    const found = operationOf("GET", basePaths[method] + pathname);
    if (found !== undefined)
      reads.push({ ...found, step: 0, method: "GET", query: new URLSearchParams(query), body: null, answer });
    return member(answer, "data");
  };
  const customers = new Set<string>();
  const enterprises = new Map<string, string>();
  for (const { operation, query, body } of calls) {
    const customer = operation === "E3" ? query.get("channelCustomerId") : text(member(body, "channelCustomerId"));
    if (customer !== null && customer !== "") customers.add(customer);
  }
  const state: { [customer: string]: Json } = {};
  for (const customer of [...customers].toSorted()) {
    const rows = elements(
      await read("order", `/enterprise/user/query?channelCode=crm&channelCustomerId=${customer}&defaultCustomer=N`),
    );
    const enterprise = text(member(rows[0] ?? null, "enterpriseGlobalId"));
    if (enterprise === "") {
      state[customer] = "no enterprise";
      continue;
    }
    if (enterprises.has(enterprise)) {
      state[customer] = `the enterprise of ${enterprises.get(enterprise)}`;
      continue;
    }
    enterprises.set(enterprise, customer);
    const at = `/enterprise/${enterprise}`;
    const staff = elements(member(await read("member", `${at}/members?pageNum=1&pageSize=1000`), "list"));
    const assets = elements(await read("member", `${at}/asset/assetNums`));
    const merchandise: Json[] = [];
    for (const asset of assets)
      merchandise.push(
        bare(await read("member", `/enterprise/asset/${text(member(asset, "assetId"))}/merchandiseProducts`)),
      );
    state[customer] = {
      customers: bare(rows),
      staff: bare(staff),
      assets: bare(assets),
      merchandise,
      locks: bare(await read("member", `${at}/asset/borrowUsbKeys`)),
      virtual: bare(await read("order", `/asset/${enterprise}/list`)),
    };
  }
  const counts = await get(`${url}/_sandbox/state`);
  return { state: { customers: state, counts, duplicates: await get(`${url}/_sandbox/duplicates`) }, reads };
}

async function get(url: string): Promise<Json> {
  const { app, user } = { app: "sandbox-app-token", user: "sandbox-user-token" };
  const headers = {
    Authorization: `Bearer ${app}`,
    "Content-Type": "application/json",
    clientToken: app,
    userToken: user,
  };
  const nonce = `${url.includes("?") ? "&" : "?"}g_nonce=${crypto.randomUUID()}`;
  return parseExactly(await (await fetch(url + nonce, { headers })).text());
}

/** Without what the services number, date or leave empty. */
function bare(value: Json): Json {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !left.has(key))
      .map(([key, one]) => [key, bare(one)]),
  );
}
