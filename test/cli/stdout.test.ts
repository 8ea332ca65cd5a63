import { describe, expect, it } from "vitest";
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
    const write = (chunk: string | Buffer, done?: () => void): boolean => {
      events.push(String(chunk));
      queueMicrotask(() => done?.());
      return false;
    };
    await toStdoutFromOneState({ stdout: { write } }, "/nowhere/ledger.db", rows());
    expect(events).toEqual(["ledger let go", "row 0\nrow 1\nrow 2\n"]);
  });
});
