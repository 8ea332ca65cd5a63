import { describe, expect, it, vi } from "vitest";
import { toStdoutFromOneState } from "../../src/cli/stdout.ts";

describe("what is read from one state of the ledger", () => {
  it("is read to its end before the first of it goes to stdout, however slowly that is read", async () => {
    const events: string[] = [];
    function* rows(): Generator<string> {
      try {
        for (let number = 0; number < 3; number += 1) yield `row ${number}\n`;
      } finally {
        events.push("ledger let go");
      }
    }
    const stdout = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
      events.push(String(chunk));
      queueMicrotask(() => process.stdout.emit("drain"));
      return false;
    });
    try {
      await toStdoutFromOneState(rows());
    } finally {
      stdout.mockRestore();
    }
    expect(events).toEqual(["ledger let go", "row 0\nrow 1\nrow 2\n"]);
  });
});
