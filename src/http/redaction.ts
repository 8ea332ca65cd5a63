import type { Json } from "../base/canonical-json.ts";
import { sha256 } from "../base/canonical-json.ts";

/** What stands in place of a value that must not be seen. */
export const redacted = "[redacted]";

/** Fields of the two services, of the CRM model and of token answers that hold personal data or secrets, in lower case. */
const privateKeys = new Set([
  "name",
  "username",
  "customername",
  "enterprisename",
  "adminname",
  "adminaccount",
  "adminemail",
  "admincellnumber",
  "adminmobile",
  "purchasermobile",
  "passwordmobile",
  "mobile",
  "phone",
  "email",
  "address",
  "remark",
  "password",
  "passwords",
  "operatoridentity",
  "bounduserinfo",
  "authorization",
  "cookie",
  "set-cookie",
  "clienttoken",
  "usertoken",
  "token",
  "access_token",
  "refresh_token",
  "id_token",
  "client_secret",
  "clientsecret",
  "secret",
  "keyword",
  "g_nonce",
]);

const largestDepth = 64;
const largestText = 2_000;
const email = /[^\s@<>"',;:]+@[^\s@<>"',;:]+/gu;
const bearer = /\bBearer\s+[^\s"'<>]+/giu;
/** Runs of digits that could be a mobile number, also with separators. */
const mobile = /\+?\d(?:[\s\-().]?\d){8,14}(?!\d)/gu;

/** A text without e-mail addresses, bearer tokens and the given private values. */
export function scrub(text: string, privateValues: Iterable<string> = []): string {
  let clean = text;
  for (const value of privateValues) clean = clean.replaceAll(value, redacted);
  clean = clean.replace(bearer, `Bearer ${redacted}`).replace(email, redacted);
  return clean.length > largestText ? `${clean.slice(0, largestText)}…` : clean;
}

/**
 * A copy of a value in which fields that hold personal data or secrets are replaced, and so are the given private values wherever they occur in a
 * text. Null stays null, so that "not given" remains visible. Very deep and very long parts are cut.
 */
export function redact(value: unknown, privateValues: readonly string[] = []): Json {
  return visit(value, privateValues, 0);
}

function visit(value: unknown, privateValues: readonly string[], depth: number): Json {
  if (value === null || value === undefined) return null;
  if (typeof value === "string") return scrub(value, privateValues);
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "boolean") return value;
  if (typeof value !== "object") return typeof value === "bigint" ? value.toString() : redacted;
  if (depth >= largestDepth) return "[too deep]";
  if (Array.isArray(value)) return value.map((element) => visit(element, privateValues, depth + 1));
  const copy: { [key: string]: Json } = {};
  for (const [key, member] of Object.entries(value)) {
    const cleanKey = scrub(key, privateValues);
    const clean =
      privateKeys.has(key.toLowerCase()) && member !== null && member !== undefined
        ? redacted
        : visit(member, privateValues, depth + 1);
    Object.defineProperty(copy, cleanKey, { value: clean, enumerable: true, configurable: true, writable: true });
  }
  return copy;
}

/** The texts of a request that must not show up in what is kept of its answer: the values of private fields, longest first. */
export function privateValuesOf(request: unknown): string[] {
  const found = new Set<string>();
  collect(request, false, found, 0);
  return [...found].toSorted((left, right) => right.length - left.length);
}

function collect(value: unknown, isPrivate: boolean, found: Set<string>, depth: number): void {
  if (depth > largestDepth) return;
  if (typeof value === "string") {
    // A single character would blot out half of every message.
    if (isPrivate && value.length > 1) found.add(value);
  } else if (Array.isArray(value)) {
    for (const element of value) collect(element, isPrivate, found, depth + 1);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      collect(member, isPrivate || privateKeys.has(key.toLowerCase()), found, depth + 1);
    }
  }
}

/**
 * Redacts an answer of `textLength` characters and cuts it to `limit` characters of JSON; what is cut keeps its size and hash. Redacting makes a
 * text at most six times longer, so that the size of a short one need not be looked at.
 */
export function keepable(answer: Json, textLength: number, privateValues: readonly string[], limit = 16_384): Json {
  const clean = redact(answer, privateValues);
  if (textLength * 8 <= limit) return clean;
  const text = JSON.stringify(clean);
  return text.length <= limit
    ? clean
    : { cut: true, characters: text.length, sha256: sha256(text), start: text.slice(0, limit) };
}

/** What is kept of an answer that is not JSON: its size, its hash and its first words without tags, addresses and long digits. */
export function keepableText(text: string, privateValues: readonly string[]): Json {
  const words = text
    .slice(0, 4_096)
    .replaceAll(/<[^>]*>/gu, " ")
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, " ")
    .replaceAll(/\s+/gu, " ")
    .trim();
  const excerpt = scrub(words, privateValues).replaceAll(mobile, redacted).slice(0, 300);
  return { unreadable: true, characters: text.length, sha256: sha256(text), excerpt };
}
