import { coreOf, decodedOnce, inSmallLetters, plainUnits } from "./spelled-text.ts";

/** Fewest characters of a secret that is looked for. */
export const shortestSecret = 4;

/** Fewest letters and digits by which a spelling is known among other texts. */
const shortestCore = 6;

/** By what a spelling is found. */
export interface Needle {
  /** Its letters and digits, in small letters. */
  core: string;
  /** The signs before the first and behind the last of them. */
  before: string;
  after: string;
}

/** The spellings of a secret. */
export interface SecretForms {
  /** Of spellings that have enough letters and digits. */
  needles: readonly Needle[];
  /** Whole spellings, in small letters, where they have not. */
  exact: readonly string[];
}

/** How a secret may be spelled in a text, beside what `decodedOnce` undoes. */
export function secretForms(secret: string): SecretForms {
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

/**
 * The text in hexadecimal digits, and the characters of Base64 that depend on it alone: what stands before it, such as
 * the user of a log-in, shifts them by none, one or two bytes.
 */
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
