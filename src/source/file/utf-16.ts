/** The encodings of two bytes a character, as settings name them. */
const encodings = ["utf-16le", "utf-16be"] as const;

/** So many times as many characters of ASCII as in the other order of bytes make an encoding certain. */
const certain = 10;

/**
 * Which encoding of two bytes a character a text is in, by its beginning: by its mark, or by the zero bytes that no other text has.
 * Undefined where it is in none, or nobody can be certain.
 */
export function utf16Of(beginning: Buffer): (typeof encodings)[number] | undefined {
  if (beginning.length < 2) return undefined;
  const mark = beginning.readUInt16BE();
  if (mark === 0xff_fe) return "utf-16le";
  if (mark === 0xfe_ff) return "utf-16be";
  if (!beginning.includes(0)) return undefined;
  const [little = 0, big = 0] = encodings.map((encoding) => {
    const text = new TextDecoder(encoding).decode(beginning.subarray(0, beginning.length - (beginning.length % 2)));
    return text.includes("\0") ? 0 : text.replaceAll(/[^\t\n\r -~]/gu, "").length;
  });
  if (little > certain * big) return "utf-16le";
  return big > certain * little ? "utf-16be" : undefined;
}
