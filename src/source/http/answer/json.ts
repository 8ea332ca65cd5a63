import { isUtf8 } from "node:buffer";
import { isJsonObject } from "../../../base/canonical-json.ts";
import type { Json } from "../../../base/canonical-json.ts";
import { hasRepeatedMember } from "../../../base/repeated-members.ts";
import { shownWords } from "../../../http/redaction.ts";
import { JsonListScanner } from "../../file/json.ts";
import type { FileItem } from "../../reader.ts";
import { measureJson, parseExact, parseInexact } from "../../json.ts";
import type { RecordLimits } from "../../json.ts";
import { valueAt } from "../../mapping/path.ts";
import type { Path } from "../../mapping/path.ts";
import { wordsAside } from "./complaint.ts";
import { htmlProblem, unreadable } from "./page.ts";
import type { Named, Page, Received } from "./page.ts";

/** A JSON document, and its records once they are asked for. */
interface JsonAnswer {
  document: Json;
  /** Throws a Problem (`source.wrong-shape`) where there is no list. */
  page(records: Path, limits: RecordLimits): Page;
  /** What stands at a path as one record; null is none. Throws as `page` does where there is something else. */
  one(record: Path, limits: RecordLimits): Page;
}

/** Reads JSON. Throws a Problem: `source.not-json`. */
export function readJson({ bytes }: Received, maxBytes: number, named: Named): JsonAnswer {
  if (!isUtf8(bytes)) throw unreadable(named, "bytes that are not UTF-8", "source.not-json");
  const text = bytes.toString("utf8").replace(/^\uFEFF/, "");
  let document: Json;
  let suspect = text.length > maxBytes;
  try {
    document = parseExact(text);
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) {
      throw htmlProblem(text, named) ?? unreadable(named, "text that is not JSON, or was cut off", "source.not-json");
    }
    suspect = true;
    document = parseInexact(text);
  }
  const isSound = (path: Path, { maxDepth }: RecordLimits): boolean => {
    const above = path.steps.length + 1;
    const whole = measureJson(document, { maxDepth: maxDepth + above, maxMembers: Number.MAX_SAFE_INTEGER });
    return !suspect && whole.ok && !hasRepeatedMember(text, whole.value);
  };
  const said = (): string => {
    const words = shownWords(wordsAside(document) ?? "", named.known, 200).replace(/[.\s]+$/u, "");
    return words === "" ? "" : `; it says ${JSON.stringify(words)}`;
  };
  return {
    document,
    one(path, limits) {
      const record = valueAt({ item: document, parent: undefined }, path);
      if (record === null) return { document, items: [] };
      if (!isJsonObject(record))
        throw unreadable(named, `JSON without a single record at ${path.steps.join(".") || "its top"}${said()}`);
      if (isSound(path, limits)) return { document, items: measured([record], path, limits, named.place) };
      if (path.steps.length > 0) throw unreadable(named, "JSON whose record may be incomplete");
      return { document, items: scan(`[${text}]`, path, limits, named) };
    },
    page(path, limits) {
      const records = valueAt({ item: document, parent: undefined }, path);
      if (!Array.isArray(records))
        throw unreadable(named, `JSON without a list at ${path.steps.join(".") || "its top"}${said()}`);
      // One record that cannot be trusted does not spoil the page: each is then parsed from its own bytes.
      if (!isSound(path, limits)) return { document, items: scan(text, path, limits, named) };
      return { document, items: measured(records, path, limits, named.place) };
    },
  };
}

/** The elements of a list as records, each with its place; what is beyond the limits is a bad record. */
export function measured(records: readonly Json[], path: Path, limits: RecordLimits, place: string): FileItem[] {
  return records.map((value, index): FileItem => {
    const at = [place, ...path.steps, index].join("/");
    const size = measureJson(value, limits);
    if (size.ok) return { row: { place: at, value } };
    return { bad: { place: at, code: size.error.code, message: `the record is unusable: ${size.error.message}` } };
  });
}

function scan(text: string, path: Path, limits: RecordLimits, named: Named): FileItem[] {
  const scanner = new JsonListScanner("the answer", named.place, path.steps, limits);
  const problem = scanner.write(Buffer.from(text, "utf8")) ?? scanner.end();
  if (problem !== undefined) throw unreadable(named, "JSON that cannot be split into records");
  return scanner.take();
}
