import { counted, printable } from "./text.ts";

/** What a rebuild came to, for people. */
export interface RebuildFacts {
  known: { enterprises: number; orders: number; staff: number; assignments: number };
  lost: readonly { record: string; why: string }[];
  /** What is taken for granted, since nothing shows it. */
  assumed: readonly { record: string; why: string }[];
  left: readonly { record: string; why: string }[];
}

/** Kinds of things that neither the platform nor a source shows, whatever a rebuild finds, and what that means. */
export const neverRebuilt = [
  "passwords that were made and not handed out: `crm-sync staff reset-password` sets new ones",
  "which accounts this program made: none of them is ever deleted by it (M4)",
  "accounts that were made together with an enterprise: they are not protected any more",
  "which customers a person unlinked: they are linked again by what the platform shows; `crm-sync unlink` says so anew",
  "orders of customers that the CRM gives no more, where it gives them to others: they are taken for new ones; let a " +
    "source give those customers too (merged into which), and build the ledger anew, before such an order is approved",
  "what people asked for by hand, their holds, approvals and the policies that were earned",
  "whether assets are disabled: what the CRM wants of that counts as asked for, and nothing is sent for it",
  "asset numbers that were taken and not used: they are spent",
  "name, branch and address that the platform acknowledged: taken to be as the CRM has them",
  "the audit chain and all history before now",
] as const;

const mostNamed = 20;

/** First what is known again, then what is not. */
export function rebuildText({ known, lost, assumed, left }: RebuildFacts): string[] {
  const { enterprises, orders, staff, assignments } = known;
  const named = (rows: RebuildFacts["lost"]): string[] => [
    ...rows.slice(0, mostNamed).map(({ record, why }) => printable(`  ${record}: ${why}`)),
    ...(rows.length > mostNamed ? [`  … and ${rows.length - mostNamed} more (crm-sync report rebuild names all)`] : []),
  ];
  return [
    `${counted(enterprises, "enterprise")}, ${counted(orders, "order")}, ${counted(staff, "account")} and ` +
      `${counted(assignments, "assignment")} are known again`,
    ...(lost.length === 0
      ? []
      : [`${counted(lost.length, "record")} could not be brought back and wait:`, ...named(lost)]),
    ...(assumed.length === 0 ? [] : [`${counted(assumed.length, "thing")} taken for granted:`, ...named(assumed)]),
    ...(left.length === 0
      ? []
      : [
          `the next run would do ${counted(left.length, "thing")}; what makes something waits for a person's approval:`,
          ...named(left),
        ]),
    `${neverRebuilt.length} kinds of things cannot be brought back:`,
    ...neverRebuilt.map((what) => `  ${what}`),
  ];
}
