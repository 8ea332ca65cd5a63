/**
 * What `read` gives of each item, in the order of the items, of which `lanes` are read at once. Nothing more is read
 * once one failed; what is thrown is what the first of them threw.
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
