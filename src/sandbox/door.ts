import type { IncomingHttpHeaders } from "node:http";
import { Refusal } from "./answers.ts";
import { assumptions } from "./assumptions.ts";
import type { ServiceName } from "./endpoints.ts";
import type { Tokens } from "./tokens.ts";

/** Checks what every call needs before its operation sees it. Throws the Refusal that the service would answer. */
export type Door = (
  service: ServiceName,
  headers: IncomingHttpHeaders,
  hasBody: boolean,
  query: URLSearchParams,
) => void;

/**
 * Order service: Authorization and Content-Type on every call (R6), g_nonce (R5). Member-center: Authorization,
 * clientToken and userToken on every call, Content-Type with a body, g_nonce.
 */
export function createDoor(tokens: Tokens): Door {
  const seen = {
    order: createNonces(assumptions.noncesRemembered),
    member: createNonces(assumptions.noncesRemembered),
  };

  function checkTokens(service: ServiceName, headers: IncomingHttpHeaders): void {
    const { authorization } = headers;
    const bearer = authorization?.startsWith("Bearer ") === true ? authorization.slice("Bearer ".length) : "";
    if (!tokens.accepts("app", bearer)) {
      throw new Refusal(service === "order" ? "401" : "60000", "Authorization holds no valid application token");
    }
    if (service === "order") return;
    if (!tokens.accepts("app", textOf(headers["clienttoken"]))) {
      throw new Refusal("60000", "clientToken holds no valid application token");
    }
    if (!tokens.accepts("user", textOf(headers["usertoken"]))) {
      throw new Refusal("60005", "userToken holds no valid user token");
    }
  }

  return (service, headers, hasBody, query) => {
    checkTokens(service, headers);
    const invalid = service === "order" ? "13004" : "70001";
    const type = headers["content-type"] ?? "";
    if ((service === "order" || hasBody) && !/^application\/json\s*(;|$)/i.test(type)) {
      throw new Refusal(invalid, "Content-Type: application/json is expected");
    }
    const nonce = query.get("g_nonce") ?? "";
    if (nonce === "") throw new Refusal(invalid, "g_nonce: missing");
    if (!seen[service].add(nonce)) throw new Refusal(invalid, "g_nonce: used before");
  };
}

function textOf(header: string | string[] | undefined): string {
  return typeof header === "string" ? header : "";
}

/** Remembers at least the last `size` nonces and at most twice as many. */
function createNonces(size: number): { add(nonce: string): boolean } {
  let older = new Set<string>();
  let newer = new Set<string>();
  return {
    add(nonce) {
      if (newer.has(nonce) || older.has(nonce)) return false;
      newer.add(nonce);
      if (newer.size >= size) {
        older = newer;
        newer = new Set();
      }
      return true;
    },
  };
}
