import { sha256, type Json } from "../base/canonical-json.ts";
import type { KnownSecrets } from "../base/known-secrets.ts";
import { toldWords } from "../base/told-words.ts";
import { emailAddress, internationalNumber } from "../crm/personal-data.ts";

/** What stands in place of a value that must not be seen. */
const redacted = "[redacted]";

/**
 * Fields of the two services, of the CRM model and of token answers that hold personal data or secrets, in lower case.
 */
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
/** Characters of a text in which private values are looked for; what lies behind is not kept. */
const mostSearched = 8_192;
/** Characters of a private value that are looked for. */
const mostCompared = 300;
const bearer = /\bBearer\s+[^\s"'<>]+/giu;
/** Runs of digits that could be a mobile number, also with separators. */
const mobile = /\+?\d(?:[\s\-().]?\d){8,14}(?!\d)/gu;

/** Characters of a text of somebody else in which secrets are looked for; what lies behind is not kept. */
const mostCleaned = 65_536;
const phoneLike = /^\+?[\d\s\-()./]{6,}$/u;
/** Letters of scripts that put no spaces between words. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
const separators = "[\\s\\-().\\/]{0,3}";

type Scrubber = (text: string) => string;

/** A text without e-mail addresses, bearer tokens, international phone numbers and the given private values. */
export function scrub(text: string, privateValues: Iterable<string> = []): string {
  return scrubber(privateValues)(text);
}

/**
 * Private values are found in any case, in JSON and URL encoding, and phone numbers however their digits are grouped.
 */
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
    // The end of what was searched may hold the first half of a private value.
    const most = whole.length > mostSearched ? Math.max(0, clean.length - mostSearched / 2) : clean.length;
    return most > largestText || most < clean.length ? `${clean.slice(0, Math.min(most, largestText))}…` : clean;
  };
}

/** A text in which no character is escaped, and which only characters of its own script can match. */
const plainAscii = /^[\t\n\r -$&-[\]-~]*$/u;

/**
 * Whether a text may hold one of the values. Most texts of an answer are ids that hold none, and a pattern that finds
 * values in every form costs more than such a call: so first its letters and digits are looked through for those of the
 * values. Says yes where that could be wrong.
 */
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

/** What every plain text must hold that holds the value; undefined where no such text can. */
function traceOf(value: string): string | undefined {
  const trimmed = value.trim();
  if (trimmed.length < 2) return undefined;
  const digits = phoneDigits(trimmed);
  if (digits !== undefined) return digits.length > 9 ? digits.slice(-8) : digits;
  // Two letters beyond ASCII are the same as a Latin one where case does not count.
  const searched = comparedCharacters(trimmed).slice(0, mostCompared).join("");
  const latin = searched.replaceAll("\u017F", "s").replaceAll("\u212A", "k");
  return /^[\0-\x7F]*$/u.test(latin) ? coreOf(latin) : undefined;
}

function coreOf(text: string): string {
  return text.replaceAll(/[^A-Za-z\d]/gu, "").toLowerCase();
}

/** The digits of what looks like a phone number. */
export function phoneDigits(trimmed: string): string | undefined {
  const digits = trimmed.replaceAll(/\D/gu, "");
  return phoneLike.test(trimmed) && digits.length >= 6 ? digits : undefined;
}

/** The characters of a value that are looked for, and one more where there are more. */
function comparedCharacters(trimmed: string): string[] {
  return Array.from(
    trimmed
      .slice(0, 2 * mostCompared)
      .replaceAll(/\s+/gu, " ")
      .toWellFormed(),
  );
}

/** How a value may stand in a text. A single character would blot out half of every message. */
function patternsOf(value: string): string[] {
  const trimmed = value.trim();
  if (trimmed.length < 2) return [];
  const digits = phoneDigits(trimmed);
  if (digits !== undefined) return [phonePattern(digits)];
  const characters = comparedCharacters(trimmed);
  const pattern = characters.slice(0, mostCompared).map(characterPattern).join("");
  // Of a value that no pattern can hold its beginning is looked for, and nothing behind it is kept.
  if (characters.length > mostCompared) return [`${pattern}[^]*`];
  // A short name is a part of many words, but where words stand without spaces a name stands beside letters.
  const stands = trimmed.length > 3 || unspaced.test(trimmed);
  return [stands ? pattern : `(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`];
}

/** One character as it is, as JSON escapes it, and as an address does. */
function characterPattern(char: string): string {
  if (char === " ") return "(?:\\s|%20|\\+){1,8}";
  const plain = RegExp.escape(char);
  if (/[\p{L}\p{N}]/u.test(char) && char <= "~") return plain;
  const codes = Array.from({ length: char.length }, (_, at) => char.charCodeAt(at).toString(16).padStart(4, "0"));
  const escaped = codes.map((code) => `\\\\{1,2}u${code}`).join("");
  return `(?:\\\\{0,2}${plain}|${escaped}|${RegExp.escape(encodeURIComponent(char))})`;
}

/**
 * The digits with anything between them; of a long number its end, since services leave the country's digits out or put
 * others in front.
 */
export function phonePattern(digits: string): string {
  const end = digits.length > 9 ? digits.slice(-8) : digits;
  const before = digits.length > 9 ? `\\+?(?:\\d${separators}){0,7}` : "";
  return `(?<!\\d)${before}${Array.from(end).join(separators)}(?!\\d)`;
}

/**
 * A copy of a value in which fields that hold personal data or secrets are replaced, and so are the given private
 * values wherever they occur in a text. Null stays null, so that "not given" remains visible. Very deep and very long
 * parts are cut.
 */
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

/**
 * The texts of a request that must not show up in what is kept of its answer: the values of private fields, longest
 * first.
 */
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

/**
 * Redacts an answer of `textLength` characters and cuts it to `limit` characters of JSON; what is cut keeps its size
 * and hash. Redacting makes a text at most six times longer, so that the size of a short one need not be looked at.
 */
export function keepable(answer: Json, textLength: number, privateValues: readonly string[], limit = 16_384): Json {
  const clean = redact(answer, privateValues);
  if (textLength * 8 <= limit) return clean;
  const text = JSON.stringify(clean);
  return text.length <= limit
    ? clean
    : { cut: true, characters: text.length, sha256: sha256(text), start: text.slice(0, limit) };
}

/**
 * What is kept of an answer that is not JSON: its size, its hash and its first words without tags, addresses and long
 * digits.
 */
export function keepableText(text: string, known: KnownSecrets, privateValues: readonly string[]): Json {
  const excerpt = firstWords(text, known, 300, privateValues);
  return { unreadable: true, characters: text.length, sha256: sha256(text), excerpt };
}

/**
 * The first words of a text that somebody else wrote, for a message: on one line, and only what surely is of no person;
 * `ours`: what the program asked for, of which they may repeat the words.
 */
export function shownWords(text: string, known: KnownSecrets, most: number, ours = ""): string {
  return toldWords(firstWords(text, known, most, []), new Set(ours.match(/\w+/gu)));
}

/**
 * The first words on one line, without secrets, tags, addresses, long digits and the given private values. Secrets are
 * taken out before anything else: what tags or an end are taken off of is no longer known for one.
 */
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
