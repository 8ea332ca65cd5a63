import type { Sqlite } from "../database/database.ts";
import { prepared, sql, table } from "../database/statements.ts";
import type { Writes } from "../../engine/model/resource.ts";

/** A licence type that the platform showed: for an asset (A43), or for a product of a removed observation. */
export interface ShownLicenceTypeTable {
  license_type: string;
  shown_by: "asset" | "product";
  shown_at: string;
}

export const licenceTypeTables = { shown_licence_type: table<ShownLicenceTypeTable>() };

export class LicenceTypeRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, texts);
  }

  isShown(type: string): boolean {
    return this.#statements.shown.get(type) !== undefined;
  }

  readonly writes = {
    "licence-types-shown": ({ types }, at) => {
      for (const type of types) this.#statements.keep.run(type, at);
    },
  } satisfies Writes;
}

const texts = {
  shown: sql<[string], Pick<ShownLicenceTypeTable, "shown_at">>`
    select shown_at from shown_licence_type where shown_by = 'asset' and license_type = +?`,
  keep: sql`insert into shown_licence_type (license_type, shown_by, shown_at) values (?, 'asset', ?)
    on conflict do nothing`,
};
