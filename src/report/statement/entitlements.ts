import { column, type Column, type Part, type StatementShape } from "./shape.ts";

export const measures = ["units", "nodes", "seats"] as const;
export type Measure = (typeof measures)[number];

const measured: Record<Measure, { title: string; about: string }> = {
  units: { title: "Units × products", about: "asset numbers, each once for each product that it has" },
  nodes: { title: "Nodes", about: "nodes of the product under these numbers" },
  seats: {
    title: "Seats × products",
    about: "assignments of these numbers to members of staff, each once for each product",
  },
};

const figures = {
  opening: "at the start of the period: the sum of everything before",
  granted: "added in the period by an operation of crm-sync",
  revoked: "removed in the period by an operation of crm-sync",
  adjusted:
    "that came (above 0) or went (below 0) in the period without an operation of ours: found on the platform, made " +
    "manually, restored by a rebuild, or moved with the customer to another branch",
  closing: "at the end of the period: opening + granted − revoked + adjusted",
};

const key = {
  customer: column("text", "customer", "Customer", "The CRM customer, as `namespace/id`."),
  branch: column(
    "text",
    "branch",
    "Branch",
    "Code of the customer's branch at the time of the row; of a sum, at the time of the sum.",
  ),
  license_type: column(
    "text",
    "license_type",
    "Licence type",
    "The licence type; empty for seats of asset numbers that no known order brought.",
  ),
  gms_pid: column("text", "gms_pid", "Product number", "The product number (gmsPid)."),
  app_key: column("text", "app_key", "Application key", "The application key, where it has one."),
  product: column("text", "product", "Product", "Name of the product."),
} as const satisfies Record<string, Column>;

const productKey = [key.license_type, key.gms_pid, key.app_key, key.product];

const verdict: Column = column(
  "text",
  "verdict",
  "Verdict",
  "`agrees`: opening and closing agree with a separate count; `differs`: the part `check` says how.",
);

const figureColumns: readonly Column[] = measures.flatMap((measure) => {
  const { title, about } = measured[measure];
  return Object.entries(figures).map(([figure, what]) =>
    column("integer", `${measure}_${figure}`, `${title}, ${figure}`, `${title} (${about}) ${what}.`, { total: true }),
  );
});

function part(name: string, title: string, about: string, of: readonly Column[]): Part {
  return { name, title, about, groupBy: "verdict", columns: [...of, ...figureColumns, verdict] };
}

const check: Part = {
  name: "check",
  title: "Check",
  about:
    "Opening and closing counted a second time, from the licences at these moments: a row for each of the sums, and " +
    "one for each row of the entitlements that does not agree.",
  groupBy: "verdict",
  columns: [
    column("text", "moment", "Moment", "`opening` or `closing`."),
    column("text", "measure", "Measure", "`units`, `nodes` or `seats`."),
    { ...key.customer, about: "The CRM customer, as `namespace/id`; empty for the sum of all." },
    ...productKey,
    key.branch,
    column("integer", "events", "By events", "The figure by all that happened before."),
    column("integer", "standing", "By standing", "The figure from the licences at the moment."),
    column("text", "verdict", "Verdict", "`agrees` or `differs`."),
  ],
};

export const entitlementsStatement: StatementShape = {
  kind: "entitlements",
  version: 1,
  title: "Entitlements",
  about:
    "Opening + granted − revoked ± adjusted = closing, of units, nodes and seats. Each product counts by itself: an " +
    "asset number with two products is a unit of each, and its member has a seat of each.",
  parts: [
    part("entitlements", "Entitlements", "One row for each customer, licence type, product and branch.", [
      key.customer,
      ...productKey,
      key.branch,
    ]),
    part("by_product", "By product", "The same, added up for each licence type and product.", productKey),
    part("by_customer", "By customer", "The same, added up for each customer.", [key.customer]),
    part("by_branch", "By branch", "The same, added up for each branch.", [key.branch]),
    check,
  ],
};
