import type { Writes } from "../../../engine/model/resource.ts";
import { oneByOne } from "../../../engine/model/state-part.ts";
import type { LinkedEnterprise } from "../../../engine/model/state-part.ts";
import type { Sqlite } from "../../../ledger/database/database.ts";
import { statements } from "../../../ledger/database/statements.ts";
import { table } from "../../../ledger/database/table.ts";

type EnterpriseCodeChanges = { [One in EnterpriseCodeChange as One["type"]]: One };
declare module "../../../engine/model/resource.ts" {
  interface ChangeShapes extends EnterpriseCodeChanges {}
  interface ResourceTables {
    enterprise_code: EnterpriseCodeTable;
  }
}
declare module "../../../engine/model/state.ts" {
  interface Known extends KnownEnterpriseCode {}
}

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

export interface EnterpriseCodeTable {
  enterprise_global_id: string;
  code: string;
  recorded_at: string;
}

export const enterpriseCodeTables = { enterprise_code: table<EnterpriseCodeTable>() };

/** What the platform appends to the user names of an enterprise, once it was learned (A29). */
export class EnterpriseCodeRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  known(enterprise: string): KnownEnterpriseCode {
    return { enterpriseCode: this.#statements.of.get(enterprise)?.code };
  }

  readonly writes = {
    "enterprise-code": ({ enterpriseGlobalId, code }, at) => {
      this.#statements.keep.run(enterpriseGlobalId, code, at);
    },
  } satisfies Writes;
}

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    of: () =>
      database.prepare<[string], Pick<EnterpriseCodeTable, "code">>(
        "select code from enterprise_code where enterprise_global_id = +?",
      ),
    keep: () =>
      database.prepare(
        `insert into enterprise_code (enterprise_global_id, code, recorded_at) values (?, ?, ?) on conflict do nothing`,
      ),
  });
}
