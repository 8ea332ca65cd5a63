import { type Result, failed, ok } from "../base/errors.ts";
import type { WireTime } from "./answer-fields.ts";

const timeCodecs = ["epoch_ms", "epoch_s", "yyyymmdd", "iso"] as const;
type TimeCodec = (typeof timeCodecs)[number];

/** The contract's types: Long (limits), Integer (trial end of a product), Date (trial end of a feature). */
export type TimeWidth = "long" | "integer" | "date";

/** A 32-bit Integer cannot hold epoch milliseconds. */
export const codecsOfWidth: Record<TimeWidth, readonly TimeCodec[]> = {
  long: ["epoch_ms", "epoch_s", "yyyymmdd"],
  integer: ["epoch_s", "yyyymmdd"],
  date: timeCodecs,
};

const earliest = Date.UTC(2000, 0, 1);
const latest = Date.UTC(2101, 0, 1) - 1;
const largestInteger = 2 ** 31 - 1;

function inRange(epochMs: number): boolean {
  return epochMs >= earliest && epochMs <= latest;
}

function dateInZone(instant: string, zone: string): number {
  const date = Temporal.Instant.from(instant).toZonedDateTimeISO(zone);
  return date.year * 10_000 + date.month * 100 + date.day;
}

/** `zone`: for `yyyymmdd`, which keeps only the day. Fails outside 2000–2100 and for values that do not fit. */
export function encodeTime(
  codec: TimeCodec,
  instant: string,
  width: TimeWidth,
  zone = "UTC",
): Result<WireTime, string> {
  const epochMs = Date.parse(instant);
  if (!/^\d{4}-\d{2}-\d{2}T.+Z$/.test(instant) || Number.isNaN(epochMs)) return failed("is not an ISO instant in UTC");
  if (!inRange(epochMs)) return failed("lies outside 2000–2100");
  if (!codecsOfWidth[width].includes(codec)) {
    if (width === "integer" && codec === "epoch_ms") return failed("a 32-bit Integer cannot hold epoch milliseconds");
    return failed(`a ${width} field cannot hold ${codec}`);
  }
  switch (codec) {
    case "epoch_ms":
      return ok(epochMs);
    case "epoch_s": {
      const seconds = Math.floor(epochMs / 1000);
      return width === "integer" && seconds > largestInteger
        ? failed("a 32-bit Integer cannot hold epoch seconds after January 2038")
        : ok(seconds);
    }
    case "yyyymmdd": {
      const date = dateInZone(instant, zone);
      return ok(width === "date" ? String(date) : date);
    }
    case "iso":
      return ok(new Date(epochMs).toISOString());
  }
}

/** A `yyyymmdd` becomes the start of the day in `zone`. A time outside 2000–2100 fails: it reveals a wrong unit. */
export function decodeTime(codec: TimeCodec, value: WireTime, zone = "UTC"): Result<string, string> {
  if (codec === "iso") {
    const epochMs = typeof value === "string" && /^\d{4}-\d{2}-\d{2}T/.test(value) ? Date.parse(value) : Number.NaN;
    if (Number.isNaN(epochMs)) return failed("is not an ISO instant");
    return inRange(epochMs) ? ok(new Date(epochMs).toISOString()) : failed("lies outside 2000–2100");
  }
  if (typeof value === "string" && !/^\d+$/.test(value)) return failed("is not a whole number");
  const number = Number(value);
  if (!Number.isSafeInteger(number)) return failed("is not a whole number");
  if (codec === "yyyymmdd") {
    const parts = /^(\d{4})(\d{2})(\d{2})$/.exec(String(number));
    if (parts === null) return failed("is not a date of eight digits");
    try {
      const date = Temporal.PlainDate.from(
        { year: Number(parts[1]), month: Number(parts[2]), day: Number(parts[3]) },
        { overflow: "reject" },
      );
      if (date.year < 2000 || date.year > 2100) return failed("lies outside 2000–2100");
      return ok(new Date(date.toZonedDateTime(zone).epochMilliseconds).toISOString());
    } catch {
      return failed("is not a date of the calendar");
    }
  }
  const epochMs = codec === "epoch_ms" ? number : number * 1000;
  return inRange(epochMs) ? ok(new Date(epochMs).toISOString()) : failed("lies outside 2000–2100");
}
