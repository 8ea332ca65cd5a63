import { notOfCustomers } from "./part.ts";

/** What was sealed for a payload is not needed any more. */
export interface SecretsWiped {
  type: "secrets-wiped";
  ref: string;
  version: number;
}

export const secretsParts = { "secrets-wiped": notOfCustomers };
