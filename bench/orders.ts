import { join } from "node:path";
import { customerId, writeRows } from "./customers.ts";

/** Orders of each customer, and lines of each order. */
export const ordersOfCustomer = 3;
const linesOfOrder = 2;

/** The number of an order, counted from 1. */
export function orderId(index: number): string {
  return `O${String(index).padStart(8, "0")}`;
}

/** Whose order it is, counted from 1. */
export function customerOf(order: number): number {
  return Math.ceil(order / ordersOfCustomer);
}

/** What is in an order. */
export function linesOf(order: number): { product: string; quantity: number }[] {
  return Array.from({ length: linesOfOrder }, (_, line) => ({
    product: `P${String((order * 7 + line * 13) % 97).padStart(3, "0")}`,
    quantity: ((order + line) % 20) + 1,
  }));
}

/** Writes `orders.csv` and `lines.csv` for so many customers; the heads and the lines of their orders. */
export function writeOrders(folder: string, customers: number): void {
  const count = customers * ordersOfCustomer;
  writeRows(join(folder, "orders.csv"), ["order", "customer", "placed"], count, (index) => {
    const day = String((index % 28) + 1).padStart(2, "0");
    return `${orderId(index)},${customerId(customerOf(index))},2026-03-${day}\n`;
  });
  writeRows(join(folder, "lines.csv"), ["order", "product", "quantity"], count, (index) =>
    linesOf(index)
      .map(({ product, quantity }) => `${orderId(index)},${product},${quantity}\n`)
      .join(""),
  );
}
