/** What a key stands for since a version. */
interface Since<Value> {
  version: number;
  value: Value;
}

/** Every version of one map. */
interface Versions<Key, Value> {
  readonly values: Map<Key, Since<Value>[]>;
  newest: number;
}

/**
 * A map that grows and of which every version stays as it is. The next version of the newest one costs what is added
 * to it, not what it holds; one of an older version is a copy. Keys stand in the order in which they came.
 */
export class GrowingMap<Key, Value> {
  readonly size: number;
  readonly #of: Versions<Key, Value>;
  readonly #version: number;

  private constructor(of: Versions<Key, Value>, size: number) {
    this.#of = of;
    this.#version = of.newest;
    this.size = size;
  }

  static empty<Key, Value>(): GrowingMap<Key, Value> {
    return new GrowingMap<Key, Value>({ values: new Map(), newest: 0 }, 0);
  }

  get(key: Key): Value | undefined {
    return this.#now(this.#of.values.get(key))?.value;
  }

  has(key: Key): boolean {
    return this.size > 0 && this.#now(this.#of.values.get(key)) !== undefined;
  }

  *[Symbol.iterator](): Generator<[Key, Value], void, void> {
    for (const [key, changes] of this.#of.values) {
      const now = this.#now(changes);
      if (now !== undefined) yield [key, now.value];
    }
  }

  *keys(): Generator<Key, void, void> {
    for (const [key] of this) yield key;
  }

  values(): Value[] {
    const values: Value[] = [];
    if (this.size === 0) return values;
    for (const changes of this.#of.values.values()) {
      const now = this.#now(changes);
      if (now !== undefined) values.push(now.value);
    }
    return values;
  }

  /** The next version, in which these keys stand for these values. */
  with(entries: Iterable<readonly [Key, Value]>): GrowingMap<Key, Value> {
    // What begins empty is shared by nobody: an empty one may be a constant of the program.
    const of = this.size > 0 && this.#version === this.#of.newest ? this.#of : this.#copy();
    of.newest += 1;
    let { size } = this;
    for (const [key, value] of entries) {
      const change = { version: of.newest, value };
      const changes = of.values.get(key);
      if (changes === undefined) {
        of.values.set(key, [change]);
        size += 1;
      } else changes.push(change);
    }
    return new GrowingMap(of, size);
  }

  #copy(): Versions<Key, Value> {
    return { values: new Map([...this].map(([key, value]) => [key, [{ version: 0, value }]])), newest: 0 };
  }

  #now(changes: readonly Since<Value>[] | undefined): Since<Value> | undefined {
    if (changes === undefined) return undefined;
    for (let index = changes.length - 1; index >= 0; index -= 1) {
      const change = changes[index];
      if (change !== undefined && change.version <= this.#version) return change;
    }
    return undefined;
  }
}
