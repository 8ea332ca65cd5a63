import type { Json } from "../../base/canonical-json.ts";
import type { RecordKey } from "../../crm/model.ts";
import { notOfCustomers } from "./part.ts";

/** What the platform showed, for people to read. */
export type ObservationChange =
  | { type: "observed"; customer: RecordKey; kind: string; subject: string; body: Json }
  | { type: "observed-gone"; customer: RecordKey; kind: string; subjects: string[] }
  | { type: "observation-read"; customer: RecordKey; complete: boolean };

export const observationsParts = {
  observed: notOfCustomers,
  "observed-gone": notOfCustomers,
  "observation-read": notOfCustomers,
};
