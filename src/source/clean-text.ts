import { scrub } from "../http/redaction.ts";

/** Whether a text holds no e-mail address, phone number or token, also where it is written as in an address. */
export function isClean(text: string): boolean {
  return [text, decoded(text)].every((one) => scrub(one) === one);
}

/** A text as it is without the escapes of an address; the text itself where they are none. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
