/**
 * Loaded before a process of a golden run (`node --import`): the wall clock begins at GOLDEN_NOW and goes on from there.
 * The monotonic clock stays as it is.
 */
const start = Date.parse(process.env.GOLDEN_NOW ?? "");
if (!Number.isNaN(start)) {
  const RealDate = Date;
  const now = () => start + Math.floor(performance.now());
  class GoldenDate extends RealDate {
    constructor(...parts) {
      if (parts.length === 0) super(now());
      else super(...parts);
    }
    static now = now;
  }
  globalThis.Date = GoldenDate;
  const instant = () => Temporal.Instant.fromEpochMilliseconds(now());
  const zoned = (zone) => instant().toZonedDateTimeISO(zone ?? "UTC");
  Object.assign(Temporal.Now, {
    instant,
    zonedDateTimeISO: zoned,
    plainDateTimeISO: (zone) => zoned(zone).toPlainDateTime(),
    plainDateISO: (zone) => zoned(zone).toPlainDate(),
    plainTimeISO: (zone) => zoned(zone).toPlainTime(),
  });
}
