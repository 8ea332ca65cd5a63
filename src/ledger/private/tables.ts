import { table } from "../database/statements.ts";

/**
 * Values that no other table may hold in clear, raw records and kept answers. Read here by explicit request of a person
 * only.
 */
export interface PrivateValueTable {
  ref: string;
  version: number;
  salt: string | null;
  body: string | null;
  sealed: string | null;
  created_at: string;
  wiped_at: string | null;
  /** By which a record is found: see `nameKeysOf`. */
  name_key: string | null;
  login_key: string | null;
}

export const privateTables = {
  private_value: table<PrivateValueTable>(),
};

/** Under this key `meta` says whose erased bytes may be left in the file of the ledger. */
export const bytesLeft = "erased-bytes-left";
