import { parseJsonObject } from "../base/canonical-json.ts";
import type { JsonObject } from "../base/canonical-json.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { MappedForm } from "../ledger/records/remapping.ts";
import type { StoredForm } from "../ledger/records/stored-forms.ts";
import { blankedSecret } from "../source/mapping/secrets.ts";
import type { Source, StreamMapping } from "../source/source.ts";
import { hashOfRaw, mapRaw } from "./ingest.ts";

/** Records that are mapped at a time. */
const page = 500;

/** Why a stored form is not mapped anew, each with what people read. */
const leftReasons = {
  erased: "the raw form was erased",
  secrets: "the raw form is kept without its secrets",
  older: "the raw form is not known to be the one that came last",
  skipped: "the stream leaves it out",
  otherId: "the mapping gives it another id, or none, which only a reading of everything can tell of",
} as const;
type LeftReason = keyof typeof leftReasons;

/** What became of the stored forms of one stream of a source. */
export interface Remapped {
  source: string;
  stream: Stream;
  /** Forms that this mapping was used on before. */
  current: number;
  changed: number;
  /** Mapped anew to what they were. */
  unchanged: number;
  quarantined: number;
  /** Records that stand as they were mapped last, by why. */
  left: Record<LeftReason, number>;
}

interface RemapDependencies {
  ledger: Ledger;
  settings: AssumptionSettings;
  signal?: AbortSignal | undefined;
}

/**
 * Maps the stored raw forms of a stream with the mapping and the tables of now, and asks the CRM nothing. Customers of
 * whom something changed are pending. A form is used only where its hash says that it is what came last. `missing`: of
 * records alone that the last whole reads lacked. The caller holds the run lock.
 */
export async function remapStream(
  { ledger, settings, signal }: RemapDependencies,
  source: Source,
  stream: Stream,
  { missing }: { missing: boolean } = { missing: false },
): Promise<Remapped> {
  const left = { erased: 0, secrets: 0, older: 0, skipped: 0, otherId: 0 };
  const result: Remapped = { source: source.name, stream, current: 0, changed: 0, unchanged: 0, quarantined: 0, left };
  let after: RecordKey | undefined;
  let mapper: Mapper | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const forms = await ledger.records.storedForms(source.name, stream, after, page, { missing });
    if (forms.length === 0) return result;
    after = forms.at(-1)?.key;
    mapper ??= await mapperOf(ledger, settings, source, stream, signal);
    const mapped: MappedForm[] = [];
    for (const form of forms) {
      const item = mapAnew(form, stream, mapper);
      if (item === "current") result.current += 1;
      else if (typeof item === "string") left[item] += 1;
      else mapped.push({ key: form.key, item });
    }
    if (mapped.length === 0) continue;
    if (!missing && result.changed + result.unchanged + result.quarantined === 0)
      await ledger.records.checkpoints.forgetReadings(source.name, stream);
    const taken = await ledger.records.remapping.take(source.name, stream, mapped);
    result.changed += taken.changed;
    result.unchanged += taken.unchanged;
    result.quarantined += taken.quarantined;
  }
}

/** How many records stand as they were mapped last, and why. */
export function leftOf({ left }: Remapped): { why: string; count: number }[] {
  const { erased, secrets, older, skipped, otherId } = left;
  return [
    { why: leftReasons.erased, count: erased },
    { why: leftReasons.secrets, count: secrets },
    { why: leftReasons.older, count: older },
    { why: leftReasons.skipped, count: skipped },
    { why: leftReasons.otherId, count: otherId },
  ].filter(({ count }) => count > 0);
}

interface Mapper {
  mapping: StreamMapping;
  salt: string;
  settings: AssumptionSettings;
  /** Fingerprints of mappings that the stored forms may have been mapped with. */
  earlier: readonly string[];
}

async function mapperOf(
  ledger: Ledger,
  settings: AssumptionSettings,
  source: Source,
  stream: Stream,
  signal: AbortSignal | undefined,
): Promise<Mapper> {
  const mapping = await source.mapping(stream, signal);
  const earlier = await ledger.records.remapping.mappingsOf(source.name, stream);
  return { mapping, salt: await ledger.private.rawSalt(), settings, earlier };
}

function mapAnew(
  { key, raw, rawHash, isRefused }: StoredForm,
  stream: Stream,
  { mapping, salt, settings, earlier }: Mapper,
): MappedForm["item"] | LeftReason | "current" {
  if (raw === null) return "erased";
  if (raw.includes(JSON.stringify(blankedSecret))) return "secrets";
  const value: JsonObject = parseJsonObject(raw);
  const isOfNow = hashOfRaw(value, salt, mapping.fingerprint) === rawHash;
  // What is refused and would be mapped as it was once is good again.
  if (isOfNow && !isRefused) return "current";
  if (!isOfNow && !earlier.some((fingerprint) => hashOfRaw(value, salt, fingerprint) === rawHash)) return "older";
  const item = mapRaw(stream, { place: `the stored form of ${formatKey(key)}`, value }, mapping, salt, settings);
  if ("skipped" in item) return "skipped";
  const mappedKey = "record" in item ? item.record.key : item.rejection.key;
  return mappedKey?.namespace === key.namespace && mappedKey.id === key.id ? item : "otherId";
}
