import { sourceProblem } from "../../problems.ts";
import { undeclaredUtf8 } from "../../file/bytes.ts";
import { utf16Of } from "../../file/bytes.ts";
import { unreadable } from "./page.ts";
import type { Named, Received } from "./page.ts";

/**
 * The text of an answer that may have an encoding of its own: the one of the settings, or else the one that it
 * declares. Throws a Problem for bytes which that does not have, and for UTF-8 that is declared as something else.
 */
export async function textOf(
  { bytes, headers }: Received,
  { encoding: known }: { encoding?: string | undefined },
  named: Named,
): Promise<string> {
  const told = /charset\s*=\s*"?([\w.:-]+)/iu.exec(headers["content-type"] ?? "")?.[1];
  const declared = /^<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)/u.exec(bytes.subarray(0, 200).toString("latin1"))?.[1];
  const encoding = known ?? told ?? declared ?? "utf-8";
  const found = utf16Of(bytes);
  if (found !== undefined && found !== new TextDecoder(encoding).encoding)
    throw sourceProblem(
      "source.wrong-encoding",
      named.place,
      `The ${named.who} declares ${encoding}, but the beginning of the answer is ${found}.`,
      `Set \`encoding: ${found}\`, or correct the declaration of the service.`,
    );
  let text: string;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw unreadable(named, `bytes that are not ${encoding}`, "source.not-json");
  }
  const undeclared = await undeclaredUtf8([bytes], encoding);
  if (undeclared === undefined) return text;
  const { line, byte } = undeclared;
  throw sourceProblem(
    "source.wrong-encoding",
    named.place,
    `The ${named.who} declares ${encoding}, but answers in UTF-8: line ${line} (byte ${byte}) shows this first.`,
    "Set `encoding: utf-8`, or correct the declaration of the service.",
  );
}
