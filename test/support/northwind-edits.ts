import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { seededFraction } from "../../src/sandbox/faults.ts";

/** The files of Northwind that change from month to month; none of them quotes anything that is changed here. */
const files = ["customers.csv", "orders.csv", "order-details.csv"] as const;
type Name = (typeof files)[number];

/** Northwind lived on: each month somebody renames, orders, adds, takes back, changes and cancels. */
export class NorthwindLife {
  readonly #folder: string;
  readonly #fraction: () => number;
  readonly #rows: Record<Name, string[][]>;
  readonly #heads: Record<Name, string>;
  #next = 20_000;

  constructor(folder: string, seed: number) {
    this.#folder = folder;
    this.#fraction = seededFraction(seed);
    const read = (name: Name): [string, string[][]] => {
      const [head = "", ...lines] = readFileSync(join(folder, name), "utf8").trim().split(/\r?\n/u);
      return [head, lines.map((line) => line.split(","))];
    };
    const [customers, orders, details] = [read(files[0]), read(files[1]), read(files[2])];
    this.#heads = { [files[0]]: customers[0], [files[1]]: orders[0], [files[2]]: details[0] };
    this.#rows = { [files[0]]: customers[1], [files[1]]: orders[1], [files[2]]: details[1] };
  }

  /** How many order lines there are now: as many products are to be shown. */
  get lines(): number {
    return this.#rows["order-details.csv"].length;
  }

  /** The edits of one month, which are written to the files; each in words. */
  month(): string[] {
    const told = [
      this.#rename(),
      ...Array.from({ length: 2 }, () => this.#order()),
      this.#addLine(),
      this.#takeLineBack(),
      this.#changeQuantity(),
      this.#cancel(),
    ];
    for (const name of files)
      writeFileSync(
        join(this.#folder, name),
        `${[this.#heads[name], ...this.#rows[name].map((row) => row.join(","))].join("\n")}\n`,
      );
    return told;
  }

  #pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.#fraction() * items.length)];
    if (item === undefined) throw new Error("there is nothing to pick from");
    return item;
  }

  #linesOf(order: string): string[][] {
    return this.#rows["order-details.csv"].filter(([id]) => id === order);
  }

  #rename(): string {
    const row = this.#pick(this.#rows["customers.csv"]);
    row[1] = `${(row[1] ?? "").slice(0, 20)} ${(this.#next += 1)}`;
    return `${row[0]} is called otherwise`;
  }

  #order(): string {
    const model = this.#pick(this.#rows["orders.csv"]);
    const id = String((this.#next += 1));
    this.#rows["orders.csv"].push([id, ...model.slice(1)]);
    for (const line of this.#linesOf(model[0] ?? "")) this.#rows["order-details.csv"].push([id, ...line.slice(1)]);
    return `${model[1]} orders ${id}`;
  }

  #addLine(): string {
    const [order = ""] = this.#pick(this.#rows["orders.csv"]);
    const there = new Set(this.#linesOf(order).map((line) => line[1]));
    const product = Array.from({ length: 77 }, (_, index) => String(index + 1)).find((id) => !there.has(id)) ?? "1";
    this.#rows["order-details.csv"].push([order, product, "10.00", "5", "0"]);
    return `${order} has ${product} more`;
  }

  #takeLineBack(): string {
    const long = this.#rows["orders.csv"].filter(([id = ""]) => this.#linesOf(id).length > 1);
    const line = this.#pick(this.#linesOf(this.#pick(long)[0] ?? ""));
    const details = this.#rows["order-details.csv"];
    details.splice(details.indexOf(line), 1);
    return `${line[0]} has ${line[1]} less`;
  }

  #changeQuantity(): string {
    const line = this.#pick(this.#rows["order-details.csv"]);
    line[3] = String(Number(line[3]) + 1 + Math.floor(this.#fraction() * 9));
    return `${line[0]} has ${line[3]} of ${line[1]}`;
  }

  #cancel(): string {
    const [order = ""] = this.#pick(this.#rows["orders.csv"]);
    for (const name of ["orders.csv", "order-details.csv"] as const)
      this.#rows[name] = this.#rows[name].filter(([id]) => id !== order);
    return `${order} is gone`;
  }
}
