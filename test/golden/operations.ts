/** The operations of both services as the contract lists them: method and path behind the base path of the service. */

export type Service = "order" | "member";

export const basePaths: Record<Service, string> = { order: "/order/api/order/v1", member: "/me/api/v1" };

const operations: readonly (readonly [name: string, service: Service, method: string, path: RegExp])[] = [
  ["E1", "order", "POST", /^\/enterprise\/user\/bind$/u],
  ["E2", "order", "POST", /^\/enterprise\/user\/create$/u],
  ["E3", "order", "GET", /^\/enterprise\/user\/query$/u],
  ["E4", "order", "POST", /^\/enterprise\/user\/update$/u],
  ["E5", "order", "POST", /^\/licenseOrder\/batchOrder$/u],
  ["E6", "order", "POST", /^\/asset\/lock$/u],
  ["E7", "order", "POST", /^\/asset\/unlock$/u],
  ["E8", "order", "GET", /^\/asset\/(?<enterprise>[^/]+)\/list$/u],
  ["E9", "order", "POST", /^\/shellnums$/u],
  ["M1", "member", "POST", /^\/enterprise\/(?<enterprise>[^/]+)\/member$/u],
  ["M2", "member", "PUT", /^\/enterprise\/(?<enterprise>[^/]+)\/member\/(?<member>[^/]+)$/u],
  ["M3", "member", "PUT", /^\/enterprise\/(?<enterprise>[^/]+)\/member\/(?<member>[^/]+)\/resetPassword$/u],
  ["M4", "member", "DELETE", /^\/enterprise\/(?<enterprise>[^/]+)\/member\/(?<member>[^/]+)$/u],
  ["M5", "member", "GET", /^\/enterprise\/(?<enterprise>[^/]+)\/members$/u],
  ["M6", "member", "GET", /^\/enterprise\/(?<enterprise>[^/]+)\/asset\/assetNums$/u],
  ["M7", "member", "GET", /^\/enterprise\/asset\/(?<asset>[^/]+)\/merchandiseProducts$/u],
  ["M8", "member", "GET", /^\/enterprise\/(?<enterprise>[^/]+)\/asset\/borrowUsbKeys$/u],
  ["M9", "member", "POST", /^\/enterprise\/member\/(?<member>[^/]+)\/privileges$/u],
  ["M10", "member", "POST", /^\/enterprise\/member\/(?<member>[^/]+)\/borrow$/u],
];

/** Which operation a request is, with what its path names. Undefined for what is no call of a service. */
export function operationOf(
  method: string,
  pathname: string,
): { operation: string; service: Service; path: string; names: Record<string, string> } | undefined {
  for (const service of ["order", "member"] as const) {
    if (!pathname.startsWith(`${basePaths[service]}/`)) continue;
    const path = pathname.slice(basePaths[service].length);
    for (const [operation, of, by, pattern] of operations) {
      const match = of === service && by === method ? pattern.exec(path) : null;
      if (match !== null) return { operation, service, path, names: { ...match.groups } };
    }
  }
  return undefined;
}

/** JSON with whole numbers of more than 15 digits kept as text, as a number would lose digits of them. */
export function parseExactly(text: string): Json {
  return JSON.parse(text, (_key, value: Json, context?: { source?: string }) =>
    typeof value === "number" && context?.source !== undefined && /^\d{16,}$/u.test(context.source)
      ? context.source
      : value,
  );
}

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** A member of a JSON object; null where there is none. */
export function member(value: Json, ...keys: string[]): Json {
  let at = value;
  for (const key of keys) {
    if (typeof at !== "object" || at === null || Array.isArray(at)) return null;
    at = at[key] ?? null;
  }
  return at;
}

/** The elements of a JSON array; none where it is no array. */
export function elements(value: Json): Json[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: Json): string {
  return typeof value === "string" ? value : "";
}
