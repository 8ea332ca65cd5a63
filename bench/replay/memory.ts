import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";

/** Numbers by an index from 1, in little room; 0 stands for none. */
class Numbers {
  #values: Uint32Array<ArrayBuffer>;

  constructor(values: Uint32Array<ArrayBuffer>) {
    this.#values = values;
  }

  get(index: number): number {
    return this.#values[index] ?? 0;
  }

  set(index: number, value: number): void {
    if (index >= this.#values.length) {
      const larger = new Uint32Array(Math.max(1_024, 2 * index));
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[index] = value;
  }

  toJSON(): string {
    return Buffer.from(this.#values.buffer, this.#values.byteOffset, this.#values.byteLength).toString("base64");
  }

  static from(text: string): Numbers {
    return new Numbers(new Uint32Array(Uint8Array.from(Buffer.from(text, "base64")).buffer));
  }
}

const memorySchema = z.object({
  lastNumber: z.int(),
  created: z.string(),
  orderOfNumber: z.string(),
  numberOfOrder: z.string(),
});

/** What the services were told: all that makes an answer differ from the one before. */
export class Memory {
  readonly #everybody: boolean;
  readonly #created: Numbers;
  readonly #orderOfNumber: Numbers;
  readonly #numberOfOrder: Numbers;
  #lastNumber: number;

  private constructor(everybody: boolean, kept: z.infer<typeof memorySchema>) {
    this.#everybody = everybody;
    this.#created = Numbers.from(kept.created);
    this.#orderOfNumber = Numbers.from(kept.orderOfNumber);
    this.#numberOfOrder = Numbers.from(kept.numberOfOrder);
    this.#lastNumber = kept.lastNumber;
  }

  /** What stands in the file, if there is one; `everybody`: each customer was created. */
  static open(path: string | undefined, everybody: boolean): Memory {
    const none = { lastNumber: 0, created: "", orderOfNumber: "", numberOfOrder: "" };
    if (path === undefined || !existsSync(path)) return new Memory(everybody, none);
    return new Memory(everybody, memorySchema.parse(JSON.parse(readFileSync(path, "utf8"))));
  }

  keep(path: string): void {
    const kept: Record<keyof z.infer<typeof memorySchema>, unknown> = {
      lastNumber: this.#lastNumber,
      created: this.#created,
      orderOfNumber: this.#orderOfNumber,
      numberOfOrder: this.#numberOfOrder,
    };
    writeFileSync(path, JSON.stringify(kept));
  }

  create(customer: number): void {
    this.#created.set(customer, 1);
  }

  isCreated(customer: number): boolean {
    return this.#everybody || this.#created.get(customer) === 1;
  }

  /** The next numbers that were never given; the first of them. */
  takeNumbers(size: number): number {
    const first = this.#lastNumber + 1;
    this.#lastNumber += size;
    return first;
  }

  place(order: number, number: number): void {
    this.#orderOfNumber.set(number, order);
    this.#numberOfOrder.set(order, number);
  }

  orderOf(number: number): number {
    return this.#orderOfNumber.get(number);
  }

  numberOf(order: number): number {
    return this.#numberOfOrder.get(order);
  }
}
