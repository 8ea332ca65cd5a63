/** While this many pieces of work run beside the lanes, no lane begins another. */
export const mostBeside = 200;

/**
 * Works on `items`, which come in pages, in `lanes` lanes. The next item is taken when a lane is free: its last work
 * ended or called `free`. Work that called `free` goes on beside the next item, up to `mostBeside`. Without that limit,
 * work that calls no service would all begin before the first of it ends. After `stopped` or an error, no item is taken.
 * The first error is thrown at once. This answers when all work that began has ended.
 */
export function workInLanes<Item>(
  pages: AsyncIterable<readonly Item[]> | Iterable<readonly Item[]>,
  { lanes, stopped }: { lanes: number; stopped: () => boolean },
  work: (item: Item, free: () => void) => Promise<unknown>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const iterator = Symbol.asyncIterator in pages ? pages[Symbol.asyncIterator]() : pages[Symbol.iterator]();
    let page: Iterator<Item> | undefined;
    let [busy, underway] = [0, 0];
    let [isAsking, isOver] = [false, false];
    const fail = (error: unknown): void => {
      isOver = true;
      reject(error);
    };
    const begin = (item: Item): void => {
      let isFree = false;
      const free = (): void => {
        if (!isFree) busy -= 1;
        isFree = true;
        goOn();
      };
      const ended = (): void => {
        underway -= 1;
        free();
      };
      busy += 1;
      underway += 1;
      work(item, free).then(ended, fail);
    };
    const askForPage = (): void => {
      isAsking = true;
      const came = ({ done, value }: IteratorResult<readonly Item[]>): void => {
        isAsking = false;
        if (done === true) isOver = true;
        else page = value[Symbol.iterator]();
        goOn();
      };
      Promise.resolve(iterator.next()).then(came, fail);
    };
    const takesMore = (): boolean => !isOver && !isAsking && busy < lanes && underway < lanes + mostBeside;
    /** Begins as much as there are lanes for. Throws nothing: it is called in the middle of other work. */
    const goOn = (): void => {
      try {
        while (takesMore()) {
          if (stopped()) isOver = true;
          else if (page === undefined) askForPage();
          else {
            const next = page.next();
            if (next.done === true) page = undefined;
            else begin(next.value);
          }
        }
      } catch (error) {
        fail(error);
      }
      if (isOver && underway === 0) resolve();
    };
    goOn();
  });
}

/**
 * What `read` gives of each item, in the order of the items, of which `lanes` are read at once. Nothing more is read
 * once one failed; the first error is thrown.
 */
export async function* inOrder<Item, Value>(
  items: Iterable<Item>,
  lanes: number,
  read: (item: Item) => Promise<Value>,
): AsyncGenerator<Value, void, void> {
  const asked: Promise<Value>[] = [];
  for (const item of items) {
    const reading = read(item);
    // One that fails is told of when it is its turn, or not at all where an earlier one has failed.
    reading.catch(() => {});
    asked.push(reading);
    const first = asked.length < lanes ? undefined : asked.shift();
    if (first !== undefined) yield await first;
  }
  for (const reading of asked) yield await reading;
}
