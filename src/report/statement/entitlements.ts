import type { Column, Part, StatementShape } from "./shape.ts";

/** What an entitlement is counted in. */
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

const figures = [
  { name: "opening", title: "opening", about: "at the start of the period: the sum of everything before" },
  { name: "granted", title: "granted", about: "added in the period by an operation of crm-sync" },
  { name: "revoked", title: "revoked", about: "removed in the period by an operation of crm-sync" },
  {
    name: "adjusted",
    title: "adjusted",
    about:
      "that came (above 0) or went (below 0) in the period without an operation of ours: found on the platform, made " +
      "manually, restored by a rebuild, or moved with the customer to another branch",
  },
  { name: "closing", title: "closing", about: "at the end of the period: opening + granted − revoked + adjusted" },
] as const;

const key = {
  customer: { name: "customer", type: "text", title: "Customer", about: "The CRM customer, as `namespace/id`." },
  branch: {
    name: "branch",
    type: "text",
    title: "Branch",
    about: "Code of the customer's branch at the time of the row; of a sum, at the time of the sum.",
  },
  license_type: {
    name: "license_type",
    type: "text",
    title: "Licence type",
    about: "The licence type; empty for seats of asset numbers that no known order brought.",
  },
  gms_pid: { name: "gms_pid", type: "text", title: "Product number", about: "The product number (gmsPid)." },
  app_key: { name: "app_key", type: "text", title: "Application key", about: "The application key, where it has one." },
  product: { name: "product", type: "text", title: "Product", about: "Name of the product." },
} as const satisfies Record<string, Column>;

const productKey = [key.license_type, key.gms_pid, key.app_key, key.product];

const verdict: Column = {
  name: "verdict",
  type: "text",
  title: "Verdict",
  about: "`agrees`: opening and closing agree with a separate count; `differs`: the part `check` says how.",
};

const figureColumns: readonly Column[] = measures.flatMap((measure) =>
  figures.map(({ name, title, about }): Column => ({
    name: `${measure}_${name}`,
    type: "integer",
    title: `${measured[measure].title}, ${title}`,
    about: `${measured[measure].title} (${measured[measure].about}) ${about}.`,
    total: true,
  })),
);

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
    { name: "moment", type: "text", title: "Moment", about: "`opening` or `closing`." },
    { name: "measure", type: "text", title: "Measure", about: "`units`, `nodes` or `seats`." },
    { ...key.customer, about: "The CRM customer, as `namespace/id`; empty for the sum of all." },
    ...productKey,
    key.branch,
    { name: "events", type: "integer", title: "By events", about: "The figure by all that happened before." },
    { name: "standing", type: "integer", title: "By standing", about: "The figure from the licences at the moment." },
    { name: "verdict", type: "text", title: "Verdict", about: "`agrees` or `differs`." },
  ],
};

/** What customers may use, from the beginning of a period to its end, and how it changed. */
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
