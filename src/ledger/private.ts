import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { Json, JsonObject } from "../base/canonical-json.ts";
import { canonicalJson, hashOf, sha256 } from "../base/canonical-json.ts";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import type { Stream } from "../crm/model.ts";
import { privateFields } from "../crm/model.ts";

/** Seals and opens secrets with the configured key (AES-256-GCM, a random nonce each time). */
export interface SealingKey {
  seal(plain: string): string;
  open(sealed: string): string;
}

/** The key is derived from the configured text by SHA-256, so that any secret of enough length serves. */
export function sealingKey(secret: string): SealingKey {
  if (secret.length < 16) {
    throw new Problem({
      code: "config.seal-key-short",
      message: "the sealing key has fewer than 16 characters",
      cure: "set ledger.sealKey to a secret of at least 16 characters, for example from `openssl rand -hex 32`",
      exitCode: exitCodes.configuration,
      place: "ledger.sealKey",
    });
  }
  const key = createHash("sha256").update("crm-sync sealing key\u0000").update(secret).digest();
  return {
    seal: (plain) => {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      return `v1:${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64")}`;
    },
    open: (sealed) => {
      const bytes = Buffer.from(sealed.replace(/^v1:/, ""), "base64");
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12));
      decipher.setAuthTag(bytes.subarray(12, 28));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("utf8");
      } catch (error) {
        throw new Problem({
          code: "ledger.wrong-seal-key",
          message: `a sealed value cannot be opened with the configured key (${messageOf(error)})`,
          cure: "set ledger.sealKey to the key the ledger was used with so far",
          exitCode: exitCodes.configuration,
          cause: error,
        });
      }
    },
  };
}

/** Salted commitment to one private value: 128 bits of SHA-256, so that equal values of one record compare without being shown. */
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
  const replace = (holder: JsonObject, key: string, field: string, into: JsonObject): void => {
    const value = holder[key];
    if (value === undefined) return;
    into[field] = value;
    holder[key] = { $private: ref, field, version: 0, commitment: commitmentTo(salt, field, value) };
  };
  for (const field of privateFields[stream]) replace(body, field, field, values);
  if (stream === "staff") replace(body, "password", "password", secrets);
  if (stream === "orders" && Array.isArray(body["instances"])) {
    body["instances"] = body["instances"].map((instance) => {
      if (!isObject(instance) || instance["passwords"] === undefined) return instance;
      const copy = { ...instance };
      const id = typeof instance["id"] === "string" ? instance["id"] : "";
      replace(copy, "passwords", `instances[${id}].passwords`, secrets);
      return copy;
    });
  }
  const bodyHash = hashOf(body);
  return { body: JSON.stringify(withVersion(body, version)), bodyHash, values, secrets };
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function withVersion(body: JsonObject, version: number): Json {
  const visit = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(visit);
    if (!isObject(value)) return value;
    if (typeof value["$private"] === "string") return { ...value, version };
    const copy: JsonObject = {};
    for (const key of Object.keys(value)) {
      const member = value[key];
      if (member !== undefined) copy[key] = visit(member);
    }
    return copy;
  };
  return visit(body);
}
