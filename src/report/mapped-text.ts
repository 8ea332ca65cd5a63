import { isJsonObject, type Json } from "../base/canonical-json.ts";
import { printable, renderTable, type View } from "./text.ts";

interface MappedRow {
  place: string;
  key: string | undefined;
  raw: Json | undefined;
  record: Json | undefined;
  fault: { field: string; code: string; message: string; expected: string } | undefined;
  skipped: boolean;
  ways: {
    field: string;
    kind: string | undefined;
    expression: Json;
    reads: { place: string; values: Json[] }[];
    gives: Json[];
  }[];
}

export function mappedText(row: MappedRow, view: View): string {
  const { place, key, raw, record, fault, skipped, ways } = row;
  const head = `${printable(place)}${key === undefined ? "" : `, key ${printable(key)}`}`;
  const said =
    fault === undefined
      ? `${head}: ${skipped ? "is skipped" : "can be used"}`
      : `${head}: would be quarantined (${fault.code})\n` +
        `  ${printable(fault.message)}; expected ${printable(fault.expected)}`;
  if (raw === undefined) return said;
  const [left, right] = [linesOf(raw, 0), record === undefined ? [] : linesOf(record, 0)];
  const beside = Array.from({ length: Math.max(left.length, right.length) }, (_, index) => [
    left[index] ?? "",
    right[index] ?? "",
  ]);
  const table = renderTable(["raw", "mapped"], beside, view);
  const way = renderTable(
    ["field", "gives", "finds", "by"],
    ways.map(({ field, kind, expression, reads, gives }) => [
      kind === undefined ? field : `${field} (${kind})`,
      gives.map(short).join(", ") || "nothing",
      reads.map((read) => `${read.place} = ${read.values.map(short).join(", ") || "nothing"}`).join("; "),
      short(expression),
    ]),
    view,
  );
  return [said, table, way].join("\n\n");
}

/** JSON as indented lines without punctuation, so that two fit side by side. */
function linesOf(value: Json, depth: number): string[] {
  const indent = "  ".repeat(depth);
  const members: [string, Json | undefined][] = Array.isArray(value)
    ? value.map((item, index) => [`[${index}]`, item])
    : isJsonObject(value)
      ? Object.entries(value)
      : [];
  return members.flatMap(([name, member]) => {
    const isNested = typeof member === "object" && member !== null && Object.keys(member).length > 0;
    return isNested
      ? [`${indent}${name}:`, ...linesOf(member, depth + 1)]
      : [`${indent}${name}: ${short(member ?? null)}`];
  });
}

const longest = 80;

function short(value: Json): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}…`;
}
