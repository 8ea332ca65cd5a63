import { describe, expect, it } from "vitest";
import {
  holdEvents,
  holdLife,
  holdStates,
  questionStateOf,
  type HoldState,
} from "../../src/ledger/decisions/hold-life.ts";

/** Every cell: what each event makes of each state, in the order of `holdEvents`. `!`: refused; `-`: nothing. */
const table: Record<HoldState, string> = {
  asked: "approved rejected ! moot moot moot moot",
  approved: "! rejected ! used moot moot expired",
  rejected: "! ! asked used moot moot -",
  used: "! ! ! - - - -",
  expired: "! ! ! - - - -",
  moot: "! ! ! - - - -",
};
const words = { refuse: "!", keep: "-" } as Record<string, string>;

describe.each(holdStates)("a hold that is %s", (state) => {
  it.each(holdEvents.map((event, place) => [event, table[state].split(" ")[place]] as const))(
    "%s: %s",
    (event, then) => {
      const action = holdLife[state][event];
      expect(words[action] ?? action).toBe(then);
    },
  );
});

it("has a question that is open while one of its holds waits", () => {
  expect(questionStateOf(new Set(["asked", "approved", "rejected", "used"]))).toBe("open");
  expect(questionStateOf(new Set(["approved", "rejected", "used", "moot"]))).toBe("approved");
  expect(questionStateOf(new Set(["rejected", "used", "moot"]))).toBe("rejected");
  expect(questionStateOf(new Set(["used", "moot", "expired"]))).toBe("used");
  expect(questionStateOf(new Set(["moot", "expired"]))).toBe("moot");
});
