import { z } from "zod";

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

const toldWords = ["ignore", "report"] as const;
const toldOnly = "no call does it, so it can only be told: write report or ignore";

const rule = (standard: PolicyWord, what: string) => z.enum(policyWords).default(standard).describe(what);
const told = (what: string) => z.enum(toldWords, toldOnly).default("report").describe(what);

/** The policy of each kind of change: `policies` in the composed configuration. */
export const policySettingsSchema = z
  .strictObject({
    enterprises: z
      .strictObject({
        update: rule("apply", "A changed name, branch or address (E4)."),
        renumbered: told("Another channel customer number than the one that the enterprise is linked under."),
        deleted: told("A customer that was deleted in the CRM: its enterprise stays."),
      })
      .prefault({})
      .describe("Enterprises."),
    orders: z
      .strictObject({
        added: rule("apply", "New orders, and additions to placed orders (E5)."),
        ended: rule("apply-after-approvals", "Products and assets that an order no longer has."),
        cancelled: rule("apply-after-approvals", "Orders that were cancelled."),
        deleted: rule("apply-after-approvals", "Orders that were deleted in the CRM."),
        replaced: rule("apply-after-approvals", "The old form of licences that were bought again on other terms."),
        assetChanged: rule("ask", "The old asset where its licence type, limits or extensions changed."),
        moved: rule(
          "apply-after-approvals",
          "Orders at the customer that they moved away from; the purchase of the new customer follows `added`.",
        ),
        wording: z
          .enum(toldWords, "nothing is bought anew for a name, so it can only be told: write report or ignore")
          .default("report")
          .describe("Names of products, features and packages: to change one would be to delete and to buy."),
        price: z
          .enum(
            ["ignore", "report", "apply"],
            "a price needs no call, so it cannot wait: write apply, report or ignore",
          )
          .default("apply")
          .describe("Amounts: the ledger and the reports have them, and no call is made."),
      })
      .prefault({})
      .describe("Orders."),
    staff: z
      .strictObject({
        edited: rule("apply", "Name, remark, department and mobile number (M2)."),
        left: rule("report", "The account of a person who was deleted in the CRM (M4)."),
        moved: rule("report", "The account of a person who belongs to another customer now (M4)."),
      })
      .prefault({})
      .describe("Members of staff."),
    assignments: z
      .strictObject({ revoked: rule("apply", "Assets that a person no longer has in the CRM (M9).") })
      .prefault({})
      .describe("Assignments."),
    locks: z
      .strictObject({
        locked: rule("apply-after-approvals", "Locks that the CRM wants disabled (E6)."),
        unlocked: rule("apply", "Locks that the CRM wants enabled again (E7)."),
      })
      .prefault({})
      .describe("Physical locks, as the CRM wants them; the request of a person needs no approval."),
    loans: z
      .strictObject({ lent: rule("ask", "Locks that the CRM wants lent (M10).") })
      .prefault({})
      .describe("Locks that are lent, as the CRM wants it."),
    approvalsNeeded: z
      .int()
      .min(1)
      .default(10)
      .describe(
        "So many different operations under a policy must have been approved in this ledger before `apply-after-approvals` is `apply`.",
      ),
  })
  .prefault({});
