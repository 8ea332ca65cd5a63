import type { RecordKey } from "../../crm/model.ts";
import type { KnownEnterpriseCode } from "./enterprise-code.ts";
import { oneByOne } from "./part.ts";
import type { ChangeContext } from "./part.ts";
import type { KnownPlatformCustomers } from "./platform-customers.ts";
import type { KnownProtectedMembers } from "./protected-members.ts";
import { isSameKey } from "./same-key.ts";

export interface Link {
  enterpriseGlobalId: string;
  channelCode: string;
  channelCustomerId: string;
  origin: "created" | "bound" | "adopted";
  /** For an adopted enterprise: whether its assets were read, so that orders already there are known. */
  examined: boolean;
  /** Since when the ledger knows of it, where it is kept there. */
  since?: string | undefined;
}

export interface KnownLink {
  link: Link | undefined;
  /** A person took the link away: the customer is neither looked for nor made until it is linked again. */
  unlinked?: Unlinked | undefined;
}

/** Whose word it is that a customer has no enterprise, and since when. */
export interface Unlinked {
  at: string;
  by: string;
  reason: string;
}

export type LinkChange =
  | { type: "linked"; customer: RecordKey; link: Link }
  | { type: "unlinked"; customer: RecordKey; enterpriseGlobalId: string; by: string; reason: string }
  | { type: "examined"; customer: RecordKey };

/** What is known of the enterprise comes and goes with the link. */
type KnownWithLink = KnownLink & KnownPlatformCustomers & KnownEnterpriseCode & KnownProtectedMembers;

const link = oneByOne<KnownWithLink, LinkChange>((known, change, context) => {
  if (!isSameKey(change.customer, context.customer)) return known;
  if (change.type === "linked") return linkedWith(known, change.link, context);
  if (change.type === "unlinked") return unlinkedFrom(known, { at: context.at, by: change.by, reason: change.reason });
  return known.link === undefined ? known : { ...known, link: { ...known.link, examined: true } };
});

export const linkParts = { linked: link, unlinked: link, examined: link };

/** Of another enterprise than the one before, only what the ledger held of it is known. */
function linkedWith<Whole extends KnownWithLink>(known: Whole, made: Link, { at, enterprise }: ChangeContext): Whole {
  const isNew = known.link?.enterpriseGlobalId !== made.enterpriseGlobalId;
  const facts = isNew ? { platformCustomers: [], enterpriseCode: undefined, ...enterprise } : known;
  return {
    ...known,
    link: { ...made, since: at },
    unlinked: undefined,
    platformCustomers: facts.platformCustomers,
    enterpriseCode: facts.enterpriseCode,
    protectedMembers: new Set([...known.protectedMembers, ...(enterprise?.protectedMembers ?? [])]),
  };
}

/** Without a link nothing of an enterprise is known but who is protected there. */
function unlinkedFrom<Whole extends KnownWithLink>(known: Whole, unlinked: Unlinked): Whole {
  if (known.link === undefined && known.unlinked === undefined) return known;
  return { ...known, link: undefined, unlinked, platformCustomers: [], enterpriseCode: undefined };
}
