import { isListed } from "../../config/access-settings.ts";
import type { AccessSettings, Role } from "../../config/access-settings.ts";
import { mostOf } from "./person.ts";

/** What the header of a reverse proxy comes to. */
export type ProxySaid =
  | { kind: "nobody" }
  /** The proxy asks for somebody whom it does not name: nobody signed in there. */
  | { kind: "silent" }
  | { kind: "refused"; why: string }
  | { kind: "person"; name: string; role: Role | undefined };

const longestName = 100;

/**
 * Whom the reverse proxy names. Its headers count from its own addresses alone, which a socket shows and no header, and
 * only once: a second one would be what a browser had sent.
 */
export function saidByProxy(rawHeaders: readonly string[], address: string, proxy: AccessSettings["proxy"]): ProxySaid {
  if (proxy === undefined) return { kind: "nobody" };
  const values = (name: string): string[] =>
    rawHeaders.filter((_, at) => at % 2 === 1 && alike(rawHeaders[at - 1] ?? "") === alike(name));
  const named = values(proxy.header);
  const grouped = proxy.groups === undefined ? [] : values(proxy.groups);
  if (!isListed(address, proxy.from))
    return named.length + grouped.length === 0
      ? { kind: "nobody" }
      : { kind: "refused", why: "the header of the reverse proxy came from an address that is not one of its own" };
  if (named.length > 1 || grouped.length > 1)
    return { kind: "refused", why: "the header of the reverse proxy came more than once" };
  const own = [proxy.header, ...(proxy.groups === undefined ? [] : [proxy.groups])];
  if (rawHeaders.some((header, at) => at % 2 === 0 && isOnlyLike(header, own)))
    return { kind: "refused", why: "a header came that is spelled almost as the one of the reverse proxy" };
  const name = Buffer.from(named[0] ?? "", "latin1")
    .toString("utf8")
    .trim();
  if (name === "") return { kind: "silent" };
  if (name.length > longestName || /[\p{C}\p{Zl}\p{Zp}\ufffd]/u.test(name))
    return { kind: "refused", why: "the reverse proxy names nobody whose name could be written down" };
  const groups = Buffer.from(grouped[0] ?? "", "latin1")
    .toString("utf8")
    .split(",");
  const given = [name, ...groups.map((group) => group.trim())].flatMap((one) =>
    Object.hasOwn(proxy.roles, one) ? (proxy.roles[one] ?? []) : [],
  );
  return { kind: "person", name, role: mostOf(given) ?? proxy.role };
}

/** Some servers before a proxy make no difference between - and _. */
function alike(header: string): string {
  return header.toLowerCase().replaceAll("_", "-");
}

/** A proxy that sets its own header, and takes only that one from a browser, lets another spelling of it through. */
function isOnlyLike(header: string, own: readonly string[]): boolean {
  return own.some((name) => alike(header) === alike(name) && header.toLowerCase() !== name.toLowerCase());
}
