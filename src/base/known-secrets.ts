import type { Json, JsonObject } from "./canonical-json.ts";
import { Problem } from "./errors.ts";
import {
  beginsEscape,
  coreOf,
  decodedOnce,
  decodedText,
  foldOf,
  inSmallLetters,
  mostRounds,
  plainUnits,
  type Core,
  type Units,
} from "./spelled-text.ts";

const shortestSecret = 4;

/** A spelling with fewer letters and digits is searched exactly. */
const shortestCore = 6;

interface Needle {
  core: string;
  before: string;
  after: string;
}

interface SecretForms {
  needles: readonly Needle[];
  exact: readonly string[];
}

/** Spellings besides those that `decodedOnce` decodes. */
function secretForms(secret: string): SecretForms {
  const trimmed = secret.replace(/^\uFEFF/u, "").trim();
  const spelled = [trimmed, decodedOnce(plainUnits(trimmed))?.text ?? trimmed];
  const packed = [trimmed, trimmed.toLowerCase(), trimmed.toUpperCase(), encodeURIComponent(trimmed.toWellFormed())];
  const forms = [...spelled, ...packed.flatMap(packedForms)];
  const needles = forms.map(needleOf).filter(({ core }) => core.length >= shortestCore);
  const isKnownByCore = coreOf({ text: trimmed }).text.length >= shortestCore;
  const escaped = [trimmed, JSON.stringify(trimmed).slice(1, -1), encodeURIComponent(trimmed.toWellFormed())];
  const exact = isKnownByCore ? [] : [...escaped, unicodeEscaped(trimmed)].map(inSmallLetters);
  return { needles, exact: [...new Set(exact)] };
}

function needleOf(text: string): Needle {
  const [before = "", , after = ""] = /^([^A-Za-z\d]*)(.*?)([^A-Za-z\d]*)$/su.exec(text)?.slice(1) ?? [];
  return { core: coreOf({ text }).text, before, after };
}

/** Hex, and the Base64 characters that depend only on the text, after 0, 1 or 2 earlier bytes. */
function packedForms(text: string): string[] {
  const bytes = Buffer.from(text, "utf8");
  const shifted = [0, 1, 2].map((before) => {
    const written = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    return written.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  return [bytes.toString("hex"), ...shifted];
}

function unicodeEscaped(text: string): string {
  return Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16).padStart(4, "0"))
    .map((code) => `\\u${code}`)
    .join("");
}

export const hiddenSecret = "[secret hidden]";

const gram = 5;
/** A part of a secret is hidden from this length on, where a text may be cut. */
const shortestPart = 8;
const shortestEnd = 6;
const mostTokens = 128;
/** A hundred spellings set few of these bits, so few texts need a second look. */
const filterBits = 18;

type Range = [from: number, to: number];

/** In words that somebody may have cut, half a secret counts too. */
type Part = "whole" | "half";

/**
 * Removes known secrets from outside texts. Finds them in any case, with signs in between, within longer texts, and
 * encoded (URL, JSON, HTML, Base64, hex). Whoever resolves or receives a secret adds it.
 */
export class KnownSecrets {
  readonly #lasting = new Map<string, SecretForms>();
  readonly #tokens = new Map<string, SecretForms>();
  readonly #filter = new Uint8Array(1 << filterBits);
  #needles: Needle[] = [];
  #exact: string[] = [];
  #grams: Map<string, { needle: Needle; at: number }[]> | undefined;

  /** A secret of the configuration. Fewer than four characters would hide half of every text. */
  add(secret: string): void {
    if (this.#lasting.has(secret) || secret.trim().length < shortestSecret) return;
    this.#tokens.delete(secret);
    this.#lasting.set(secret, secretForms(secret));
    this.#changed();
  }

  /** A token or a session number from a service. Each user adds it again, because only the last ones are kept. */
  addToken(token: string): void {
    if (this.#lasting.has(token) || token.trim().length < shortestSecret) return;
    const forms = this.#tokens.get(token);
    this.#tokens.delete(token);
    this.#tokens.set(token, forms ?? secretForms(token));
    if (forms !== undefined) return;
    const [oldest] = this.#tokens.keys();
    if (this.#tokens.size > mostTokens && oldest !== undefined) this.#tokens.delete(oldest);
    this.#changed();
  }

  #changed(): void {
    const forms = [...this.#lasting.values(), ...this.#tokens.values()];
    this.#needles = [...new Map(forms.flatMap(({ needles }) => needles.map((one) => [one.core, one]))).values()];
    this.#exact = [...new Set(forms.flatMap(({ exact }) => exact))];
    this.#grams = undefined;
    this.#filter.fill(0);
    for (const { core } of this.#needles) {
      let hash = 0;
      for (let at = 0; at < gram; at += 1) hash = nextHash(hash, foldOf(core.charCodeAt(at)));
      this.#filter[slotOf(hash)] = 1;
    }
  }

  isIn(text: string): boolean {
    return this.#mayHold(text) && this.#ranges(text, "whole").length > 0;
  }

  /** In any text, number or member name. */
  isInTree(value: Json): boolean {
    return this.#mayHoldInside(value) && this.tree(value) !== value;
  }

  data(text: string): string {
    return this.#without(text, "whole");
  }

  /** Also removes halves of a secret that was cut. */
  words(text: string): string {
    return this.#without(text, "half");
  }

  /** Returns the same value if it has no secret. `words`: for display only. */
  tree(value: Json, use: "data" | "words" = "data"): Json {
    const part = use === "data" ? "whole" : "half";
    if (typeof value === "string") return this.#without(value, part);
    if (typeof value === "number") return this.isIn(String(value)) ? hiddenSecret : value;
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      const cleaned = value.map((element) => this.tree(element, use));
      return cleaned.some((element, index) => element !== value[index]) ? cleaned : value;
    }
    return this.record(value, use);
  }

  record(value: JsonObject, use: "data" | "words" = "data"): JsonObject {
    if (use === "data" && !this.#mayHoldInside(value)) return value;
    let isSame = true;
    const members = Object.entries(value).map(([name, member]): [string, Json] => {
      const clean = this.#without(name, "whole");
      const inside = this.tree(member ?? null, use);
      if (clean !== name || inside !== (member ?? null)) isSame = false;
      return [clean, inside];
    });
    return isSame ? value : Object.fromEntries(members);
  }

  /** Other errors are returned as they are. */
  problem<Thrown>(thrown: Thrown): Thrown | Problem {
    if (!(thrown instanceof Problem)) return thrown;
    const { code, exitCode } = thrown;
    const message = this.words(thrown.message);
    const cure = this.words(thrown.cure);
    const place = thrown.place === undefined ? undefined : this.words(thrown.place);
    if (message === thrown.message && cure === thrown.cure && place === thrown.place) return thrown;
    return new Problem({ code, message, cure, exitCode, place });
  }

  #without(text: string, part: Part): string {
    if (this.#needles.length === 0 && this.#exact.length === 0) return text;
    if (part === "whole" && !this.#mayHold(text)) return text;
    const ranges = merged(this.#ranges(text, part));
    let clean = "";
    let from = 0;
    for (const [start, end] of ranges) {
      clean += text.slice(from, start) + hiddenSecret;
      from = end;
    }
    return clean + text.slice(from);
  }

  /** A fast check, because most texts have no secret. True if in doubt. */
  #mayHold(text: string): boolean {
    const filter = this.#filter;
    for (let round = 0, decoded: string | undefined = text; decoded !== undefined && round < mostRounds; round += 1) {
      if (this.#exact.length > 0 && this.#holdsExact(decoded)) return true;
      let hash = 0;
      let hasEscape = false;
      for (let at = 0; at < decoded.length; at += 1) {
        const code = decoded.charCodeAt(at);
        const fold = foldOf(code);
        if (fold === 0) {
          hasEscape ||= beginsEscape(decoded, at);
          continue;
        }
        hash = nextHash(hash, fold);
        if (filter[slotOf(hash)] === 1) return true;
      }
      decoded = hasEscape ? decodedText(decoded) : undefined;
    }
    return false;
  }

  #holdsExact(text: string): boolean {
    const folded = inSmallLetters(text);
    return this.#exact.some((secret) => folded.includes(secret));
  }

  #mayHoldInside(value: Json): boolean {
    if (typeof value === "string") return this.#mayHold(value);
    if (typeof value === "number") return this.#mayHold(String(value));
    if (typeof value !== "object" || value === null) return false;
    if (Array.isArray(value)) return value.some((element) => this.#mayHoldInside(element));
    for (const name in value) if (this.#mayHold(name) || this.#mayHoldInside(value[name] ?? null)) return true;
    return false;
  }

  #ranges(text: string, part: Part): Range[] {
    const ranges: Range[] = [];
    let units: Units | undefined = plainUnits(text);
    for (let round = 0; units !== undefined && round < mostRounds; round += 1) {
      const core = coreOf(units);
      ranges.push(...(part === "whole" ? this.#wholes(core, units) : this.#parts(core, units)), ...this.#exacts(units));
      units = decodedOnce(units);
    }
    return ranges;
  }

  #wholes(core: Core, units: Units): Range[] {
    const ranges: Range[] = [];
    for (const needle of this.#needles)
      for (let at = core.text.indexOf(needle.core); at >= 0; at = core.text.indexOf(needle.core, at + 1)) {
        if (isInNumber(units.text, [core.at[at] ?? 0, core.at[at + needle.core.length - 1] ?? 0])) continue;
        ranges.push(rangeOf(core, units, { at, length: needle.core.length, needle }));
      }
    return ranges;
  }

  /** Half of a secret, or its beginning at the end of the text. */
  #parts(core: Core, units: Units): Range[] {
    const ranges: Range[] = [];
    const grams = (this.#grams ??= gramsOf(this.#needles));
    for (let start = 0; start + gram <= core.text.length; start += 1) {
      for (const { needle, at } of grams.get(core.text.slice(start, start + gram)) ?? []) {
        const whole = needle.core;
        let length = gram;
        while (at + length < whole.length && core.text[start + length] === whole[at + length]) length += 1;
        const isEnd = at === 0 && start + length === core.text.length && length >= shortestEnd;
        const least = Math.min(whole.length, Math.max(shortestPart, Math.ceil(whole.length / 2)));
        if (isEnd || length >= least) ranges.push(rangeOf(core, units, { at: start, length, needle }));
      }
    }
    return ranges;
  }

  #exacts({ text, from, to }: Units): Range[] {
    const ranges: Range[] = [];
    const folded = inSmallLetters(text);
    for (const secret of this.#exact)
      for (let at = folded.indexOf(secret); at >= 0; at = folded.indexOf(secret, at + 1)) {
        const last = at + secret.length - 1;
        if (!isInNumber(folded, [at, last])) ranges.push([from[at] ?? 0, to[last] ?? 0]);
      }
    return ranges;
  }
}

function nextHash(hash: number, fold: number): number {
  return ((hash << 6) | fold) & 0x3fff_ffff;
}

function slotOf(hash: number): number {
  return Math.imul(hash, 0x9e37_79b1) >>> (32 - filterBits);
}

function gramsOf(needles: readonly Needle[]): Map<string, { needle: Needle; at: number }[]> {
  const grams = new Map<string, { needle: Needle; at: number }[]>();
  for (const needle of needles)
    for (let at = 0; at + gram <= needle.core.length; at += 1) {
      const key = needle.core.slice(at, at + gram);
      const known = grams.get(key);
      if (known === undefined) grams.set(key, [{ needle, at }]);
      else known.push({ needle, at });
    }
  return grams;
}

/** Digits within a longer number, such as an id, are no sign of a secret of digits. */
function isInNumber(text: string, [first, last]: readonly [first: number, last: number]): boolean {
  const isDigit = (at: number): boolean => /\d/u.test(text[at] ?? "");
  return (isDigit(first - 1) || isDigit(last + 1)) && /^\P{L}*$/u.test(text.slice(first, last + 1));
}

function rangeOf(
  core: Core,
  { text, from, to }: Units,
  { at, length, needle }: { at: number; length: number; needle: Needle },
): Range {
  let first = core.at[at] ?? 0;
  let last = core.at[at + length - 1] ?? 0;
  for (let sign = needle.before.length; sign > 0 && text[first - 1] === needle.before[sign - 1]; sign -= 1) first -= 1;
  for (let sign = 0; sign < needle.after.length && text[last + 1] === needle.after[sign]; sign += 1) last += 1;
  return [from[first] ?? 0, to[last] ?? 0];
}

function merged(ranges: Range[]): Range[] {
  const joined: Range[] = [];
  for (const [from, to] of ranges.toSorted((left, right) => left[0] - right[0])) {
    const last = joined.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}
