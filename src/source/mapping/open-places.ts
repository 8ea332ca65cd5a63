import { privateFields } from "../../crm/model.ts";
import type { Stream } from "../../crm/model.ts";
import { skipWay } from "./ways.ts";
import type { Way } from "./ways.ts";

/** Ids stand in every message, so what they are made of is shown. */
const idFields: ReadonlySet<string> = new Set(["namespace", "id", "customerNamespace", "customerId"]);

/**
 * The raw places of a stream that anybody may see: those that the mapping reads for fields which are not private, and
 * for no private one. What no mapping reads may hold anything. `named` says how places are written.
 */
export function openPlaces(
  stream: Stream,
  ways: readonly Way[],
  named: (steps: Way["reads"][number]) => string,
): Set<string> {
  const hidden = new Set(privateFields[stream]);
  const placesOf = (wanted: (field: string) => boolean): string[] =>
    ways.filter(({ at }) => wanted(String(at[0]))).flatMap(({ reads }) => reads.map(named));
  const open = new Set(placesOf((field) => !hidden.has(field) && field !== skipWay));
  for (const place of placesOf((field) => hidden.has(field))) open.delete(place);
  for (const place of placesOf((field) => idFields.has(field))) open.add(place);
  return open;
}
