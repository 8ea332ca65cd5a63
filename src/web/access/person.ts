/** What a person may do, each role all that those before it may: support, finance, operators. */
export const roles = ["see", "report", "decide"] as const;
export type Role = (typeof roles)[number];

/** What a page or a part of it needs: a role, or the right to ask for private values, which goes by its own setting. */
export type Right = Role | "private";

/** Who asks for a page. */
export interface Person {
  /** As it stands in the audit record with what is decided. */
  name: string;
  role: Role;
  /** How it is known who it is. */
  way: "loopback" | "link" | "proxy" | "oidc";
  /** Whether private values may be asked for. */
  mayAskForPrivate: boolean;
}

/** Of several roles the one that may most; undefined of none. */
export function mostOf(given: readonly Role[]): Role | undefined {
  return roles.findLast((role) => given.includes(role));
}

export function may({ role }: Person, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}
