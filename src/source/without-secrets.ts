import { isJsonObject, type Json, type JsonObject } from "../base/canonical-json.ts";
import { failed } from "../base/errors.ts";
import { hiddenSecret, type KnownSecrets } from "../base/known-secrets.ts";
import { decodedText } from "../base/spelled-text.ts";
import { scrub } from "../http/redaction.ts";
import type { MapRecord, Rejection, SkipRecord } from "./mapping/compile.ts";
import {
  changed,
  leftReading,
  type ReadOptions,
  type ReadOutcome,
  type SourceItem,
  type SourceReader,
} from "./reader.ts";

/** Removes secrets that the source repeats, positions with one and, unless `keepsText`, bad texts: one may be there. */
export async function* readWithoutSecrets(
  read: (options: ReadOptions) => ReturnType<SourceReader["read"]>,
  options: ReadOptions,
  { known, keepsText }: { known: KnownSecrets; keepsText: boolean },
): AsyncGenerator<SourceItem[], ReadOutcome, void> {
  const { reached } = options;
  const told = (position: string): void => {
    if (!known.isIn(position)) reached?.(position);
  };
  try {
    return yield* changed(read(reached === undefined ? options : { ...options, reached: told }), {
      batch: (items) => items.map((item) => cleanItem(item, known, keepsText)),
      end: (outcome) => cleanOutcome(outcome, known),
      left: leftReading,
    });
  } catch (thrown) {
    throw known.problem(thrown);
  }
}

function cleanItem(item: SourceItem, known: KnownSecrets, keepsText: boolean): SourceItem {
  if ("bad" in item) {
    const { place, key, message, text, ...rest } = item.bad;
    return {
      bad: {
        ...rest,
        place: known.words(place),
        message: known.words(message),
        ...(key === undefined ? {} : { key: known.words(key) }),
        ...(text === undefined || !keepsText ? {} : { text: known.words(text) }),
      },
    };
  }
  const { place, key, value } = item.raw;
  const clean = { place: known.data(place), value: known.record(value) };
  return { raw: key === undefined ? clean : { ...clean, key: known.data(key) } };
}

function cleanOutcome({ cursor, problem, ...rest }: ReadOutcome, known: KnownSecrets): ReadOutcome {
  return {
    ...rest,
    ...(cursor === undefined || known.isIn(cursor) ? {} : { cursor }),
    ...(problem === undefined ? {} : { problem: known.problem(problem) }),
  };
}

const otherSecret = "(another 7 secret)";

/** Maps a record twice, with different texts instead of a secret. Rejects it if a field differs or holds a secret. */
export function mapWithoutSecrets(map: MapRecord, known: KnownSecrets): MapRecord {
  return (raw) => {
    const mapped = map(raw);
    if (!mapped.ok) return mapped;
    const fields: JsonObject = { ...mapped.value.record };
    const isHeld = (name: string): boolean => known.isInTree(fields[name] ?? null);
    const field =
      (holdsHidden(raw) ? dependent(fields, map(withOther(raw))) : undefined) ??
      (known.isInTree(fields) ? Object.keys(fields).find(isHeld) : undefined);
    return field === undefined ? mapped : failed({ ...identityOf(fields, field), ...holdsSecret(field) });
  };
}

export function skipWithoutSecrets(skip: SkipRecord): SkipRecord {
  return (raw) => {
    const skipped = skip(raw);
    if (!skipped.ok || !holdsHidden(raw)) return skipped;
    const isSame = JSON.stringify(skipped) === JSON.stringify(skip(withOther(raw)));
    return isSame ? skipped : failed(holdsSecret("skip"));
  };
}

function holdsSecret(field: string): Rejection {
  return {
    field,
    code: "secret",
    message: `${field}: the source returns a password, key or token of crm-sync here`,
    expected: "a value without it",
  };
}

function identityOf(fields: JsonObject, field: string): Partial<Rejection> {
  const told: Partial<Rejection> = {};
  for (const name of ["namespace", "id", "customerNamespace", "customerId"] as const) {
    const value = fields[name];
    if (typeof value === "string" && name !== field && !value.includes(hiddenSecret)) told[name] = value;
  }
  return told;
}

function dependent(fields: JsonObject, other: ReturnType<MapRecord>): string | undefined {
  if (!other.ok) return other.error.field;
  const others: JsonObject = { ...other.value.record };
  const names = [...new Set([...Object.keys(fields), ...Object.keys(others)])];
  return names.find((name) => JSON.stringify(fields[name]) !== JSON.stringify(others[name]));
}

function holdsHidden(value: Json): boolean {
  if (typeof value === "string") return value.includes(hiddenSecret);
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsHidden);
  for (const name in value) if (name.includes(hiddenSecret) || holdsHidden(value[name] ?? null)) return true;
  return false;
}

function withOther(raw: JsonObject): JsonObject {
  const other = replaced(raw);
  return isJsonObject(other) ? other : raw;
}

function replaced(value: Json): Json {
  if (typeof value === "string") return value.replaceAll(hiddenSecret, otherSecret);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(replaced);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.replaceAll(hiddenSecret, otherSecret),
      replaced(member ?? null),
    ]),
  );
}

/** Whether a text holds no e-mail address, phone number or token, also URL-encoded or in Base64, as in cursors. */
export function isClean(text: string): boolean {
  const plain = decodedText(text) ?? text;
  return [text, plain, ...unpacked(plain)].every((one) => scrub(one) === one);
}

function unpacked(text: string): string[] {
  return [...text.matchAll(/[A-Za-z0-9+/_-]{16,}/gu)].flatMap(([packed]) => {
    const bytes = Buffer.from(packed, "base64url");
    const shown = bytes.toString("utf8");
    return Buffer.from(shown, "utf8").equals(bytes) ? [shown] : [];
  });
}
