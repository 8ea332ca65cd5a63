import { rowOf, type Answer } from "./answers.ts";
import type { SandboxSettings } from "./sandbox-settings.ts";
import type { Store } from "./store.ts";

export interface Platform {
  store: Store;
  settings: SandboxSettings;
  /** Epoch milliseconds. */
  now: () => number;
  enterpriseCode: (row: number) => string;
  /** Does the work after `delayMs`, even if the process is killed. Committed with the surrounding transaction. */
  defer: (kind: "call" | "orders", payload: string, delayMs: number) => void;
}

export interface Call {
  parameters: readonly string[];
  query: URLSearchParams;
  body: unknown;
  text: string;
  /** How many of the last entries of M1 a fault makes fail. */
  failingEntries: number;
  /** Their error text; undefined: the usual one. */
  failingWords?: string | undefined;
}

export type Run = (call: Call) => Answer;

export type ServiceName = "order" | "member";

interface Route {
  service: ServiceName;
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below the service's base path; `*` is a path parameter. */
  path: string;
  writes: boolean;
}

export const routes = {
  E1: { service: "order", method: "POST", path: "/enterprise/user/bind", writes: true },
  E2: { service: "order", method: "POST", path: "/enterprise/user/create", writes: true },
  E3: { service: "order", method: "GET", path: "/enterprise/user/query", writes: false },
  E4: { service: "order", method: "POST", path: "/enterprise/user/update", writes: true },
  E5: { service: "order", method: "POST", path: "/licenseOrder/batchOrder", writes: true },
  E6: { service: "order", method: "POST", path: "/asset/lock", writes: true },
  E7: { service: "order", method: "POST", path: "/asset/unlock", writes: true },
  E8: { service: "order", method: "GET", path: "/asset/*/list", writes: false },
  E9: { service: "order", method: "POST", path: "/shellnums", writes: true },
  M1: { service: "member", method: "POST", path: "/enterprise/*/member", writes: true },
  M2: { service: "member", method: "PUT", path: "/enterprise/*/member/*", writes: true },
  M3: { service: "member", method: "PUT", path: "/enterprise/*/member/*/resetPassword", writes: true },
  M4: { service: "member", method: "DELETE", path: "/enterprise/*/member/*", writes: true },
  M5: { service: "member", method: "GET", path: "/enterprise/*/members", writes: false },
  M6: { service: "member", method: "GET", path: "/enterprise/*/asset/assetNums", writes: false },
  M7: { service: "member", method: "GET", path: "/enterprise/asset/*/merchandiseProducts", writes: false },
  M8: { service: "member", method: "GET", path: "/enterprise/*/asset/borrowUsbKeys", writes: false },
  M9: { service: "member", method: "POST", path: "/enterprise/member/*/privileges", writes: true },
  M10: { service: "member", method: "POST", path: "/enterprise/member/*/borrow", writes: true },
} as const satisfies Record<string, Route>;

export type EndpointId = keyof typeof routes;
export const endpointIds = Object.keys(routes).filter(isEndpointId);

export function isEndpointId(text: string): text is EndpointId {
  return Object.hasOwn(routes, text);
}

const basePaths: Record<ServiceName, string> = { order: "/order/api/order/v1", member: "/me/api/v1" };

const table = endpointIds.map((id) => ({
  id,
  method: routes[id].method,
  segments: (basePaths[routes[id].service] + routes[id].path).split("/"),
}));

export function findEndpoint(method: string, path: string): { id: EndpointId; parameters: string[] } | undefined {
  const segments = path.split("/");
  for (const route of table) {
    if (route.method !== method || route.segments.length !== segments.length) continue;
    const parameters: string[] = [];
    const fits = route.segments.every((expected, index) => {
      const found = segments[index] ?? "";
      if (expected !== "*") return expected === found;
      parameters.push(found);
      return found !== "";
    });
    if (!fits) continue;
    try {
      return { id: route.id, parameters: parameters.map(decodeURIComponent) };
    } catch {
      return undefined;
    }
  }
  return undefined;
}

export function enterpriseIn(store: Store, { parameters }: Call): { id: number; code: string } | undefined {
  const row = rowOf("enterprise", parameters[0] ?? "") ?? -1;
  return store.get<{ id: number; code: string }>("SELECT id, code FROM enterprises WHERE id = ?", row);
}
