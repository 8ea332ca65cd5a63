import type { EnterpriseCodeChange, KnownEnterpriseCode } from "../../operation/state/enterprise-code.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import { table } from "../database/table.ts";
import type { Writes } from "./writes.ts";

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

  readonly writes: Writes<EnterpriseCodeChange> = {
    "enterprise-code": ({ enterpriseGlobalId, code }, at) => {
      this.#statements.keep.run(enterpriseGlobalId, code, at);
    },
  };
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
