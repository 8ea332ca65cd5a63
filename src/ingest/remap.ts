import { parseJsonObject } from "../base/canonical-json.ts";
import type { JsonObject } from "../base/canonical-json.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { MappedForm, StoredForm } from "../ledger/records/remapping.ts";
import { blankedSecret } from "../source/mapping/path.ts";
import type { Source } from "../source/source.ts";
import { hashOfRaw, mapRaw } from "./map-row.ts";
import type { Mapper } from "./map-row.ts";

/** How many records are mapped at a time. */
const page = 500;

/**
 * Why a stored form is not mapped again: it was erased, its secrets are missing, or it may not be the latest. Or the
 * stream skips it, or its id changed or is missing.
 */
type LeftReason = "erased" | "secrets" | "older" | "skipped" | "otherId";

/** The results for the stored forms of one stream of a source. */
export interface Remapped {
  source: string;
  stream: Stream;
  changed: number;
  /** Mapped again without a change. */
  unchanged: number;
  quarantined: number;
  /** Records that keep their earlier mapping, by reason. */
  left: Record<LeftReason, number>;
}

/**
 * Maps the stored raw forms of records that are missing from the last full reads of a stream, with the current mapping
 * and tables. Customers with changes become pending. A form is used only if its hash proves that it is the latest. The
 * caller holds the run lock.
 */
export async function remapMissing(
  { ledger, settings }: { ledger: Ledger; settings: AssumptionSettings },
  source: Source,
  stream: Stream,
): Promise<Remapped> {
  const left = { erased: 0, secrets: 0, older: 0, skipped: 0, otherId: 0 };
  const result: Remapped = { source: source.name, stream, changed: 0, unchanged: 0, quarantined: 0, left };
  let after: RecordKey | undefined;
  let how: How | undefined;
  for (;;) {
    const forms = await ledger.records.remapping.storedForms(source.name, stream, after, page);
    if (forms.length === 0) return result;
    after = forms.at(-1)?.key;
    how ??= {
      mapper: { stream, mapping: await source.mapping(stream), settings },
      earlier: await ledger.records.remapping.mappingsOf(source.name, stream),
      salt: await ledger.private.rawSalt(),
    };
    const mapped: MappedForm[] = [];
    for (const form of forms) {
      const item = mapAnew(form, how);
      if (item === "current") continue;
      if (typeof item === "string") left[item] += 1;
      else mapped.push({ key: form.key, item });
    }
    if (mapped.length === 0) continue;
    const taken = await ledger.records.remapping.take(source.name, stream, mapped);
    result.changed += taken.changed;
    result.unchanged += taken.unchanged;
    result.quarantined += taken.quarantined;
  }
}

interface How {
  mapper: Mapper;
  salt: string;
  /** Fingerprints of earlier mappings of the stored forms. */
  earlier: readonly string[];
}

function mapAnew(
  { key, raw, rawHash, isRefused }: StoredForm,
  { mapper, salt, earlier }: How,
): MappedForm["item"] | LeftReason | "current" {
  if (raw === null) return "erased";
  if (raw.includes(JSON.stringify(blankedSecret))) return "secrets";
  const value: JsonObject = parseJsonObject(raw);
  const isOfNow = hashOfRaw(value, salt, mapper.mapping.fingerprint) === rawHash;
  // A rejected form that maps to its earlier result is good again.
  if (isOfNow && !isRefused) return "current";
  if (!isOfNow && !earlier.some((fingerprint) => hashOfRaw(value, salt, fingerprint) === rawHash)) return "older";
  const item = mapRaw({ place: `the stored form of ${formatKey(key)}`, value }, salt, mapper);
  if ("skipped" in item) return "skipped";
  const mappedKey = "record" in item ? item.record.key : item.rejection.key;
  return mappedKey?.namespace === key.namespace && mappedKey.id === key.id ? item : "otherId";
}
