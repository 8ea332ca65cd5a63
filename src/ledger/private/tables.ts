import { table } from "../database/statements.ts";

/** Values, raw records and answers that no other table may hold in clear. */
export interface PrivateValueTable {
  ref: string;
  version: number;
  salt: string | null;
  body: string | null;
  sealed: string | null;
  created_at: string;
  wiped_at: string | null;
  /** Search keys: see `nameKeysOf`. */
  name_key: string | null;
  login_key: string | null;
}

export const privateTables = {
  private_value: table<PrivateValueTable>(),
};

/** Key in `meta`: erased bytes may remain in the file of the ledger. The value names the erased record. */
export const bytesLeft = "erased-bytes-left";
