export const holdStates = ["asked", "approved", "rejected", "used", "expired", "moot"] as const;
export type HoldState = (typeof holdStates)[number];

/**
 * `withdraw`: a person withdraws a rejection. `done`: the operation was carried out, or a service rejected it.
 * `changed`: a record, the policy or the removal changed since the person saw it. `unwanted`: a trustworthy plan has no
 * such operation. `restored`: a backup was restored, so later decisions are unknown.
 */
export const holdEvents = ["approve", "reject", "withdraw", "done", "changed", "unwanted", "restored"] as const;
export type HoldEvent = (typeof holdEvents)[number];

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
 * State × event → action. Only a person, or the end of its reason, ends a question: never a run or time. `used`,
 * `expired` and `moot` are final: if the operation comes back, it needs a new decision.
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

export const standingStates = ["asked", "approved", "rejected"] as const satisfies readonly HoldState[];
export type StandingState = (typeof standingStates)[number];

export function questionStateOf(holds: ReadonlySet<HoldState>): "open" | "approved" | "rejected" | "used" | "moot" {
  if (holds.has("asked")) return "open";
  if (holds.has("approved")) return "approved";
  if (holds.has("rejected")) return "rejected";
  return holds.has("used") ? "used" : "moot";
}
