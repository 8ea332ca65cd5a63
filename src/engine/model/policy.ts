/**
 * What happens to a kind of change. `ignore`: nothing, and no report. `report`: nothing, and the record reports it.
 * `ask`: a person must approve it. `apply`: it is done, within limits if it removes something. `apply-after-approvals`:
 * `ask` until this ledger has enough approved operations under this policy, then `apply`.
 */
export const policyWords = ["ignore", "report", "ask", "apply", "apply-after-approvals"] as const;
export type PolicyWord = (typeof policyWords)[number];

type Words<Name extends string> = Readonly<Record<Name, PolicyWord>>;

/** The configured policy of every kind of change. */
export interface Policies {
  readonly enterprises: Words<"update" | "renumbered" | "deleted">;
  readonly orders: Words<
    "added" | "ended" | "cancelled" | "deleted" | "replaced" | "assetChanged" | "moved" | "wording" | "price"
  >;
  readonly staff: Words<"edited" | "left" | "moved">;
  readonly assignments: Words<"revoked">;
  readonly locks: Words<"locked" | "unlocked">;
  readonly loans: Words<"lent">;
  readonly drift: Words<"missing" | "extra" | "different">;
  /** How many different operations under a policy must be approved before `apply-after-approvals` becomes `apply`. */
  readonly approvalsNeeded: number;
}

/** A policy by its path in the configuration: `orders.cancelled`. */
export type PolicyName =
  | {
      [Area in keyof Policies]: Policies[Area] extends Words<infer Name> ? `${Area}.${Name}` : never;
    }[keyof Policies]
  | typeof unproven;

/**
 * An order that the platform does not show may exist all the same. A person must approve buying it again, whatever
 * `drift.missing` says (`orders.unseen: ask`).
 */
export const unproven = "drift.unproven";

const readings: { readonly [Name in PolicyName]: (policies: Policies) => PolicyWord } = {
  "enterprises.update": ({ enterprises }) => enterprises.update,
  "enterprises.renumbered": ({ enterprises }) => enterprises.renumbered,
  "enterprises.deleted": ({ enterprises }) => enterprises.deleted,
  "orders.added": ({ orders }) => orders.added,
  "orders.ended": ({ orders }) => orders.ended,
  "orders.cancelled": ({ orders }) => orders.cancelled,
  "orders.deleted": ({ orders }) => orders.deleted,
  "orders.replaced": ({ orders }) => orders.replaced,
  "orders.assetChanged": ({ orders }) => orders.assetChanged,
  "orders.moved": ({ orders }) => orders.moved,
  "orders.wording": ({ orders }) => orders.wording,
  "orders.price": ({ orders }) => orders.price,
  "staff.edited": ({ staff }) => staff.edited,
  "staff.left": ({ staff }) => staff.left,
  "staff.moved": ({ staff }) => staff.moved,
  "assignments.revoked": ({ assignments }) => assignments.revoked,
  "locks.locked": ({ locks }) => locks.locked,
  "locks.unlocked": ({ locks }) => locks.unlocked,
  "loans.lent": ({ loans }) => loans.lent,
  "drift.missing": ({ drift }) => drift.missing,
  "drift.extra": ({ drift }) => drift.extra,
  "drift.different": ({ drift }) => drift.different,
  [unproven]: () => "ask",
};

/** The configured policy, for display. */
export function policyText(name: PolicyName, word: PolicyWord): string {
  return name === unproven
    ? "an order that the platform does not show is placed again only if a person decides so"
    : `policies.${name} is ${word}`;
}

export function policyOf(policies: Policies, name: PolicyName): PolicyWord {
  return readings[name](policies);
}

/** Whether changes under a policy are made, possibly after an approval. */
export function acts(policies: Policies, name: PolicyName): boolean {
  const word = policyOf(policies, name);
  return word !== "ignore" && word !== "report";
}

export function deletesAccounts(policies: Policies): boolean {
  return acts(policies, "staff.left") || acts(policies, "staff.moved");
}
