import type { Json } from "../../base/canonical-json.ts";
import { toInstant } from "../../base/clock.ts";
import { parseFormat } from "../mapping/date-formats.ts";

export interface TimeFormat {
  /** `iso`, `epoch_ms`, `epoch_s`, or a pattern such as `yyyy-MM-dd HH:mm:ss`. */
  format: string;
  /** Zone of times without an offset. */
  zone?: string | undefined;
}

const names: ReadonlySet<string> = new Set(["iso", "epoch_ms", "epoch_s"]);

export function timeFormatFault({ format, zone }: TimeFormat): { key: "format" | "zone"; message: string } | undefined {
  if (names.has(format)) return undefined;
  const pattern = parseFormat(format);
  if (!pattern.ok) return { key: "format", message: `${pattern.error}; or iso, epoch_ms, epoch_s` };
  const foreign = pieces(format).find(
    ({ text, isToken }) => isToken && !Object.hasOwn(written, text) && !isFraction(text),
  );
  if (foreign !== undefined)
    return {
      key: "format",
      message: `the date format has ${JSON.stringify(foreign.text)}, which is read and not written`,
    };
  if (!pattern.value.hasOffset && zone === undefined)
    return { key: "zone", message: "missing; expected the zone of times without an offset, such as UTC" };
  return undefined;
}

/** Shortly before the service's clocks go back, gives the local time after that: it repeats for later changes. */
export function writeTime(epochMs: number, { format, zone = "UTC" }: TimeFormat): string | number {
  if (format === "iso") return toInstant(epochMs);
  if (format === "epoch_ms") return epochMs;
  if (format === "epoch_s") return Math.floor(epochMs / 1_000);
  const zoned = Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(zone);
  const hasOffset = pieces(format).some(({ text, isToken }) => isToken && text.startsWith("X"));
  const at = hasOffset ? zoned : earliestFrom(zoned);
  return pieces(format)
    .map(({ text, isToken }) => {
      if (!isToken) return text;
      return isFraction(text) ? fractionOf(at).slice(0, text.length) : (written[text]?.(at) ?? text);
    })
    .join("");
}

/** A time of the service in epoch milliseconds. Undefined if it is not a time, or has no zone. */
export function readTime(value: Json | undefined, { format, zone }: TimeFormat): number | undefined {
  const isEpoch = format === "epoch_ms" || format === "epoch_s";
  if (isEpoch && (typeof value === "number" || (typeof value === "string" && /^\d{1,16}$/u.test(value)))) {
    const time = Number(value) * (format === "epoch_s" ? 1_000 : 1);
    return Number.isFinite(time) && Math.abs(time) < 8.64e15 ? Math.floor(time) : undefined;
  }
  if (typeof value !== "string") return undefined;
  const pattern = names.has(format) ? undefined : parseFormat(format);
  const found = pattern?.ok === true ? pattern.value.read(value) : undefined;
  try {
    if (found === undefined) return Temporal.Instant.from(value).epochMilliseconds;
    const { time, offset } = found;
    if (offset !== undefined) return Temporal.Instant.from(`${time.toString()}${offset}`).epochMilliseconds;
    return zone === undefined ? undefined : time.toZonedDateTime(zone, { disambiguation: "earlier" }).epochMilliseconds;
  } catch {
    return undefined;
  }
}

type Zoned = Temporal.ZonedDateTime;

function earliestFrom(zoned: Zoned): Zoned {
  const change = zoned.getTimeZoneTransition("next");
  const isSetBack =
    change !== null && Temporal.PlainDateTime.compare(change.toPlainDateTime(), zoned.toPlainDateTime()) < 0;
  return isSetBack ? change : zoned;
}

const digits = (value: number, length: number): string => String(value).padStart(length, "0");
const written: Readonly<Record<string, (at: Zoned) => string>> = {
  yyyy: ({ year }) => digits(year, 4),
  MM: ({ month }) => digits(month, 2),
  M: ({ month }) => String(month),
  dd: ({ day }) => digits(day, 2),
  d: ({ day }) => String(day),
  HH: ({ hour }) => digits(hour, 2),
  H: ({ hour }) => String(hour),
  mm: ({ minute }) => digits(minute, 2),
  ss: ({ second }) => digits(second, 2),
  XXX: ({ offset }) => offset.slice(0, 6),
  XX: ({ offset }) => offset.slice(0, 6).replace(":", ""),
};

const isFraction = (text: string): boolean => /^S{1,9}$/u.test(text);
const fractionOf = ({ millisecond }: Zoned): string => `${digits(millisecond, 3)}000000`;

function pieces(format: string): { text: string; isToken: boolean }[] {
  return [...format.matchAll(/'([^']*)'|([A-Za-z])\2*|[^]/gu)].map(([piece, quoted]) => ({
    text: quoted ?? piece,
    isToken: quoted === undefined && /^[A-Za-z]/u.test(piece),
  }));
}
