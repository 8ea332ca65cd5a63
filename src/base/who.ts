import { AsyncLocalStorage } from "node:async_hooks";
import { userInfo } from "node:os";

/** Who does something, and how it is known who they are. Two are the same person by issuer and subject, never by name. */
export interface Who {
  /** As pages and reports name them. */
  name: string;
  way: "command" | "link" | "proxy";
  /** Who vouches for it: a reverse proxy, or `thisMachine`. */
  issuer: string;
  /** Who they are to the issuer. */
  subject: string;
}

/** The issuer of users of the operating system. */
export const thisMachine = "this machine";

/** The user of the operating system that runs this process. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user whom no list of users names.
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}

/** Who somebody is, whatever they are called. */
export type Identity = Omit<Who, "name">;

/** What is counted or kept for each person is under this. */
export function identityKey({ issuer, subject }: Identity): string {
  return JSON.stringify([issuer, subject]);
}

const acting = new AsyncLocalStorage<Identity | undefined>();

/** Does something as somebody: what is written on the way says who that is. */
export function actingAs<T>({ way, issuer, subject }: Identity, work: () => T): T {
  return acting.run({ way, issuer, subject }, work);
}

/** Work that is done later, by who acts now. */
export function keepingWho<T>(work: () => T): () => T {
  const who = acting.getStore();
  return () => acting.run(who, work);
}

/** Who acts now: somebody on the pages, or else the user that runs the command. */
export function whoActs(): Identity {
  return acting.getStore() ?? { way: "command", issuer: thisMachine, subject: systemUser() };
}
