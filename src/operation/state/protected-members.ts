import { oneByOne } from "./part.ts";
import type { LinkedEnterprise } from "./part.ts";

export interface KnownProtectedMembers {
  protectedMembers: ReadonlySet<string>;
}

export interface MembersProtected {
  type: "members-protected";
  enterpriseGlobalId: string;
  memberGlobalIds: string[];
  reason: string;
}

const protectedMembers = oneByOne<LinkedEnterprise & KnownProtectedMembers, MembersProtected>(
  (known, { enterpriseGlobalId, memberGlobalIds }) => {
    if (known.link?.enterpriseGlobalId !== enterpriseGlobalId) return known;
    return { ...known, protectedMembers: new Set([...known.protectedMembers, ...memberGlobalIds]) };
  },
);

export const protectedMembersParts = { "members-protected": protectedMembers };
