import { decodedText } from "../base/spelled-text.ts";
import { scrub } from "../http/redaction.ts";

/**
 * Whether a text holds no e-mail address, phone number or token, also where it is written as in an address or, as
 * cursors of services are, in Base64.
 */
export function isClean(text: string): boolean {
  const plain = decodedText(text) ?? text;
  return [text, plain, ...unpacked(plain)].every((one) => scrub(one) === one);
}

/** What stands in a text as Base64, in either alphabet, where it is text itself. */
function unpacked(text: string): string[] {
  return [...text.matchAll(/[A-Za-z0-9+/_-]{16,}/gu)].flatMap(([packed]) => {
    const bytes = Buffer.from(packed, "base64url");
    const shown = bytes.toString("utf8");
    return Buffer.from(shown, "utf8").equals(bytes) ? [shown] : [];
  });
}
