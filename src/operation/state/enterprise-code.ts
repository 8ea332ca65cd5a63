import { oneByOne } from "./part.ts";
import type { LinkedEnterprise } from "./part.ts";

export interface KnownEnterpriseCode {
  /** What the platform appends to the user names of an enterprise, once it was learned (A29). */
  enterpriseCode: string | undefined;
}

export interface EnterpriseCodeChange {
  type: "enterprise-code";
  enterpriseGlobalId: string;
  code: string;
}

const enterpriseCode = oneByOne<LinkedEnterprise & KnownEnterpriseCode, EnterpriseCodeChange>(
  (known, { enterpriseGlobalId, code }) => {
    if (known.link?.enterpriseGlobalId !== enterpriseGlobalId) return known;
    return { ...known, enterpriseCode: known.enterpriseCode ?? code };
  },
);

export const enterpriseCodeParts = { "enterprise-code": enterpriseCode };
