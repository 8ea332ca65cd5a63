import { toJson } from "../../base/canonical-json.ts";
import type { StateRows, StateStore } from "../../engine/model/resource.ts";
import type { Known } from "../../engine/model/state.ts";
import type { EnterpriseFacts } from "../../engine/model/state-part.ts";
import type { Sqlite } from "../../ledger/database/database.ts";
import { AcknowledgedRows, acknowledgedParts, acknowledgedTables } from "./state/facts.ts";
import { CorrelationRows, correlationTables } from "./state/readings.ts";
import { FactRows, factParts, factTables } from "./state/facts.ts";
import { LinkRows, linkParts, linkTables } from "./state/link.ts";
import { ReadingRows } from "./state/readings.ts";

const tables = { ...linkTables, ...acknowledgedTables, ...factTables, ...correlationTables };

const changes = { ...linkParts, ...acknowledgedParts, ...factParts };

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

const nothing: Pick<
  Known,
  "link" | "unlinked" | "acknowledged" | "platformCustomers" | "enterpriseCode" | "protectedMembers"
> = {
  link: undefined,
  unlinked: undefined,
  acknowledged: undefined,
  platformCustomers: [],
  enterpriseCode: undefined,
  protectedMembers: new Set<string>(),
};

export const state = {
  tables,
  nothing,
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
  const links = new LinkRows(database);
  const acknowledged = new AcknowledgedRows(database);
  const facts = new FactRows(database);
  return {
    links,
    readings: new ReadingRows(database),
    correlations: new CorrelationRows(database),
    load(customer, held) {
      const linked = held["linked"] === 1 ? links.known(customer) : undefined;
      const enterprise = linked?.link?.enterpriseGlobalId;
      return {
        ...linked,
        ...(held["acknowledged"] === 1 && acknowledged.known(customer)),
        ...(enterprise !== undefined && facts.known(enterprise)),
        ...(linked !== undefined && facts.protectedOf(customer)),
      };
    },
    writes: { ...links.writes, ...acknowledged.writes, ...facts.writes },
    facts: (enterprise) => facts.of(enterprise),
  };
}
