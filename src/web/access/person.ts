import type { Who } from "../../base/who.ts";
import { roles, type Role } from "../../config/access-settings.ts";
import { theCrm } from "../../engine/model/requests.ts";
import type { MiddlewareHandler } from "hono";
import type { WebEnvironment } from "../page.ts";

/** `private`: a separate setting permits asking for private values. */
export type Right = Role | "private";

export interface Person extends Who {
  role: Role;
  mayAskForPrivate: boolean;
}

function mostOf(given: readonly Role[]): Role | undefined {
  return roles.findLast((role) => given.includes(role));
}

export function may({ role }: Person, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

const longestName = 100;

/**
 * Name and role from the claims of a signed token. Without a usable name, the subject is the name. Nobody may be called
 * `theCrm`: that name marks decisions that no person made.
 */
export function personIn(
  claims: Readonly<Record<string, unknown>> & { sub: string },
  settings: { person: string; claim: string; roles: Readonly<Record<string, Role>> },
): { name: string; role: Role | undefined } {
  const { [settings.person]: given, [settings.claim]: claimed } = claims;
  const name = typeof given === "string" ? given.trim() : "";
  const isName = name !== "" && name !== theCrm && name.length <= longestName && !/[\p{C}\p{Zl}\p{Zp}]/u.test(name);
  const values = (Array.isArray(claimed) ? claimed : [claimed]).filter((value) => typeof value === "string");
  const role = mostOf(
    values.flatMap((value) => (Object.hasOwn(settings.roles, value) ? (settings.roles[value] ?? []) : [])),
  );
  return { name: isName ? name : claims.sub, role };
}

export function isSubject(subject: unknown): subject is string {
  return typeof subject === "string" && subject !== theCrm && /^[^\p{C}\p{Zl}\p{Zp}]{1,255}$/u.test(subject);
}

export function needs(needed: Role): MiddlewareHandler<WebEnvironment> {
  return async (context, next) => {
    if (!may(context.var.person, needed)) return await context.var.refuse(needed);
    await next();
  };
}
