/** While this many pieces of work run beside the lanes, no lane begins another. */
export const mostBeside = 200;

/**
 * Works on `items` in `lanes` lanes that do not wait for each other. A lane takes its next item when its last work
 * ended or called `free`. Work that called `free` goes on beside the next item, up to `mostBeside`. Without that limit,
 * work that calls no service would all begin before the first of it ends. After `stopped` or an error, no lane takes
 * another item. An error is thrown at once. This answers when all work that began has ended.
 */
export async function workInLanes<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  { lanes, stopped }: { lanes: number; stopped: () => boolean },
  work: (item: Item, free: () => void) => Promise<void>,
): Promise<void> {
  let failure: { error: unknown } | undefined;
  let busy = 0;
  let underway = 0;
  let changed = (): void => {};
  const change = (): Promise<void> => new Promise((resolve) => (changed = resolve));
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
    work(item, free).then(ended, (error: unknown) => {
      failure ??= { error };
      ended();
    });
  };
  const takesMore = (): boolean => failure === undefined && !stopped();
  const isFull = (): boolean => busy >= lanes || underway >= lanes + mostBeside;
  for await (const item of items) {
    while (takesMore() && isFull()) await change();
    if (!takesMore()) break;
    begin(item);
  }
  const goesOn = (): boolean => failure === undefined && underway > 0;
  while (goesOn()) await change();
  if (failure !== undefined) throw failure.error;
}
