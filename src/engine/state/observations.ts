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
 * What the platform showed, for people to read. `observed-all`: everything of these kinds was read, and nothing else of
 * them is shown; where a subject stands twice, the last one counts. `observation-ended`: it is not shown any more.
 * `observation-failed`: that could not be read.
 */
export type ObservationChange =
  | { type: "observed"; customer: RecordKey; kind: string; subject: string; body: Json }
  | { type: "observed-all"; customer: RecordKey; kinds: readonly string[]; shown: readonly ShownThing[] }
  | { type: "observation-ended"; customer: RecordKey; kind: string; subject: string }
  | { type: "observation-failed"; customer: RecordKey };

export const observationsParts = {
  observed: notOfCustomers,
  "observed-all": notOfCustomers,
  "observation-ended": notOfCustomers,
  "observation-failed": notOfCustomers,
};
