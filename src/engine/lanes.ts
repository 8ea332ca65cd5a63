/** While this many pieces of work run beside the lanes, no lane begins another. */
export const mostBeside = 200;

/** A list as the iterator that `workInLanes` takes. */
export async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item, void, void> {
  yield* items;
}

/**
 * Works on `items` in `lanes` lanes that do not wait for each other. A lane takes its next item when its last work
 * ended or called `free`. Work that called `free` goes on beside the next item, up to `mostBeside`. Without that limit,
 * work that calls no service would all begin before the first of it ends. After `stopped` or an error, no lane takes
 * another item. An error is thrown at once. This answers when all work that began has ended.
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
