import type { Who } from "../../base/who.ts";
import { roles, type Role } from "../../config/access-settings.ts";
import { theCrm } from "../../engine/model/requests.ts";
import type { MiddlewareHandler } from "hono";
import type { WebEnvironment } from "../page.ts";

/** What a page or a part of it needs: a role, or the right to ask for private values, which goes by its own setting. */
export type Right = Role | "private";

/** Who asks for a page. */
export interface Person extends Who {
  role: Role;
  /** Whether private values may be asked for. */
  mayAskForPrivate: boolean;
}

/** Of several roles the one that may most; undefined of none. */
function mostOf(given: readonly Role[]): Role | undefined {
  return roles.findLast((role) => given.includes(role));
}

export function may({ role }: Person, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

const longestName = 100;

/**
 * The name and the role that the claims of a signed token give; without a name that can be written down, the subject.
 * Nobody is called `theCrm`: what bears that name is not the decision of a person.
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

/** Whether a subject can be written down as it is. */
export function isSubject(subject: unknown): subject is string {
  return typeof subject === "string" && subject !== theCrm && /^[^\p{C}\p{Zl}\p{Zp}]{1,255}$/u.test(subject);
}

/** Lets through who has the right, and answers everybody else with 403. */
export function needs(needed: Role): MiddlewareHandler<WebEnvironment> {
  return async (context, next) => {
    if (!may(context.var.person, needed)) return await context.var.refuse(needed);
    await next();
  };
}
