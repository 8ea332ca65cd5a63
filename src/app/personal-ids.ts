import type { Json } from "../base/canonical-json.ts";
import { isAddressOrNumber } from "../crm/personal-data.ts";
import type { Stream } from "../crm/model.ts";
import { hiddenPlaces, inClear } from "../source/mapping/open-places.ts";
import { formatRawPath } from "../source/mapping/raw-path.ts";
import type { Way } from "../source/mapping/ways.ts";
import type { SourceItem } from "../source/reader.ts";
import type { StreamMapping } from "../source/source.ts";

/** Ids of a sample that are personal data: what they are, and how the mapping gives them. */
export interface PersonalIds {
  rows: number;
  are: "look like e-mail addresses or phone numbers" | "are read from a private field";
  expression: Json;
}

/**
 * Whether ids of a sample are personal data: most look like an address or a number, or the mapping reads those of people
 * where it reads a private field. Ids stand in clear everywhere and are never erased.
 */
export function personalIds(
  stream: Stream,
  usable: readonly SourceItem[],
  mapping: StreamMapping,
  ways: readonly Way[],
): PersonalIds | undefined {
  const way = ways.find(({ field }) => field === "id");
  if (way === undefined || usable.length === 0) return undefined;
  const { expression } = way;
  const others = ways.filter(({ field }) => field !== "id");
  const hidden = hiddenPlaces(stream, others, formatRawPath);
  const read = inClear(way);
  if (read.length === 0) return undefined;
  // The number of a customer is often the login of its administrator as well.
  if (stream === "staff" && read.some((steps) => hidden.has(formatRawPath(steps))))
    return { rows: usable.length, are: "are read from a private field", expression };
  const rows = usable.filter((item) => {
    const mapped = "raw" in item ? mapping.map(item.raw.value) : undefined;
    return mapped?.ok === true && isAddressOrNumber(mapped.value.record.id);
  }).length;
  return rows * 2 < usable.length
    ? undefined
    : { rows, are: "look like e-mail addresses or phone numbers", expression };
}
