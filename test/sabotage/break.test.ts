import { describe, expect, it } from "vitest";
import { broken, placesNow, staleness } from "./break.ts";
import type { Break } from "./break.ts";

const program = `
export class Sender {
  #times = 3;

  /** Sends it: if (early) return "waits"; */
  async send(call: Call, early: boolean) {
    if (early) return "waits"; // if (early) return "waits";
    await this.#journal.intend(call.id, {
      state: "sending",
    });
    return call.id === undefined && this.#isClosed() ? "closed" : "sent";
  }

  async stop(early: boolean) {
    if (early) return "waits";
  }
}
`;
const row = { file: "src/x.ts", test: "", title: "" };
const within = "Sender.send";

/** What the broken program has that the whole one has not. */
function change(item: Break, text = program): string {
  const lines = text.split("\n");
  return broken(item, text)
    .split("\n")
    .filter((line) => !lines.includes(line))
    .join("\n")
    .trim();
}

describe("a break", () => {
  const find = `if ($now) return "waits";`;
  const waits: Break = { ...row, within, find, replace: "if (!$now) return;" };

  it("fits however its function is laid out and names its variables, and in no other function or comment", () => {
    expect(change(waits)).toMatch(/^if \(!early\) return;/u);
    const other = program.replaceAll("early", "isEarly").replace("if (isEarly) return", "if (\n isEarly\n) return");
    expect(change(waits, other)).toMatch(/^if \(!isEarly\) return;/u);
    const intend = { find: `intend($call.id, { state: "sending" })`, replace: `note($call.id)` };
    expect(change({ ...row, within, ...intend })).toBe("await this.#journal.note(call.id);");
  });

  it("leaves out a call and settles a condition by the name that it is about", () => {
    expect(change({ ...row, within, skips: "intend" })).toBe(";");
    expect(change({ ...row, within, never: "#isClosed" })).toBe(`return false ? "closed" : "sent";`);
    expect(change({ ...row, within: "Sender.stop", always: "early" })).toBe(`if (true) return "waits";`);
    expect(change({ ...row, within: "Sender.#times", find: "3", replace: "4" })).toBe("#times = 4;");
  });

  it("names nothing that it has not found: the program would not run, and a test be red in vain", () => {
    const here = { ...row, file: "src/report/statement/cell-text.ts", within: "formulaStart" };
    expect(staleness({ ...here, find: "const formulaStart =", replace: "const formulaEnd =" })).toBeUndefined();
    const other = { ...here, find: "const formulaStart =", replace: "const formulaEnd = $before +" };
    expect(staleness(other)).toContain("$before");
  });

  it("says where its function stands when it has moved", () => {
    const here = { ...row, within: "nowhere", find: "const formulaStart =", replace: "const formulaEnd =" };
    expect(placesNow(here)).toEqual([{ file: "src/report/statement/cell-text.ts", within: "formulaStart" }]);
  });
});
