import { isUtf8 } from "node:buffer";
import type { Json } from "../../base/canonical-json.ts";
import { JsonListScanner } from "../file/json-list.ts";
import type { FileItem } from "../file/row.ts";
import { hasRepeatedMember, measureJson, parseExact, parseInexact } from "../json.ts";
import type { RecordLimits } from "../limits.ts";
import { parsePath, valueAt } from "../mapping/path.ts";
import type { Path } from "../mapping/path.ts";
import { sourceProblem } from "../problems.ts";
import type { SourceProblemCode } from "../problems.ts";

/** A page of a list, read. */
export interface Page {
  items: FileItem[];
  /** The answer around the records, for totals and cursors. */
  document: Json;
}

/** What is read from a page, with its paths parsed. */
export interface PageShape {
  records: Path;
  limits: RecordLimits;
}

export function compileShape(records: string | undefined, limits: RecordLimits): PageShape {
  return { records: pathOf(records ?? "."), limits };
}

export function pathOf(text: string): Path {
  const parsed = parsePath(text);
  return parsed.ok ? parsed.value : { up: 0, steps: [] };
}

/**
 * Reads an answer. `place` is what the places of its records begin with, `shown` its address. Throws a Problem:
 * `source.not-json`, or `source.wrong-shape` where there is no list.
 */
export function readPage(bytes: Buffer, shape: PageShape, place: string, who: string): Page {
  const wrong = (what: string, code: SourceProblemCode = "source.wrong-shape"): never => {
    throw sourceProblem(
      code,
      place,
      `The ${who} answers with ${what}.`,
      "Correct `url` and `records`; open the address to see what it answers.",
    );
  };
  if (!isUtf8(bytes)) return wrong("bytes that are no UTF-8", "source.not-json");
  const text = bytes.toString("utf8").replace(/^\uFEFF/, "");
  let document: Json;
  let suspect = text.length > shape.limits.maxBytes;
  try {
    document = parseExact(text);
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) {
      return wrong("something that is no JSON, or was cut off", "source.not-json");
    }
    suspect = true;
    document = parseInexact(text);
  }
  const records = valueAt({ item: document, parent: undefined }, shape.records);
  if (!Array.isArray(records)) return wrong(`JSON without a list at ${shape.records.steps.join(".") || "its top"}`);
  const above = shape.records.steps.length + 1;
  const whole = measureJson(document, { maxDepth: shape.limits.maxDepth + above, maxMembers: Number.MAX_SAFE_INTEGER });
  // One record that cannot be trusted does not spoil the page: each is then parsed from its own bytes.
  if (suspect || !whole.ok || hasRepeatedMember(text, whole.value))
    return { document, items: scan(text, shape, place, wrong) };
  const items = records.map((value, index): FileItem => {
    const at = [place, ...shape.records.steps, index].join("/");
    const measured = measureJson(value, shape.limits);
    if (measured.ok) return { row: { place: at, value } };
    return {
      bad: { place: at, code: measured.error.code, message: `the record is unusable: ${measured.error.message}` },
    };
  });
  return { document, items };
}

function scan(text: string, shape: PageShape, place: string, wrong: (what: string) => never): FileItem[] {
  const scanner = new JsonListScanner("the answer", place, shape.records.steps, shape.limits);
  const problem = scanner.write(Buffer.from(text, "utf8")) ?? scanner.end();
  return problem === undefined ? scanner.take() : wrong("JSON that cannot be split into records");
}
