/** User CPU of this process in microseconds that something takes; the least of a few times, which disturbs least. */
async function costOf(work: () => void | Promise<void>, times: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < times; time += 1) {
    const before = process.cpuUsage();
    await work();
    least = Math.min(least, process.cpuUsage(before).user);
  }
  return least;
}

/** How many times the CPU something takes for four times as much: 4 where it is linear, 16 where it is quadratic. */
export async function growth(many: number, work: (many: number) => void | Promise<void>): Promise<number> {
  const few = await costOf(() => work(many), 3);
  return (await costOf(() => work(4 * many), 2)) / few;
}

/** Halfway between linear and quadratic. */
export const notQuadratic = 8;
