/** While this many pieces of work run beside the lanes, no lane begins another. */
export const mostBeside = 200;

/**
 * Works on `items` in `lanes` lanes. The next item is taken when a lane is free: its last work ended or called `free`.
 * Work that called `free` goes on beside the next item, up to `mostBeside`. Without that limit, work that calls no
 * service would all begin before the first of it ends. After `stopped` or an error, no item is taken. The first error
 * is thrown at once. This answers when all work that began has ended.
 */
export async function workInLanes<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  { lanes, stopped }: { lanes: number; stopped: () => boolean },
  work: (item: Item, free: () => void) => Promise<void>,
): Promise<void> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let [busy, underway] = [0, 0];
  let failure: { error: unknown } | undefined;
  let changed = (): void => {};
  const change = (): Promise<void> => new Promise((resolve) => (changed = resolve));
  const fail = (error: unknown): void => {
    failure ??= { error };
    changed();
  };
  /** The next item; undefined if a piece of work failed first. */
  const taken = (): Promise<IteratorResult<Item> | undefined> =>
    new Promise((resolve) => {
      changed = () => {
        if (failure !== undefined) resolve(undefined);
      };
      Promise.resolve(iterator.next()).then(resolve, fail);
    });
  const begin = (item: Item): void => {
    let isFree = false;
    const free = (): void => {
      if (!isFree) busy -= 1;
      isFree = true;
      changed();
    };
    const ended = (): void => {
      underway -= 1;
      free();
    };
    busy += 1;
    underway += 1;
    work(item, free).catch(fail).then(ended, fail);
  };
  const takesMore = (): boolean => failure === undefined && !stopped();
  const isFull = (): boolean => busy >= lanes || underway >= lanes + mostBeside;
  for (;;) {
    while (takesMore() && isFull()) await change();
    if (!takesMore()) break;
    const next = await taken();
    if (next === undefined || next.done === true || !takesMore()) break;
    begin(next.value);
  }
  const goesOn = (): boolean => failure === undefined && underway > 0;
  while (goesOn()) await change();
  if (failure !== undefined) throw failure.error;
}
