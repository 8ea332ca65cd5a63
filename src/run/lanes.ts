/**
 * Works on each of `items` in `lanes` lanes, none of which waits for another. A lane takes its next item when the work
 * on its last one has ended, or has called `free`: that work then goes on beside the next. Nothing more is taken once
 * `stopped` or once a piece of work threw; what it threw is thrown at once. Answers when all work that began has ended.
 */
export async function workInLanes<Item>(
  items: AsyncIterator<Item, void, void>,
  { lanes, stopped }: { lanes: number; stopped: () => boolean },
  work: (item: Item, free: () => void) => Promise<void>,
): Promise<void> {
  const failure = Promise.withResolvers<never>();
  let failed = false;
  const fail = (error: unknown): void => {
    failed = true;
    failure.reject(error);
  };
  const underway = new Set<Promise<void>>();
  const begin = async (item: Item): Promise<void> => {
    const free = Promise.withResolvers<void>();
    const end = work(item, free.resolve)
      .catch(fail)
      .finally(() => underway.delete(end));
    underway.add(end);
    await Promise.race([free.promise, end]);
  };
  const lane = async (): Promise<void> => {
    for (;;) {
      if (failed || stopped()) return;
      const next = await items.next();
      if (next.done === true || stopped()) return;
      await begin(next.value);
    }
  };
  const all = async (): Promise<void> => {
    await Promise.all(Array.from({ length: lanes }, lane));
    await Promise.all(underway);
  };
  await Promise.race([failure.promise, all()]);
}
