import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "./operations.ts";

const line = /^- `(?<life>[^\s`]+) (?<path>[^`]+)`: \S/u;

/** The paths of a life that `accepted.md` lists, `*` for any part of a path. A line without a reason does not count. */
export function accepted(life: string): RegExp[] {
  const text = readFileSync(join(import.meta.dirname, "accepted.md"), "utf8");
  return text.split("\n").flatMap((one) => {
    const found = line.exec(one)?.groups;
    if (found === undefined) return [];
    const names = pattern(found["life"] ?? "");
    return names.test(life) ? [pattern(found["path"] ?? "")] : [];
  });
}

function pattern(text: string): RegExp {
  const parts = text.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/gu, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "u");
}

interface Renames {
  keys: Record<string, string>;
  values: Record<string, string>;
}

/** What was recorded, under the names of now: `renames.json` says which keys and codes are called otherwise since. */
export function renamed(value: Json): Json {
  const renames: Renames = JSON.parse(readFileSync(join(import.meta.dirname, "renames.json"), "utf8"));
  const walk = (one: Json): Json => {
    if (typeof one === "string") return renames.values[one] ?? one;
    if (Array.isArray(one)) return one.map(walk);
    if (typeof one !== "object" || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([key, inside]) => [renames.keys[key] ?? key, walk(inside)]));
  };
  return walk(value);
}
