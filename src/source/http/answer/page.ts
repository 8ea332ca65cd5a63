import type { Json } from "../../../base/canonical-json.ts";
import type { KnownSecrets } from "../../../base/known-secrets.ts";
import type { Problem } from "../../../base/errors.ts";
import { shownWords } from "../../../http/redaction.ts";
import type { FileItem } from "../../reader.ts";
import { sourceProblem } from "../../problems.ts";
import type { SourceProblemCode } from "../../problems.ts";

/** A page of a list, read. */
export interface Page {
  items: FileItem[];
  /** The answer around the records, for totals and cursors. */
  document: Json;
  /** Its HTTP status says that nothing is there, and so nothing of totals and cursors. */
  isNothing?: boolean;
}

/** An answer that is to be read. */
export interface Received {
  bytes: Buffer;
  /** Header fields by their names in small letters. */
  headers: Readonly<Record<string, string>>;
  /** The HTTP status, where it is one that means that nothing is there. */
  nothing?: number;
}

/** What a reader of answers calls them in messages. */
export interface Named {
  /** What the places of the records begin with. */
  place: string;
  who: string;
  /** What none of them may hold. */
  known: KnownSecrets;
}

/** An answer that holds no list, or none that can be read. */
export function unreadable(
  { place, who }: Pick<Named, "place" | "who">,
  what: string,
  code: SourceProblemCode = "source.wrong-shape",
): Problem {
  return sourceProblem(
    code,
    place,
    `The ${who} answers with ${what}.`,
    "Correct `url` and `records`; open the address to see its answer.",
  );
}

/** A page for people where data was asked for: a log-in, a proxy, an outage. Undefined where the text is none. */
export function htmlProblem(text: string, named: Named): Problem | undefined {
  if (!/^\s*(?:<!--[^>]*-->\s*)?<(?:!doctype\s+html|html|head|body)\b/iu.test(text.slice(0, 1_000))) return undefined;
  const title = /<title[^>]*>([^<]{1,500})/iu.exec(text.slice(0, 65_536))?.[1] ?? "";
  const words = shownWords(title, named.known, 120);
  return sourceProblem(
    "source.not-json",
    named.place,
    `The ${named.who} answers with a web page${words === "" ? "" : ` titled ${JSON.stringify(words)}`} and no data.`,
    "Open the address: it may be a sign-in page, a proxy or an outage. Correct `url` and `auth`, or wait.",
  );
}
