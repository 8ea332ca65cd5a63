import type { Json } from "../../base/canonical-json.ts";

/** Fields that hold an instant, as E5 carries them, as the CRM has them. */
const instants = new Set(["limitStartDate", "limitEndDate", "trialEndDate", "limitStart", "limitEnd", "trialEnd"]);

/** A number below it counts seconds: as milliseconds it would lie before March 1973. */
const leastMilliseconds = 100_000_000_000;

/** What an instant of the platform or of the CRM says, in milliseconds: a number, its text, or a date with a time. */
export function instantOf(value: Json | undefined): number | undefined {
  if (value === undefined || value === null || value === "" || typeof value === "object") return undefined;
  const count = Number(value);
  if (typeof value === "boolean" || count === 0) return undefined;
  if (Number.isFinite(count)) return Math.abs(count) < leastMilliseconds ? count * 1000 : count;
  const at = Date.parse(String(value));
  return Number.isNaN(at) ? undefined : at;
}

/** Whether two values of a field are instants that differ by no more than so many seconds. */
export function isWithin(
  field: string,
  one: Json | undefined,
  other: Json | undefined,
  seconds: number | undefined,
): boolean {
  if (seconds === undefined || !instants.has(field)) return false;
  const [from, to] = [instantOf(one), instantOf(other)];
  return from !== undefined && to !== undefined && Math.abs(from - to) <= seconds * 1000;
}
