import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { isPrivateMarker, isReference, knownAfter } from "./references.ts";

/** A value for display. A reference says when it becomes known; a private value shows only its version. */
export function shown(item: Json | undefined): string {
  if (item === undefined || item === null) return "none";
  if (isReference(item)) return `(known after ${knownAfter[item.$ref]})`;
  if (isPrivateMarker(item)) return `(private, version ${item.version})`;
  if (typeof item === "object" && !Array.isArray(item) && isMade(item)) return "(generated)";
  if (Array.isArray(item)) return item.length === 0 ? "none" : `[${repeated(item.map(shown)).join(", ")}]`;
  if (typeof item === "object") {
    return `{${Object.entries(item)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => `${key}: ${shown(member)}`)
      .join(", ")}}`;
  }
  return String(item);
}

/** Counts equal texts that follow each other: `5 × (known after E9)`. */
function repeated(texts: readonly string[]): string[] {
  const runs: { text: string; count: number }[] = [];
  for (const text of texts) {
    const last = runs.at(-1);
    if (last?.text === text) last.count += 1;
    else runs.push({ text, count: 1 });
  }
  return runs.map(({ text, count }) => (count === 1 ? text : `${count} × ${text}`));
}

function isMade(item: JsonObject): boolean {
  return typeof item["$initialPassword"] === "string" || typeof item["$newPassword"] === "string";
}

/** Each field of a payload as a line of a plan. */
export function fieldLines(payload: JsonObject): string[] {
  return Object.entries(payload)
    .filter(([, item]) => item !== undefined)
    .map(([key, item]) => `${key}: ${shown(item)}`);
}

/** The smallest numbers that count as seconds and milliseconds since 1970. A date such as 20261129 is smaller. */
const [leastSeconds, leastMs] = [1e9, 1e11];

/** A payload's time for display, in any format that the settings allow. */
export function shownTime(time: string | number | null): string {
  if (typeof time !== "number" || time < leastSeconds) return shown(time);
  return Temporal.Instant.fromEpochMilliseconds(time < leastMs ? time * 1_000 : time).toString();
}
