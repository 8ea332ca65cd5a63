import { idFault } from "../../contract/answer-fields.ts";

/** An id that an earlier version believed although it cannot be used counts as not known. */
export function usable(id: string): boolean {
  return idFault(id) === undefined;
}
