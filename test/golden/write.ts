import type { Json } from "./operations.ts";

const width = 240;

/** JSON as a person compares it: lines are filled, and what does not fit on one begins one of its own. */
export function written(value: Json, indent = ""): string {
  const flat = JSON.stringify(value);
  if (typeof value !== "object" || value === null || indent.length + flat.length <= width) return flat;
  const inner = `${indent} `;
  const parts = Array.isArray(value)
    ? value.map((one) => written(one, inner))
    : Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${written(one, inner)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return `${open}\n${filled(parts, width - inner.length)
    .map((line) => inner + line)
    .join(",\n")}\n${indent}${close}`;
}

function filled(parts: readonly string[], room: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    const isOneLine = !part.includes("\n") && last?.includes("\n") === false;
    if (last !== undefined && isOneLine && last.length + part.length + 2 <= room)
      lines[lines.length - 1] = `${last}, ${part}`;
    else lines.push(part);
  }
  return lines;
}
