/** How a hold stands: it waits for a person, a person decided on it, or it is over. */
export const holdStates = ["asked", "approved", "rejected", "used", "expired", "moot"] as const;
export type HoldState = (typeof holdStates)[number];

/**
 * What can happen to a hold. A person decides: `approve`, `reject`, `withdraw` (takes a rejection back: it is asked again). `done`: its
 * operation was carried out, or a service refused it. `changed`: a record that it is about, its policy or what it
 * removes is not what the person was shown. `unwanted`: a plan that can be believed has no such operation. `restored`:
 * the ledger was put back, and what people decided since is not known.
 */
export const holdEvents = ["approve", "reject", "withdraw", "done", "changed", "unwanted", "restored"] as const;
export type HoldEvent = (typeof holdEvents)[number];

/** `refuse`: a person is told that it cannot be decided so. `keep`: nothing happens. Else: how it stands then. */
export type HoldAction = HoldState | "refuse" | "keep";

const over = {
  approve: "refuse",
  reject: "refuse",
  withdraw: "refuse",
  done: "keep",
  changed: "keep",
  unwanted: "keep",
  restored: "keep",
} as const;

/**
 * The life of a hold: state × event → action. A question that was asked stays open until a person answers it or it is
 * moot; no run, no time and no other decision ends it. What is not `asked`, `approved` or `rejected` is over for good:
 * where the same comes up again, a person is asked anew.
 */
export const holdLife: Readonly<Record<HoldState, Readonly<Record<HoldEvent, HoldAction>>>> = {
  asked: {
    approve: "approved",
    reject: "rejected",
    withdraw: "refuse",
    done: "moot",
    changed: "moot",
    unwanted: "moot",
    restored: "moot",
  },
  approved: {
    approve: "refuse",
    reject: "rejected",
    withdraw: "refuse",
    done: "used",
    changed: "moot",
    unwanted: "moot",
    restored: "expired",
  },
  rejected: {
    approve: "refuse",
    reject: "refuse",
    withdraw: "asked",
    done: "used",
    changed: "moot",
    unwanted: "moot",
    restored: "keep",
  },
  used: over,
  expired: over,
  moot: over,
};

/** How a hold stands while something is still to come of it. */
export const standingStates = ["asked", "approved", "rejected"] as const satisfies readonly HoldState[];
export type StandingState = (typeof standingStates)[number];

/** How a question stands by its holds: open while one of them waits for a person. */
export function questionStateOf(holds: ReadonlySet<HoldState>): "open" | "approved" | "rejected" | "used" | "moot" {
  if (holds.has("asked")) return "open";
  if (holds.has("approved")) return "approved";
  if (holds.has("rejected")) return "rejected";
  return holds.has("used") ? "used" : "moot";
}
