import type { Json } from "../../base/canonical-json.ts";
import { refused } from "./damage.ts";

/** Reads a column that this program wrote as JSON; `where` names the row for people, should it be damaged. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what this program writes into the column
export function stored<T>(text: string, where = "a row of the ledger"): T {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    return JSON.parse(text) as T;
  } catch (error) {
    throw refused(
      "ledger.damaged",
      where,
      `the ledger is damaged: ${where} cannot be read`,
      "restore the ledger from a backup. Nothing was repaired or sent",
      error,
    );
  }
}

export function storedOrNull(text: string | null): Json {
  return text === null ? null : stored<Json>(text);
}
