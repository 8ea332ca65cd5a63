import type { Json } from "../../base/canonical-json.ts";
import type { RecordKey } from "../../crm/model.ts";
import { notOfCustomers } from "./part.ts";

/** One thing that the platform showed. */
export interface ShownThing {
  kind: string;
  subject: string;
  body: Json;
}

/**
 * What the platform showed, for people to read. `observed-all`: nothing else of these kinds is shown; where a subject
 * stands twice, the last one counts.
 */
export type ObservationChange =
  | { type: "observed"; customer: RecordKey; kind: string; subject: string; body: Json }
  | { type: "observed-all"; customer: RecordKey; kinds: readonly string[]; shown: readonly ShownThing[] }
  | { type: "observation-read"; customer: RecordKey; complete: boolean };

export const observationsParts = {
  observed: notOfCustomers,
  "observed-all": notOfCustomers,
  "observation-read": notOfCustomers,
};
