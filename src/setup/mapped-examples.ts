import { isJsonObject, type Json, type JsonObject } from "../base/canonical-json.ts";
import type { Problem } from "../base/errors.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { privateFields, secretFields, type Stream } from "../crm/model.ts";
import { describeValue } from "../source/mapping/context.ts";
import { openPlaces, givenBy, valuesAt, type Way } from "../source/mapping/ways.ts";
import { formatRawPath, everyElement, blankSecrets } from "../source/mapping/path.ts";
import { MemberNames } from "../source/shape.ts";
import { type SourceItem, readSample } from "../source/reader.ts";
import type { Source, StreamMapping } from "../source/source.ts";
import { faultOf, type SampleFault } from "./stream-sample.ts";

interface MappedExample {
  place: string;
  key: string | undefined;
  /** The raw form, with hidden values described. Undefined if unreadable. */
  raw: Json | undefined;
  record: Json | undefined;
  fault: SampleFault | undefined;
  skipped: boolean;
  ways: { field: string; kind: string | undefined; expression: Json; reads: FoundAt[]; gives: Json[] }[];
}

interface FoundAt {
  place: string;
  values: Json[];
}

const namesBy = 100;

const mostValues = 3;

/**
 * `key`: only records with this raw key or canonical id. Without `showPrivate`, private and unmapped values appear only
 * by type and length, and names that may be data as `*`. Secrets are never shown.
 */
export async function mappedExamples(
  source: Source,
  stream: Stream,
  settings: AssumptionSettings,
  options: { limit: number; key: string | undefined; showPrivate: boolean; signal: AbortSignal },
): Promise<{ examples: MappedExample[]; problem: Problem | undefined }> {
  const mapping = await source.mapping(stream, options.signal);
  const ways = mapping.ways();
  const wanted = (item: SourceItem): boolean => options.key === undefined || isOf(item, options.key, mapping);
  const names = new MemberNames(ways.flatMap(({ reads }) => reads));
  const { items, outcome } = await readSample(source, stream, {
    limit: options.limit,
    wanted,
    sees: { item: (item) => ("raw" in item ? names.see(item.raw.value) : undefined), atLeast: namesBy },
    signal: options.signal,
  });
  const shown = shownValues(stream, ways, options.showPrivate, names);
  return {
    examples: items.map((item) => exampleOf(item, { stream, mapping, ways, settings, shown })),
    problem: outcome?.problem,
  };
}

function isOf(item: SourceItem, key: string, mapping: StreamMapping): boolean {
  if ("bad" in item) return item.bad.key === key;
  if (item.raw.key === key) return true;
  const mapped = mapping.map(item.raw.value);
  return (mapped.ok ? mapped.value.record.id : mapped.error.id) === key;
}

interface ShownValues {
  ofRaw: (raw: JsonObject) => JsonObject;
  named: (raw: JsonObject) => JsonObject;
  ofRecord: (record: JsonObject) => Json;
}

function shownValues(stream: Stream, ways: readonly Way[], showPrivate: boolean, names: MemberNames): ShownValues {
  if (showPrivate) return { ofRaw: (raw) => raw, named: (raw) => raw, ofRecord: (record) => record };
  const open = openPlaces(stream, ways, formatRawPath);
  return {
    ofRaw: (raw) => describedMembers(raw, [], open),
    named: (raw) => names.shown(raw),
    ofRecord: (record) =>
      Object.fromEntries(
        Object.entries(record).map(([field, value]) => [
          field,
          privateFields[stream].includes(field) ? described(value) : value,
        ]),
      ),
  };
}

function describeExcept(value: Json, steps: Way["reads"][number], open: ReadonlySet<string>): Json {
  if (open.has(formatRawPath(steps)) && (typeof value !== "object" || value === null)) return value;
  if (Array.isArray(value)) return value.map((item) => describeExcept(item, [...steps, everyElement], open));
  return isJsonObject(value) ? describedMembers(value, steps, open) : described(value);
}

function describedMembers(value: JsonObject, steps: Way["reads"][number], open: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, describeExcept(member ?? null, [...steps, name], open)]),
  );
}

function described(value: Json | undefined): Json {
  return value === undefined || value === null ? null : `(${describeValue(value)})`;
}

interface Mapped {
  stream: Stream;
  mapping: StreamMapping;
  ways: readonly Way[];
  settings: AssumptionSettings;
  shown: ShownValues;
}

function exampleOf(item: SourceItem, { stream, mapping, ways, settings, shown }: Mapped): MappedExample {
  const found = faultOf(item, mapping, settings);
  const skipped = found === "skipped";
  const fault = found === "skipped" ? undefined : found;
  if ("bad" in item) {
    const { place, key } = item.bad;
    return { place, key, raw: undefined, record: undefined, fault, skipped, ways: [] };
  }
  const { place, key, value } = item.raw;
  const raw = shown.ofRaw(blankSecrets(value, mapping.secretPaths));
  const mapped = mapping.map(value);
  const record: JsonObject | undefined = mapped.ok
    ? blankSecrets({ ...mapped.value.record }, secretFields[stream])
    : undefined;
  const visible = record === undefined ? undefined : shown.ofRecord(record);
  const given = visible ?? shown.ofRecord(blankSecrets(mapping.gives(value), secretFields[stream]));
  return {
    place,
    key,
    raw: shown.named(raw),
    record: visible,
    fault,
    skipped,
    ways: ways.map(({ field, kind, expression, reads }) => ({
      field,
      kind,
      expression,
      reads: reads.map((steps) => ({
        place: formatRawPath(steps) || ".",
        values: valuesAt(raw, steps).slice(0, mostValues),
      })),
      gives: isJsonObject(given) ? givenBy({ field, kind }, given).slice(0, mostValues) : [],
    })),
  };
}
