export interface Units {
  text: string;
  /** For each character: the first position in the original text, and the position after the last. */
  from: readonly number[];
  to: readonly number[];
}

export interface Core {
  text: string;
  at: readonly number[];
}

export const mostRounds = 4;

const escapes =
  /%([0-9a-f]{2})|\\{1,2}u([0-9a-f]{4})|\\{1,2}x([0-9a-f]{2})|\\([bfnrt"'/\\])|&#(\d{1,7});|&#x([0-9a-f]{1,6});|&(amp|lt|gt|quot|apos);/giu;
const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const controls: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** By character code: 1 to 36 for digits and Latin letters in any case, else 0. */
const folds = Uint8Array.from({ length: 128 }, (_, code) => {
  const digit = /[0-9a-z]/u.exec(String.fromCharCode(code).toLowerCase())?.[0];
  return digit === undefined ? 0 : Number.parseInt(digit, 36) + 1;
});

/** Keeps the length: only the Turkish I with a dot would grow. */
export function inSmallLetters(text: string): string {
  return text.replaceAll("\u0130", "i").toLowerCase();
}

/** 0 unless it is a Latin letter or a digit. */
export function foldOf(code: number): number {
  return code < 128 ? (folds[code] ?? 0) : 0;
}

/** An escape of a URL, JSON or HTML may begin here. Not in "Smith & Co" or "100 %". */
export function beginsEscape(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code === 0x5c) return true;
  if (code !== 0x25 && code !== 0x26) return false;
  const next = text.charCodeAt(at + 1);
  return next === 0x23 || foldOf(next) > 0;
}

export function plainUnits(text: string): Units {
  const from = Array.from({ length: text.length }, (_, index) => index);
  return { text, from, to: from.map((index) => index + 1) };
}

/** Without the outermost escapes. Undefined if there are none. */
export function decodedOnce({ text, from, to }: Units): Units | undefined {
  let decoded = "";
  const starts: number[] = [];
  const ends: number[] = [];
  let done = 0;
  const keep = (end: number): void => {
    for (; done < end; done += 1) {
      decoded += text[done] ?? "";
      starts.push(from[done] ?? 0);
      ends.push(to[done] ?? 0);
    }
  };
  for (const match of text.matchAll(escapes)) {
    keep(match.index);
    const char = characterOf(match);
    decoded += char;
    done = match.index + match[0].length;
    for (let unit = 0; unit < char.length; unit += 1) {
      starts.push(from[match.index] ?? 0);
      ends.push(to[done - 1] ?? 0);
    }
  }
  if (starts.length === 0) return undefined;
  keep(text.length);
  return { text: decoded, from: starts, to: ends };
}

export function decodedText(text: string): string | undefined {
  if (text.search(escapes) < 0) return undefined;
  return text.replace(escapes, (...match: string[]) => characterOf(match));
}

function characterOf([, percent, unicode, byte, sign, decimal, hexadecimal, name]: readonly (
  | string
  | undefined
)[]): string {
  const hex = percent ?? unicode ?? byte ?? hexadecimal;
  if (hex !== undefined || decimal !== undefined) {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0x10_ffff ? "" : String.fromCodePoint(code);
  }
  if (name !== undefined) return named[name.toLowerCase()] ?? "";
  return controls[sign ?? ""] ?? sign ?? "";
}

export function coreOf({ text }: Pick<Units, "text">): Core {
  const at: number[] = [];
  let core = "";
  for (let index = 0; index < text.length; index += 1) {
    if (foldOf(text.charCodeAt(index)) === 0) continue;
    core += text[index] ?? "";
    at.push(index);
  }
  return { text: core.toLowerCase(), at };
}
