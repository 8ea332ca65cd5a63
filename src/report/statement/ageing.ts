/** How long something is open, as finance groups it; the end of a bucket does not belong to it. */
const buckets = [
  { days: 1, name: "0-1 d" },
  { days: 7, name: "1-7 d" },
  { days: 30, name: "7-30 d" },
  { days: 90, name: "30-90 d" },
] as const;

/** The buckets by their names, the youngest first. */
export const ageBuckets: readonly string[] = [...buckets.map(({ name }) => name), "older"];

export interface Age {
  hours: number | null;
  bucket: string | null;
}

/** The age of something at a moment, in whole hours; of what has no beginning there is none. */
export function ageAt(since: string | null | undefined, now: string | null): Age {
  if (since === null || since === undefined || now === null) return { hours: null, bucket: null };
  const hours = Math.max(0, Math.floor((Date.parse(now) - Date.parse(since)) / 3_600_000));
  return { hours, bucket: buckets.find(({ days }) => hours < days * 24)?.name ?? "older" };
}
