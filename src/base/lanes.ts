/** No lane begins more work while so many works continue beside the lanes. */
export const mostBeside = 200;

/**
 * Works on pages of `items` in `lanes` lanes. A lane is free when its work ended or called `free`. Such work continues
 * beside the lanes, up to `mostBeside`: without this limit, work without calls would all begin at once. After `stopped`
 * or an error no item is taken. The first error is thrown at once. Otherwise this resolves when all work ended.
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
    /** Never throws: it runs in the middle of other work. */
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

/** Reads `lanes` items at once and yields in order. Throws the first error, then reads no more. */
export async function* inOrder<Item, Value>(
  items: Iterable<Item>,
  lanes: number,
  read: (item: Item) => Promise<Value>,
): AsyncGenerator<Value, void, void> {
  const asked: Promise<Value>[] = [];
  for (const item of items) {
    const reading = read(item);
    // A failure is thrown in its turn, or not at all after an earlier one.
    reading.catch(() => {});
    asked.push(reading);
    const first = asked.length < lanes ? undefined : asked.shift();
    if (first !== undefined) yield await first;
  }
  for (const reading of asked) yield await reading;
}
