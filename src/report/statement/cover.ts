import type { StatementShape } from "./shape.ts";

/**
 * Whom the ids in closed books stand for. It is no part of them, holds personal data and is made from what the ledger
 * knows now, so that a name can be erased.
 */
export const coverStatement: StatementShape = {
  kind: "cover",
  version: 1,
  title: "Cover sheet",
  about: "The customers that statements name by their ids. It holds names, and is no part of closed books.",
  parts: [
    {
      name: "cover",
      title: "Customers",
      about: "One row for each customer that the ledger knows.",
      columns: [
        { name: "customer", type: "text", title: "Customer", about: "Key of the customer, as `namespace/id`." },
        { name: "name", type: "text", title: "Name", about: "Its name in the CRM; `erased` where it was erased." },
        { name: "branch", type: "text", title: "Branch", about: "Code of the branch that looks after it." },
      ],
    },
  ],
};
