import { unreadable } from "./page.ts";
import type { Named, Received } from "./page.ts";

/** The text of an answer that may have an encoding of its own. Throws a Problem for bytes which that does not have. */
export function textOf({ bytes, headers }: Received, named: Named): string {
  const told = /charset\s*=\s*"?([\w.:-]+)/iu.exec(headers["content-type"] ?? "")?.[1];
  const declared = /^<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)/u.exec(bytes.subarray(0, 200).toString("latin1"))?.[1];
  const encoding = told ?? declared ?? "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw unreadable(named, `bytes that are no ${encoding}`, "source.not-json");
  }
}
