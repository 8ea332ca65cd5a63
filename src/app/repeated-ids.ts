import { canonicalJson, toJson } from "../base/canonical-json.ts";
import type { SourceItem } from "../source/reader.ts";
import type { StreamMapping } from "../source/source.ts";
import type { SampleFault } from "./sample-fault.ts";

/**
 * Records of a sample that a run would quarantine, since another one of the same read has their id and different
 * content, as where the mapping takes the id from the wrong field.
 */
export function repeatedIds(usable: readonly SourceItem[], mapping: StreamMapping): SampleFault | undefined {
  const known = new Map<string, { rows: number; contents: Set<string>; place: string }>();
  for (const item of usable) {
    const mapped = "raw" in item ? mapping.map(item.raw.value) : undefined;
    if (mapped?.ok !== true || !("raw" in item)) continue;
    const { record } = mapped.value;
    const id = JSON.stringify([record.namespace, record.id]);
    const content = canonicalJson(toJson(record));
    const before = known.get(id);
    if (before === undefined) {
      known.set(id, { rows: 1, contents: new Set([content]), place: item.raw.place });
      continue;
    }
    before.rows += 1;
    before.contents.add(content);
  }
  const repeated = [...known.values()].filter(({ contents }) => contents.size > 1);
  const [first] = repeated;
  if (first === undefined) return undefined;
  return {
    field: "id",
    code: "duplicate-id",
    message: "other rows have the same id and different content",
    expected: "an id that no two records have",
    records: repeated.reduce((sum, { rows }) => sum + rows, 0),
    place: first.place,
  };
}
