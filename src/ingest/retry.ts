import type { Stream, RecordKey } from "../crm/model.ts";
import { type JsonObject, parseJsonObject } from "../base/canonical-json.ts";
import { messageOf } from "../base/errors.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { WaitingRow, MappedForm, StoredForm } from "../ledger/records/remapping.ts";
import { blankedSecret } from "../source/mapping/path.ts";
import type { Source, StreamMapping } from "../source/source.ts";
import { type MappedRow, StagedRecords } from "../ledger/records/staged-records.ts";
import { isSuspectCode } from "../report/next-steps.ts";
import { asJudged, ReadJudge } from "./belief/judge.ts";
import { mapRaw, hashOfRaw, type Mapper } from "./map-row.ts";
import { formatKey } from "../crm/keys.ts";

export type Retried =
  | { kind: "taken-up"; id: string }
  | { kind: "skipped"; id: string }
  | { kind: "still-unusable"; id: string; message: string }
  /** Mapped again at the next read. `why`: why not now. */
  | { kind: "waits-for-source"; id: string; why: string }
  /** Only a retry of this very row accepts it. */
  | { kind: "left-out"; id: string }
  | { kind: "unknown"; id: string };

const otherForm =
  "it may be another record, and the mapping has changed since it was shown: run its job, then look at it again";

/** Maps quarantined rows again from their stored raw form, with the current mapping. Does not call the sources. */
export class QuarantineRetries {
  readonly #ledger: Ledger;
  readonly #sources: readonly Source[];
  readonly #settings: AssumptionSettings;
  readonly #mappings = new Map<string, Promise<StreamMapping>>();

  constructor(deps: { ledger: Ledger; sources: readonly Source[]; settings: AssumptionSettings }) {
    this.#ledger = deps.ledger;
    this.#sources = deps.sources;
    this.#settings = deps.settings;
  }

  async retry(id: string, by: string): Promise<Retried> {
    const row = await this.#ledger.records.retry.waiting(id);
    if (row === undefined) return { kind: "unknown", id };
    const raw = storedForm(row);
    if (typeof raw === "string") return await this.#leave(id, by, raw);
    // An interrupted read may have had a newer form of the record.
    if ((await this.#ledger.records.lastRead(row.source, row.stream))?.finished_at === null)
      return await this.#leave(id, by, `the last read of ${row.source}/${row.stream} did not end`);
    const source = this.#sources.find((item) => item.name === row.source && item.streams.includes(row.stream));
    if (source === undefined)
      return await this.#leave(id, by, `${row.source}/${row.stream} is not configured any more`);
    let mapping: StreamMapping;
    try {
      mapping = await this.#mappingOf(source, row.stream);
    } catch (error) {
      return await this.#leave(id, by, messageOf(error));
    }
    const salt = await this.#ledger.private.rawSalt();
    const mapper = { stream: row.stream, mapping, settings: this.#settings };
    const mapped = mapRaw({ place: row.place, value: raw }, salt, mapper);
    const isSuspect = isSuspectCode(row.code);
    // A person accepts a suspect in the form that was shown, and in no other.
    if ("record" in mapped && isSuspect && mapped.record.rawHash !== row.rawHash)
      return { kind: "still-unusable", id, message: otherForm };
    const item = "record" in mapped && !isSuspect ? this.#judged(row, mapped) : mapped;
    if (!(await this.#ledger.records.retry.settle(id, item, by))) return { kind: "unknown", id };
    if ("skipped" in item) return { kind: "skipped", id };
    return "record" in item
      ? { kind: "taken-up", id }
      : { kind: "still-unusable", id, message: item.rejection.message };
  }

  /** Nobody was asked yet whether the row is another record. */
  #judged({ source, stream }: WaitingRow, row: MappedRow): MappedRow {
    const staged = new StagedRecords();
    try {
      staged.put([row]);
      const one = { floor: 1, share: 0 };
      const limits = { newIds: one, massChange: one };
      const ledger = this.#ledger.records.comparedAlone(source, stream);
      const kind = { isWhole: true, isComplete: false, areDetailsUnclear: false };
      const read = { stream, staged, rows: 1, ...kind, limits, ledger };
      return asJudged(row, new ReadJudge(read).judge().suspects);
    } finally {
      staged.close();
    }
  }

  async #leave(id: string, by: string, why: string): Promise<Retried> {
    await this.#ledger.records.retry.mark(id, by);
    return { kind: "waits-for-source", id, why };
  }

  #mappingOf(source: Source, stream: Stream): Promise<StreamMapping> {
    const key = JSON.stringify([source.name, stream]);
    const known = this.#mappings.get(key) ?? source.mapping(stream);
    this.#mappings.set(key, known);
    return known;
  }
}

function storedForm(row: WaitingRow): JsonObject | string {
  if (row.code === "duplicate-id" || row.code === "claimed-twice")
    return "which of its forms holds is seen only where they are read together";
  if (row.raw === null) return "its raw form was erased";
  // A rejection by the mapping always has `expected`; an item that was no record does not.
  if (row.expected === null) return "the record was not complete";
  if (row.raw.includes(JSON.stringify(blankedSecret))) return "its raw form is kept without its secrets";
  try {
    return parseJsonObject(row.raw);
  } catch {
    return "its raw form is no whole record";
  }
}

const page = 500;

/** Why a stored form is not mapped again. `older`: it may not be the latest form. */
type LeftReason = "erased" | "secrets" | "older" | "skipped" | "otherId";

export interface Remapped {
  source: string;
  stream: Stream;
  changed: number;
  unchanged: number;
  quarantined: number;
  left: Record<LeftReason, number>;
}

/** Uses a stored form only if its hash proves that it is the latest. The caller holds the run lock. */
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
