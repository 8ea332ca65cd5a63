import { sha256, type Json } from "../base/canonical-json.ts";
import type { KnownSecrets } from "../base/known-secrets.ts";
import { toldWords } from "../base/told-words.ts";
import { emailAddress, internationalNumber } from "../crm/personal-data.ts";

const redacted = "[redacted]";

/** Fields with personal data or secrets, of both services, the CRM model and token answers, in lower case. */
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
/** Only so many characters of a text are searched for private values. The rest is dropped. */
const mostSearched = 8_192;
const mostCompared = 300;
const bearer = /\bBearer\s+[^\s"'<>]+/giu;
const mobile = /\+?\d(?:[\s\-().]?\d){8,14}(?!\d)/gu;

/** Only so many characters of a foreign text are searched for secrets. The rest is dropped. */
const mostCleaned = 65_536;
const phoneLike = /^\+?[\d\s\-()./]{6,}$/u;
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
const separators = "[\\s\\-().\\/]{0,3}";

type Scrubber = (text: string) => string;

/** Removes e-mail addresses, bearer tokens, international phone numbers and the given private values. */
export function scrub(text: string, privateValues: Iterable<string> = []): string {
  return scrubber(privateValues)(text);
}

/** Finds values in any case, in JSON and URL encoding, and phone numbers in any grouping. */
function scrubber(privateValues: Iterable<string>): Scrubber {
  const values = [...new Set(privateValues)];
  const isTraceIn = tracesOf(values);
  let pattern: RegExp | undefined;
  const known = (): RegExp => {
    const patterns = values.flatMap(patternsOf).toSorted((left, right) => right.length - left.length);
    return patterns.length === 0 ? /(?!)/u : new RegExp(patterns.join("|"), "giu");
  };
  return (whole) => {
    const text = whole.slice(0, mostSearched);
    let clean = isTraceIn(text) ? text.replace((pattern ??= known()), redacted) : text;
    clean = clean
      .replace(bearer, `Bearer ${redacted}`)
      .replace(emailAddress, redacted)
      .replace(internationalNumber, redacted);
    // The searched part may end with the first half of a private value.
    const most = whole.length > mostSearched ? Math.max(0, clean.length - mostSearched / 2) : clean.length;
    return most > largestText || most < clean.length ? `${clean.slice(0, Math.min(most, largestText))}…` : clean;
  };
}

/** Without escaped characters. Only characters of its own script match it. */
const plainAscii = /^[\t\n\r -$&-[\]-~]*$/u;

/** Fast: most texts have no value, and the full pattern costs more than a call. True if in doubt. */
function tracesOf(values: readonly string[]): (text: string) => boolean {
  const traces = new Set<string>();
  for (const value of values) {
    const trace = traceOf(value);
    if (trace === "") return () => true;
    if (trace !== undefined) traces.add(trace);
  }
  return (text) => {
    if (values.length === 0) return false;
    if (!plainAscii.test(text)) return true;
    const core = coreOf(text);
    for (const trace of traces) if (core.includes(trace)) return true;
    return false;
  };
}

/** Part of every plain text with the value. Undefined if no plain text can have it. */
function traceOf(value: string): string | undefined {
  const trimmed = value.trim();
  if (trimmed.length < 2) return undefined;
  const digits = phoneDigits(trimmed);
  if (digits !== undefined) return digits.length > 9 ? digits.slice(-8) : digits;
  // Two characters beyond ASCII equal a Latin letter if case is ignored.
  const searched = comparedCharacters(trimmed).slice(0, mostCompared).join("");
  const latin = searched.replaceAll("\u017F", "s").replaceAll("\u212A", "k");
  return /^[\0-\x7F]*$/u.test(latin) ? coreOf(latin) : undefined;
}

function coreOf(text: string): string {
  return text.replaceAll(/[^A-Za-z\d]/gu, "").toLowerCase();
}

/** Undefined if the text does not look like a phone number. */
export function phoneDigits(trimmed: string): string | undefined {
  const digits = trimmed.replaceAll(/\D/gu, "");
  return phoneLike.test(trimmed) && digits.length >= 6 ? digits : undefined;
}

/** The searched characters of a value, and one more if it is longer. */
function comparedCharacters(trimmed: string): string[] {
  return Array.from(
    trimmed
      .slice(0, 2 * mostCompared)
      .replaceAll(/\s+/gu, " ")
      .toWellFormed(),
  );
}

/** A single character would redact half of every message. */
function patternsOf(value: string): string[] {
  const trimmed = value.trim();
  if (trimmed.length < 2) return [];
  const digits = phoneDigits(trimmed);
  if (digits !== undefined) return [phonePattern(digits)];
  const characters = comparedCharacters(trimmed);
  const pattern = characters.slice(0, mostCompared).map(characterPattern).join("");
  // Of a very long value only the beginning is searched. All text after a match is dropped.
  if (characters.length > mostCompared) return [`${pattern}[^]*`];
  // A short name is part of many words. In scripts without spaces it stands between letters.
  const stands = trimmed.length > 3 || unspaced.test(trimmed);
  return [stands ? pattern : `(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`];
}

function characterPattern(char: string): string {
  if (char === " ") return "(?:\\s|%20|\\+){1,8}";
  const plain = RegExp.escape(char);
  if (/[\p{L}\p{N}]/u.test(char) && char <= "~") return plain;
  const codes = Array.from({ length: char.length }, (_, at) => char.charCodeAt(at).toString(16).padStart(4, "0"));
  const escaped = codes.map((code) => `\\\\{1,2}u${code}`).join("");
  return `(?:\\\\{0,2}${plain}|${escaped}|${RegExp.escape(encodeURIComponent(char))})`;
}

/** Allows separators. Of a long number only the end counts, because services drop or add country codes. */
export function phonePattern(digits: string): string {
  const end = digits.length > 9 ? digits.slice(-8) : digits;
  const before = digits.length > 9 ? `\\+?(?:\\d${separators}){0,7}` : "";
  return `(?<!\\d)${before}${Array.from(end).join(separators)}(?!\\d)`;
}

/** Also private values in any text. Null stays null: a missing value remains visible. Cuts deep and long parts. */
function redact(value: unknown, privateValues: readonly string[] = []): Json {
  return visit(value, scrubber(privateValues), 0);
}

function visit(value: unknown, clean: Scrubber, depth: number): Json {
  if (value === null || value === undefined) return null;
  if (typeof value === "string") return clean(value);
  if (typeof value === "number") {
    const text = String(value);
    if (clean(text) !== text) return redacted;
    return Number.isFinite(value) ? value : text;
  }
  if (typeof value === "boolean") return value;
  if (typeof value !== "object") return typeof value === "bigint" ? value.toString() : redacted;
  if (depth >= largestDepth) return "[too deep]";
  if (Array.isArray(value)) return value.map((element) => visit(element, clean, depth + 1));
  const copy: { [key: string]: Json } = {};
  for (const [key, member] of Object.entries(value)) {
    const cleanMember =
      privateKeys.has(key.toLowerCase()) && member !== null && member !== undefined
        ? redacted
        : visit(member, clean, depth + 1);
    const place = { value: cleanMember, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(copy, clean(key), place);
  }
  return copy;
}

/** The values of private fields in a request, longest first. They must not appear in its kept answer. */
export function privateValuesOf(request: unknown): string[] {
  const found = new Set<string>();
  collect(request, false, found, 0);
  return [...found].toSorted((left, right) => right.length - left.length);
}

function collect(value: unknown, isPrivate: boolean, found: Set<string>, depth: number): void {
  if (depth > largestDepth) return;
  if (typeof value === "string" || typeof value === "number") {
    if (isPrivate) found.add(String(value));
  } else if (Array.isArray(value)) {
    for (const element of value) collect(element, isPrivate, found, depth + 1);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      collect(member, isPrivate || privateKeys.has(key.toLowerCase()), found, depth + 1);
    }
  }
}

/** Cuts to `limit` characters, with size and hash. A redacted text is at most six times longer. */
export function keepable(answer: Json, textLength: number, privateValues: readonly string[], limit = 16_384): Json {
  const clean = redact(answer, privateValues);
  if (textLength * 8 <= limit) return clean;
  const text = JSON.stringify(clean);
  return text.length <= limit
    ? clean
    : { cut: true, characters: text.length, sha256: sha256(text), start: text.slice(0, limit) };
}

/** For an answer that is not JSON: size, hash and first words without tags, addresses and long digits. */
export function keepableText(text: string, known: KnownSecrets, privateValues: readonly string[]): Json {
  const excerpt = firstWords(text, known, 300, privateValues);
  return { unreadable: true, characters: text.length, sha256: sha256(text), excerpt };
}

/** Only words that surely name no person. `ours`: our request, whose words may be repeated. */
export function shownWords(text: string, known: KnownSecrets, most: number, ours = ""): string {
  return toldWords(firstWords(text, known, most, []), new Set(ours.match(/\w+/gu)));
}

/** Secrets are removed first: a shortened one would not be recognized. */
function firstWords(text: string, known: KnownSecrets, most: number, privateValues: readonly string[]): string {
  const words = known
    .words(text.slice(0, mostCleaned))
    .slice(0, 4_096)
    .replaceAll(/<[^>]*>/gu, " ")
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, " ")
    .replaceAll(/\s+/gu, " ")
    .trim();
  return scrub(known.words(words), privateValues).replaceAll(mobile, redacted).slice(0, most);
}
