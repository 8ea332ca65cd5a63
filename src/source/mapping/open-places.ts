import { privateFields } from "../../crm/model.ts";
import type { Stream } from "../../crm/model.ts";
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
  const open = new Set<string>();
  for (const way of ways.filter(({ isCondition }) => !isCondition))
    for (const place of inClear(way).map(named)) if (isId(way) || !hidden.has(place)) open.add(place);
  return open;
}

/** The raw places that the mapping reads for private fields, or to give their hash. */
export function hiddenPlaces(
  stream: Stream,
  ways: readonly Way[],
  named: (steps: Way["reads"][number]) => string,
): Set<string> {
  return new Set(ways.flatMap((way) => (isPrivate(stream, way) ? way.reads : way.hashed).map(named)));
}

/** What a way reads, but for what it only gives a hash of. */
export function inClear({ reads, hashed }: Way): Way["reads"] {
  return reads.filter((steps) => !hashed.includes(steps));
}

function isPrivate(stream: Stream, { at }: Way): boolean {
  return privateFields[stream].includes(String(at[0]));
}

function isId({ at }: Way): boolean {
  return idFields.has(String(at[0]));
}
