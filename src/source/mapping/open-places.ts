import { isJsonObject } from "../../base/canonical-json.ts";
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
  const hidden = hiddenPlaces(stream, ways, named);
  const placesOf = (wanted: (way: Way) => boolean): string[] =>
    ways.filter(wanted).flatMap(({ reads }) => reads.map(named));
  const open = new Set(placesOf((way) => !isHidden(stream, way) && way.field !== skipWay));
  for (const place of hidden) open.delete(place);
  for (const place of placesOf((way) => isId(way) && !isHashed(way))) open.add(place);
  return open;
}

/** The raw places that the mapping reads for private fields, or to give their hash for an id. */
export function hiddenPlaces(
  stream: Stream,
  ways: readonly Way[],
  named: (steps: Way["reads"][number]) => string,
): Set<string> {
  return new Set(ways.filter((way) => isHidden(stream, way)).flatMap(({ reads }) => reads.map(named)));
}

function isHidden(stream: Stream, way: Way): boolean {
  return privateFields[stream].includes(String(way.at[0])) || (isId(way) && isHashed(way));
}

function isId({ at }: Way): boolean {
  return idFields.has(String(at[0]));
}

function isHashed({ expression }: Way): boolean {
  return isJsonObject(expression) && expression["hash"] !== undefined;
}
