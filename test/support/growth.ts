/** User CPU of this process in microseconds that something takes. */
async function costOf(work: () => void | Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  return process.cpuUsage(before).user;
}

/** Halfway between linear and quadratic. */
export const notQuadratic = 8;

const leastRounds = 2;
const mostRounds = 10;

/**
 * How many times the CPU something takes for four times as much: 4 where it is linear, 16 where it is quadratic. Of
 * each the least of a few times counts, and of more of them as long as it looks quadratic: what else the machine does
 * only adds to it.
 */
export async function growth(many: number, work: (many: number) => void | Promise<void>): Promise<number> {
  let [few, more] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 1; round <= leastRounds || (more / few >= notQuadratic && round <= mostRounds); round += 1) {
    few = Math.min(few, await costOf(() => work(many)));
    more = Math.min(more, await costOf(() => work(4 * many)));
  }
  return more / few;
}
