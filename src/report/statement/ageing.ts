/** Days at which the buckets of finance end; the end of a bucket does not belong to it. */
export const ageingDays: readonly number[] = [1, 7, 30, 90];

/** The buckets by their names, the youngest first. */
export function ageBuckets(days: readonly number[] = ageingDays): string[] {
  return [...days.map((end, at) => `${days[at - 1] ?? 0}-${end} d`), "older"];
}

export interface Age {
  hours: number | null;
  bucket: string | null;
}

/** The age of something at a moment, in whole hours; of what has no beginning there is none. */
export function ageAt(since: string | null | undefined, now: string | null, days: readonly number[] = ageingDays): Age {
  if (since === null || since === undefined || now === null) return { hours: null, bucket: null };
  const hours = Math.max(0, Math.floor((Date.parse(now) - Date.parse(since)) / 3_600_000));
  const at = days.findIndex((end) => hours < end * 24);
  return { hours, bucket: ageBuckets(days).at(at) ?? "older" };
}
