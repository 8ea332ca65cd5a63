import { notOfCustomers } from "./part.ts";

/** Licence types whose assets the platform has shown: of others, not seeing an order says nothing (A43). */
export interface LicenceTypesShown {
  type: "licence-types-shown";
  types: readonly string[];
}

export const licenceTypesParts = { "licence-types-shown": notOfCustomers };
