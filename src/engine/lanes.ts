/** With so many pieces of work beside those of the lanes, none is begun. */
export const mostBeside = 200;

/** Items of a list as `workInLanes` takes them. */
export async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item, void, void> {
  yield* items;
}

/**
 * Works on each of `items` in `lanes` lanes, none of which waits for another. A lane takes its next item when the work
 * on its last one has ended, or has called `free`: that work then goes on beside the next, while there is room for it.
 * Without that bound work that calls nobody would all begin before the first of it ends. Nothing more is taken once
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
  let room = Promise.withResolvers<void>();
  const ended = (end: Promise<void>): void => {
    underway.delete(end);
    room.resolve();
    room = Promise.withResolvers();
  };
  const begin = async (item: Item): Promise<void> => {
    const free = Promise.withResolvers<void>();
    const end = work(item, free.resolve)
      .catch(fail)
      .finally(() => ended(end));
    underway.add(end);
    await Promise.race([free.promise, end]);
    while (underway.size >= lanes + mostBeside) await room.promise;
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
