import type { Json } from "./operations.ts";

const width = 120;

/** JSON as a person compares it: what fits on a line stands on one. */
export function written(value: Json, indent = ""): string {
  const flat = JSON.stringify(value);
  if (typeof value !== "object" || value === null || indent.length + flat.length <= width) return flat;
  const inner = `${indent} `;
  if (Array.isArray(value)) return `[\n${value.map((one) => inner + written(one, inner)).join(",\n")}\n${indent}]`;
  const entries = Object.entries(value).map(([key, one]) => `${inner}${JSON.stringify(key)}: ${written(one, inner)}`);
  return `{\n${entries.join(",\n")}\n${indent}}`;
}
