/**
 * `ignore`: nothing, no report. `report`: nothing but a report. `ask`: a person must approve. `apply`: done, within
 * limits if it removes something. `apply-after-approvals`: `ask` until this ledger has enough approved operations, then
 * `apply`.
 */
export const policyWords = ["ignore", "report", "ask", "apply", "apply-after-approvals"] as const;
export type PolicyWord = (typeof policyWords)[number];

type Words<Name extends string> = Readonly<Record<Name, PolicyWord>>;

export type Policies = {
  readonly enterprises: Words<"update" | "renumbered" | "deleted">;
  readonly orders: Words<
    "added" | "ended" | "cancelled" | "deleted" | "replaced" | "assetChanged" | "moved" | "wording" | "price"
  >;
  readonly staff: Words<"edited" | "left" | "moved">;
  readonly assignments: Words<"revoked">;
  readonly locks: Words<"locked" | "unlocked">;
  readonly loans: Words<"lent">;
  /** How many different operations under a policy must be approved before `apply-after-approvals` becomes `apply`. */
  readonly approvalsNeeded: number;
};

export type PolicyName = {
  [Area in keyof Policies]: Policies[Area] extends Words<infer Name> ? `${Area}.${Name}` : never;
}[keyof Policies];

export function policyOf(policies: Policies, name: PolicyName): PolicyWord {
  const [area = "", kind = ""] = name.split(".");
  const words: Readonly<Record<string, Readonly<Record<string, PolicyWord>> | number>> = policies;
  const own = words[area];
  const word = typeof own === "object" ? own[kind] : undefined;
  if (word === undefined) throw new Error(`there is no policy ${name}`);
  return word;
}

export function acts(policies: Policies, name: PolicyName): boolean {
  const word = policyOf(policies, name);
  return word !== "ignore" && word !== "report";
}

export function deletesAccounts(policies: Policies): boolean {
  return acts(policies, "staff.left") || acts(policies, "staff.moved");
}
