import { AsyncLocalStorage } from "node:async_hooks";
import { userInfo } from "node:os";

/** The same person has the same issuer and subject. Names do not count. */
export interface Who {
  name: string;
  way: "command" | "link" | "proxy";
  /** A reverse proxy, or `thisMachine`. */
  issuer: string;
  subject: string;
}

export const thisMachine = "this machine";

export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user may have no name.
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}

export type Identity = Omit<Who, "name">;

export function identityKey({ issuer, subject }: Identity): string {
  return JSON.stringify([issuer, subject]);
}

const acting = new AsyncLocalStorage<Identity | undefined>();

export function actingAs<T>({ way, issuer, subject }: Identity, work: () => T): T {
  return acting.run({ way, issuer, subject }, work);
}

export function keepingWho<T>(work: () => T): () => T {
  const who = acting.getStore();
  return () => acting.run(who, work);
}

/** A signed-in person, or else the user who runs the command. */
export function whoActs(): Identity {
  return acting.getStore() ?? { way: "command", issuer: thisMachine, subject: systemUser() };
}
