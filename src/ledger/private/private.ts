import { isJsonObject, canonicalJson, hashOf, parseJsonObject, sha256 } from "../../base/canonical-json.ts";
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from "node:crypto";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { exitCodes, messageOf, Problem } from "../../base/errors.ts";
import type { Stream } from "../../crm/model.ts";
import { privateFields } from "../../crm/model.ts";
import type { PrivateMarker } from "../../engine/model/references.ts";

/** What a sealed value belongs to. It opens for this and for nothing else, so that no row can stand in for another. */
export interface SealedFor {
  ref: string;
  version: number;
}

/** Seals and opens secrets with the configured key (AES-256-GCM, a random nonce each time). */
export interface SealingKey {
  seal(plain: string, of: SealedFor): string;
  open(sealed: string, of: SealedFor): string;
}

/** The salt of a ledger, kept in it: `make` gives one to a ledger that has none, inside the writer's transaction. */
export interface SealingSalt {
  read(): string | undefined;
  make(): string;
}

const scryptCost = { N: 16_384, r: 8, p: 1 };

/** The keys that were derived last: a process opens one ledger many times, and deriving is meant to be slow. */
let derived: { secret: string; salt: string; key: Buffer }[] = [];

/**
 * The key is derived from the configured text and the ledger's salt by scrypt, when it is first needed. What `former`
 * sealed can be opened too; nothing is sealed with it any more.
 */
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

/**
 * Salted commitment to one private value: 128 bits of SHA-256, so that equal values of one record compare without being
 * shown.
 */
export function commitmentTo(salt: string, field: string, value: Json): string {
  return sha256(`${salt}\u0000${field}\u0000${canonicalJson(value)}`).slice(0, 32);
}

/** A record split into what every table may hold and what only the private table may hold. */
export interface PrivatisedRecord {
  /** The record with a marker in place of every private or secret value, all at `version`. */
  body: string;
  /** Hash of the record with commitments only: equal records of any version have equal hashes. */
  bodyHash: string;
  values: JsonObject;
  secrets: JsonObject;
}

/** The hash of a record as `privatise` gave it, from the text in which any version of it is kept. */
export function formHash(body: string): string {
  const record = parseJsonObject(body);
  const unversioned = (holder: JsonObject, key: string): void => {
    const marker = holder[key];
    if (isJsonObject(marker) && typeof marker["$private"] === "string") holder[key] = { ...marker, version: 0 };
  };
  for (const key of Object.keys(record)) unversioned(record, key);
  const instances: Json = record["instances"] ?? [];
  if (Array.isArray(instances))
    for (const instance of instances) if (isJsonObject(instance)) unversioned(instance, "passwords");
  return hashOf(record);
}

/**
 * Splits a canonical record. Private fields (names, mobiles, e-mails, addresses) and secrets (passwords) become markers
 * `{$private, field, version, commitment}`; licence passwords are addressed as `instances[<id>].passwords`.
 */
export function privatise(
  stream: Stream,
  record: JsonObject,
  salt: string,
  ref: string,
  version: number,
): PrivatisedRecord {
  const values: JsonObject = {};
  const secrets: JsonObject = {};
  const body: JsonObject = { ...record };
  const markers: PrivateMarker[] = [];
  const replace = (holder: JsonObject, key: string, field: string, into: JsonObject): void => {
    const value = holder[key];
    if (value === undefined) return;
    into[field] = value;
    const marker = { $private: ref, field, version: 0, commitment: commitmentTo(salt, field, value) };
    markers.push(marker);
    holder[key] = marker;
  };
  for (const field of privateFields[stream]) replace(body, field, field, values);
  if (stream === "staff") replace(body, "password", "password", secrets);
  if (stream === "orders" && Array.isArray(body["instances"])) {
    body["instances"] = body["instances"].map((instance) => {
      if (!isJsonObject(instance) || instance["passwords"] === undefined) return instance;
      const copy = { ...instance };
      const id = typeof instance["id"] === "string" ? instance["id"] : "";
      replace(copy, "passwords", `instances[${id}].passwords`, secrets);
      return copy;
    });
  }
  const bodyHash = hashOf(body);
  for (const marker of markers) marker.version = version;
  return { body: JSON.stringify(body), bodyHash, values, secrets };
}
