import type { Json } from "../base/canonical-json.ts";
import type { Problem } from "../base/errors.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import type { Stream } from "../crm/model.ts";
import { isAddressOrNumber } from "../crm/personal-data.ts";
import { validate } from "../engine/plan/validate.ts";
import { hiddenPlaces, inClear, skipWay, valuesAt, type Way } from "../source/mapping/ways.ts";
import { formatRawPath } from "../source/mapping/path.ts";
import { type SourceItem, readSample } from "../source/reader.ts";
import type { Source, StreamMapping } from "../source/source.ts";

export interface StreamSample {
  stream: Stream;
  rows: number;
  isAll: boolean;
  mapped: number;
  skipped: number;
  faults: SampleFault[];
  emptyPlaces: EmptyPlace[];
  personalIds: PersonalIds | undefined;
  problem: Problem | undefined;
}

interface EmptyPlace {
  place: string;
  fields: string[];
  /** A condition or list of the mapping reads it, and no row has this member at all. */
  isMissing: boolean;
}

const sampleRows = 1_000;

/** Stores nothing. */
export async function lookAtStream(
  source: Source,
  stream: Stream,
  settings: AssumptionSettings,
  signal: AbortSignal,
): Promise<StreamSample> {
  const mapping = await source.mapping(stream, signal);
  const ways = mapping.ways();
  const { items, outcome } = await readSample(source, stream, { limit: sampleRows, signal });
  const finding: StreamSample = {
    stream,
    rows: items.length,
    isAll: outcome !== undefined,
    mapped: 0,
    skipped: 0,
    faults: [],
    emptyPlaces: [],
    personalIds: undefined,
    problem: outcome?.problem,
  };
  const usable: SourceItem[] = [];
  const kept: SourceItem[] = [];
  const faults = new Map<string, SampleFault>();
  for (const item of items) {
    const fault = faultOf(item, mapping, settings);
    if (fault !== "skipped") kept.push(item);
    if (fault === undefined || fault === "skipped") {
      finding[fault ?? "mapped"] += 1;
      if (fault === undefined) usable.push(item);
      continue;
    }
    const known = faults.get(`${fault.field}\n${fault.code}`);
    if (known === undefined) faults.set(`${fault.field}\n${fault.code}`, fault);
    else known.records += 1;
  }
  finding.personalIds = personalIds(stream, usable, mapping, ways);
  finding.faults = [...faults.values()].sort((one, other) => other.records - one.records);
  finding.emptyPlaces = items.length === 0 ? [] : emptyPlaces(items, kept, ways);
  return finding;
}

function emptyPlaces(
  items: readonly SourceItem[],
  kept: readonly SourceItem[],
  ways: readonly Way[],
): StreamSample["emptyPlaces"] {
  const fields = new Map<string, { steps: Way["reads"][number]; fields: Set<string>; decides: boolean }>();
  for (const { field, reads, deciding } of ways) {
    for (const steps of reads) {
      const place = formatRawPath(steps);
      const known = fields.get(place) ?? { steps, fields: new Set<string>(), decides: false };
      known.fields.add(field);
      known.decides ||= deciding.includes(steps);
      fields.set(place, known);
    }
  }
  for (const item of items) {
    if (!("raw" in item)) continue;
    for (const [place, { steps }] of fields) {
      if (valuesAt(item.raw.value, steps).some(isThere)) fields.delete(place);
    }
    if (fields.size === 0) return [];
  }
  return [...fields].map(([place, { steps, fields: readers, decides }]) => {
    const missing = decides ? missingAt(readers.has(skipWay) ? items : kept, steps) : undefined;
    // Places inside a missing list are reported with that list.
    const isMissing = missing !== undefined && (missing === place || !fields.has(missing));
    return { place: place === "" ? "." : place, fields: [...readers], isMissing };
  });
}

/** The first missing member on the way to a place, if some row has its parent. An empty list or null proves nothing. */
function missingAt(items: readonly SourceItem[], steps: Way["reads"][number]): string | undefined {
  const rows = items.flatMap((item) => ("raw" in item ? [item.raw.value] : []));
  const found = (length: number): Json[] => rows.flatMap((row) => valuesAt(row, steps.slice(0, length)));
  const first = steps.findIndex((_, index) => found(index + 1).length === 0);
  if (typeof steps[first] !== "string") return undefined;
  const isIn = found(first).some((value) => isThere(value) && !(Array.isArray(value) && value.length === 0));
  return isIn ? formatRawPath(steps.slice(0, first + 1)) : undefined;
}

/** An empty list is a value: the record has no elements. */
function isThere(value: Json): boolean {
  return value !== null && value !== "" && !(typeof value === "string" && value.trim() === "");
}

interface PersonalIds {
  rows: number;
  are: "look like e-mail addresses or phone numbers" | "are read from a private field";
  expression: Json;
}

/** Most ids look like an e-mail address or phone number, or ids of people come from a private field. */
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
  // For customers this proves nothing: the customer number is often the administrator's login too.
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

export interface SampleFault {
  field: string;
  code: string;
  message: string;
  expected: string;
  records: number;
  place: string;
}

/** Why a row would go into quarantine. Undefined if it is usable. */
export function faultOf(
  item: SourceItem,
  mapping: StreamMapping,
  settings: AssumptionSettings,
): SampleFault | "skipped" | undefined {
  if ("bad" in item) {
    const { place, code, message } = item.bad;
    return { field: "", code, message, expected: "a record that can be read", records: 1, place };
  }
  const { place, value } = item.raw;
  const left = mapping.skip?.(value);
  if (left?.ok === true && left.value !== undefined) return "skipped";
  const mapped = left?.ok === false ? left : mapping.map(value);
  if (!mapped.ok) {
    const { field, code, message, expected } = mapped.error;
    return { field, code, message, expected, records: 1, place };
  }
  const fault = validate(mapped.value, settings);
  return fault === undefined ? undefined : { ...fault, records: 1, place };
}
