import { canonicalJson, sha256, type JsonObject } from "../base/canonical-json.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { customerKeyOf } from "../crm/keys.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { MappedRow } from "../ledger/records/staged-records.ts";
import type { SkippedRecord } from "../ledger/records/source-reads.ts";
import { validate } from "../engine/plan/validate.ts";
import type { Rejection } from "../source/mapping/compile.ts";
import { blankSecrets } from "../source/mapping/path.ts";
import type { RawRecord, SourceItem } from "../source/reader.ts";
import type { StreamMapping } from "../source/source.ts";

/** Identifies a raw record. Salted by the ledger: raw records have private values and may have secrets. */
export function hashOfItem(item: SourceItem, fingerprint: string): string {
  if ("raw" in item) return sha256(`${fingerprint}\n${canonicalJson(item.raw.value)}`);
  return sha256(
    `${fingerprint}\nbad\n${item.bad.key ?? item.bad.place}\n${item.bad.code}\n${item.bad.text ?? item.bad.message}`,
  );
}

export function hashOfRaw(value: JsonObject, salt: string, fingerprint: string): string {
  return hashOfItem({ raw: { place: "", value } }, salt + fingerprint);
}

function customerNamed(rejection: Rejection): RecordKey | undefined {
  const { namespace, customerNamespace, customerId } = rejection;
  return customerId === undefined ? undefined : { namespace: customerNamespace ?? namespace ?? "crm", id: customerId };
}

export interface Mapper {
  stream: Stream;
  mapping: StreamMapping;
  settings: AssumptionSettings;
}

export type MappedItem = MappedRow | { skipped: SkippedRecord };

export function mapRaw(raw: RawRecord, salt: string, mapper: Mapper): MappedItem {
  return mapItem({ raw }, hashOfItem({ raw }, salt + mapper.mapping.fingerprint), mapper);
}

export function mapItem(item: SourceItem, rawHash: string, { stream, mapping, settings }: Mapper): MappedItem {
  if ("bad" in item) {
    const { bad } = item;
    return {
      rejection: {
        rawHash,
        place: bad.place,
        key: undefined,
        customer: undefined,
        field: "",
        code: bad.code,
        message: bad.message,
        expected: undefined,
        raw: bad.text ?? "",
      },
    };
  }
  const { raw } = item;
  const kept = JSON.stringify(
    mapping.secretPaths.length === 0 ? raw.value : blankSecrets(raw.value, mapping.secretPaths),
  );
  const left = mapping.skip?.(raw.value);
  if (left?.ok === true && left.value !== undefined) return { skipped: left.value };
  const mapped = left?.ok === false ? left : mapping.map(raw.value);
  if (!mapped.ok) {
    const { namespace, id, field, code, message, expected } = mapped.error;
    const key: RecordKey | undefined = id === undefined ? undefined : { namespace: namespace ?? "crm", id };
    return {
      rejection: {
        rawHash,
        place: raw.place,
        key,
        customer: stream === "customers" ? key : customerNamed(mapped.error),
        field,
        code,
        message,
        expected,
        raw: kept,
      },
    };
  }
  const { record } = mapped.value;
  const key: RecordKey = { namespace: record.namespace, id: record.id };
  const customer = customerKeyOf(stream, record);
  const fault = validate(mapped.value, settings);
  if (fault !== undefined) return { rejection: { rawHash, place: raw.place, key, customer, ...fault, raw: kept } };
  const { zones } = mapped.value;
  return { record: { rawHash, place: raw.place, key, customer, record: { ...record }, zones, raw: kept } };
}
