import { toJson } from "../../base/canonical-json.ts";
import type { StateRows, StateStore } from "../../engine/model/resource.ts";
import type { Known } from "../../engine/model/state.ts";
import type { EnterpriseFacts } from "../../engine/model/state-part.ts";
import type { Sqlite } from "../../ledger/database/database.ts";
import { AcknowledgedRows, acknowledgedParts, acknowledgedTables } from "./state/acknowledged.ts";
import { CorrelationRows, correlationTables } from "./state/correlations.ts";
import { EnterpriseCodeRows, enterpriseCodeParts, enterpriseCodeTables } from "./state/enterprise-code.ts";
import { LinkRows, linkParts, linkTables } from "./state/link.ts";
import { PlatformCustomerRows, platformCustomersParts, platformCustomerTables } from "./state/platform-customers.ts";
import { ProtectedMemberRows, protectedMembersParts, protectedMemberTables } from "./state/protected-members.ts";
import { ReadingRows } from "./state/readings.ts";
import { UnlinkedRows, unlinkedTables } from "./state/unlinked.ts";

const tables = {
  ...linkTables,
  ...unlinkedTables,
  ...acknowledgedTables,
  ...platformCustomerTables,
  ...enterpriseCodeTables,
  ...protectedMemberTables,
  ...correlationTables,
};

const changes = {
  ...linkParts,
  ...acknowledgedParts,
  ...platformCustomersParts,
  ...enterpriseCodeParts,
  ...protectedMembersParts,
};

/** The rows of enterprises in an open ledger, and what else can be asked of them. */
export interface EnterpriseRows extends StateRows {
  readonly links: LinkRows;
  readonly readings: ReadingRows;
  readonly correlations: CorrelationRows;
  /** What is known of an enterprise, whoever is linked with it. */
  readonly facts: (enterpriseGlobalId: string) => EnterpriseFacts;
}

declare module "../../engine/model/resource.ts" {
  interface ResourceRows {
    enterprise: EnterpriseRows;
  }
}

const nothing = {
  link: undefined,
  unlinked: undefined,
  acknowledged: undefined,
  platformCustomers: [],
  enterpriseCode: undefined,
  protectedMembers: new Set<string>(),
};

export const state = {
  tables,
  nothing: (): Pick<Known, keyof typeof nothing> => nothing,
  changes,
  facts: {
    enterprise: {
      of: ({ link }) => (link === undefined ? [] : [["", link.enterpriseGlobalId]]),
      moved: () => ["it is linked with another enterprise", "it is linked no more", "it was linked"],
    },
    acknowledged: {
      of: ({ acknowledged }) => (acknowledged === undefined ? [] : [["", toJson(acknowledged)]]),
      moved: () => {
        const other = "the enterprise was changed";
        return [other, other, "the enterprise was made or changed"];
      },
    },
  },
  holds: {
    linked: "exists (select 1 from link where namespace = +@namespace and customer_id = +@id)",
    acknowledged: "exists (select 1 from acknowledged where namespace = +@namespace and customer_id = +@id)",
  },
  open,
} satisfies StateStore<keyof typeof changes, EnterpriseRows>;

/** The only code that writes links, and what is known of enterprises. */
function open(database: Sqlite): EnterpriseRows {
  const unlinked = new UnlinkedRows(database);
  const links = new LinkRows(database, unlinked);
  const acknowledged = new AcknowledgedRows(database);
  const platformCustomers = new PlatformCustomerRows(database);
  const codes = new EnterpriseCodeRows(database);
  const members = new ProtectedMemberRows(database);
  return {
    links,
    readings: new ReadingRows(database),
    correlations: new CorrelationRows(database),
    load(customer, held) {
      const linked = held["linked"] === 1 ? links.known(customer) : undefined;
      const enterprise = linked?.link?.enterpriseGlobalId;
      return {
        ...linked,
        // A customer whose link was taken away had one before, and has none that counts.
        ...(linked !== undefined && linked.link === undefined && unlinked.known(customer)),
        ...(held["acknowledged"] === 1 && acknowledged.known(customer)),
        ...(enterprise !== undefined && { ...platformCustomers.known(enterprise), ...codes.known(enterprise) }),
        ...(linked !== undefined && members.known(customer)),
      };
    },
    writes: {
      ...links.writes,
      ...acknowledged.writes,
      ...platformCustomers.writes,
      ...codes.writes,
      ...members.writes,
    },
    facts: (enterprise) => ({
      ...platformCustomers.known(enterprise),
      ...codes.known(enterprise),
      protectedMembers: members.of(enterprise),
    }),
  };
}
