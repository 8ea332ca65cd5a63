/** What the work of a measured program took, without its start. */
export interface Worked {
  seconds: number;
  /** User and system time of all threads. */
  cpuSeconds: number;
}

/** Begins to measure; what it returns says what has passed since. */
export function stopwatch(): () => Worked {
  const begun = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return { seconds: (performance.now() - begun) / 1_000, cpuSeconds: (user + system) / 1e6 };
  };
}
