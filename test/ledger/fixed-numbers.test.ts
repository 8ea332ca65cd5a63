import { expect, it } from "vitest";
import { counted } from "../counts/counting.ts";
import { key } from "../support/world/records.ts";
import { openLedger } from "../support/world/start.ts";

it("looking at the numbers of an order costs one statement for each asset", async () => {
  const { ledger } = await openLedger();
  const customer = key("C1");
  /** Statements of looking at so many assets that have their numbers. */
  const looking = async (count: number): Promise<number> => {
    const numbers = Array.from({ length: count }, (_, n) => `8${String(count * 1_000 + n).padStart(9, "0")}`);
    await ledger.state.record(customer, [{ type: "numbers-taken", numbers, operationId: "op" }]);
    const wanted = numbers.map((_, n) => ({
      instanceId: `A${n}`,
      quantity: 1,
      given: [],
      wireNumber: (digits: string) => digits,
    }));
    const fix = async () =>
      await ledger.state.write((rows, at) => rows.order.numbers.fixNumbers(key(`O${count}`), customer, wanted, at));
    expect((await fix()).fixed).toHaveLength(count);
    return (await counted(async () => expect((await fix()).fixed).toEqual([]))).statements;
  };
  const few = await looking(10);
  expect((await looking(30)) - few).toBe(20);
});
