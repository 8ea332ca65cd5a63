import { isJsonObject, canonicalJson, sha256, type Json, type JsonObject } from "../../base/canonical-json.ts";
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from "node:crypto";
import { exitCodes, messageOf, Problem } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import { type RecordKey, type Stream, privateFields } from "../../crm/model.ts";

/** The owner of a sealed value. It opens for this owner only, so that rows cannot be swapped. */
export interface SealedFor {
  ref: string;
  version: number;
}

/** AES-256-GCM, with a random nonce each time. */
export interface SealingKey {
  seal(plain: string, of: SealedFor): string;
  open(sealed: string, of: SealedFor): string;
}

export interface SealingSalt {
  read(): string | undefined;
  make(): string;
}

const scryptCost = { N: 16_384, r: 8, p: 1 };

/** Deriving is slow on purpose, and a process may open a ledger many times. */
let derived: { secret: string; salt: string; key: Buffer }[] = [];

/** Derives the key by scrypt from the configured text and the ledger's salt, on first use. `former` only opens. */
export function sealingKey(current: string, salt: SealingSalt, former?: string): SealingKey {
  if (current.length < 16) {
    throw new Problem({
      code: "config.seal-key-short",
      message: "the sealing key has fewer than 16 characters",
      cure: "set ledger.sealKey to a secret of at least 16 characters, for example from `openssl rand -hex 32`",
      exitCode: exitCodes.configuration,
      place: "ledger.sealKey",
    });
  }
  const keyFor = (secret: string, text: string): Buffer => {
    const known = derived.find((one) => one.salt === text && one.secret === secret);
    if (known !== undefined) return known.key;
    const key = scryptSync(secret, text, 32, scryptCost);
    derived = [...derived.slice(-1), { secret, salt: text, key }];
    return key;
  };
  const opened = (secret: string, bytes: Buffer, of: SealedFor): string => {
    const key = keyFor(secret, salt.read() ?? "");
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12), { authTagLength: 16 });
    decipher.setAAD(bindingOf(of));
    decipher.setAuthTag(bytes.subarray(12, 28));
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("utf8");
  };
  return {
    seal: (plain, of) => {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", keyFor(current, salt.read() ?? salt.make()), nonce);
      cipher.setAAD(bindingOf(of));
      const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64");
    },
    open: (sealed, of) => {
      const bytes = Buffer.from(sealed, "base64");
      try {
        return opened(current, bytes, of);
      } catch (error) {
        const before = former === undefined ? undefined : openedOr(() => opened(former, bytes, of));
        if (before !== undefined) return before;
        throw new Problem({
          code: "ledger.wrong-seal-key",
          message:
            `ledger.sealKey cannot decrypt the value ${of.ref}, version ${of.version} (${messageOf(error)}): it was ` +
            "sealed with another key, or for another record",
          cure:
            "set ledger.formerSealKey to the key that was used before. If the key was never changed, restore the " +
            "ledger from a backup",
          exitCode: exitCodes.configuration,
          cause: error,
        });
      }
    },
  };
}

function openedOr(open: () => string): string | undefined {
  try {
    return open();
  } catch {
    return undefined;
  }
}

function bindingOf({ ref, version }: SealedFor): Buffer {
  return Buffer.from(JSON.stringify(["crm-sync sealed value", ref, version]), "utf8");
}

/** 128 bits of SHA-256 with a salt. Equal values of one record compare without being shown. */
export function commitmentTo(salt: string, field: string, value: Json): string {
  return sha256(`${salt}\u0000${field}\u0000${canonicalJson(value)}`).slice(0, 32);
}

export interface PrivatisedRecord {
  /** Canonical JSON, with a commitment instead of each private or secret value. */
  body: string;
  bodyHash: string;
  values: JsonObject;
  secrets: JsonObject;
}

/** Private fields and passwords become `{commitment}`. Licence passwords are `instances[<id>].passwords`. */
export function privatise(stream: Stream, record: JsonObject, salt: string): PrivatisedRecord {
  const values: JsonObject = {};
  const secrets: JsonObject = {};
  const body: JsonObject = { ...record };
  const { instances } = record;
  if (Array.isArray(instances)) body["instances"] = instances.map((one) => (isJsonObject(one) ? { ...one } : one));
  const split = (into: JsonObject) => (holder: JsonObject, name: string, field: string) => {
    const value = holder[name];
    if (value === undefined) return;
    into[field] = value;
    holder[name] = { commitment: commitmentTo(salt, field, value) };
  };
  for (const name of privateFields[stream]) split(values)(body, name, name);
  forEachSecret(stream, body, split(secrets));
  const text = canonicalJson(body);
  return { body: text, bodyHash: sha256(text), values, secrets };
}

/** The opposite of `privatise`: adds markers of this version. */
export function withMarkers(stream: Stream, key: RecordKey, version: number, body: JsonObject): JsonObject {
  const ref = `${stream}/${formatKey(key)}`;
  const mark = (holder: JsonObject, name: string, field: string): void => {
    const kept = holder[name];
    if (isJsonObject(kept)) holder[name] = { $private: ref, field, version, commitment: kept["commitment"] };
  };
  for (const name of privateFields[stream]) mark(body, name, name);
  forEachSecret(stream, body, mark);
  return body;
}

function forEachSecret(
  stream: Stream,
  body: JsonObject,
  visit: (holder: JsonObject, name: string, field: string) => void,
): void {
  if (stream === "staff") visit(body, "password", "password");
  const { instances } = body;
  if (stream !== "orders" || !Array.isArray(instances)) return;
  for (const one of instances)
    if (isJsonObject(one))
      visit(one, "passwords", `instances[${typeof one["id"] === "string" ? one["id"] : ""}].passwords`);
}
