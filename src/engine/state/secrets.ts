import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { notOfCustomers } from "./part.ts";

/** What was sealed for a payload is not needed any more. */
export interface SecretsWiped {
  type: "secrets-wiped";
  ref: string;
  version: number;
}

/** Of a secret that is needed in no form any more. */
export const everyVersion = Number.MAX_SAFE_INTEGER;

/** Licence passwords of an order: nothing that is bought needs them any more. */
export function passwordsWiped(order: RecordKey): SecretsWiped {
  return { type: "secrets-wiped", ref: `orders/${formatKey(order)}`, version: everyVersion };
}

export const secretsParts = { "secrets-wiped": notOfCustomers };
