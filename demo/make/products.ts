import type { Dice } from "./dice.ts";

/** A feature point as the CRM writes it. */
export interface MadeFeature {
  code: string;
  name: string;
  value: string;
  valueType: string;
  /** Last day of a trial, `yyyy-MM-dd`. */
  trialUntil?: string;
}

/** A product instance as the CRM writes it; dates are days, `yyyy-MM-dd`. */
export interface MadeProduct {
  id: string;
  name: string;
  gmsPid?: string;
  appKey?: string;
  type: string;
  nodes: number;
  from?: string;
  to?: string;
  unit: string;
  units: number;
  term: string;
  usageHours?: number;
  trialUntil?: string;
  passwords?: string[];
  cents: number;
  features: MadeFeature[];
}

interface CatalogueEntry {
  key: string;
  name: string;
  cents: number;
  features: readonly MadeFeature[];
}

const tools: readonly CatalogueEntry[] = [
  {
    key: "PLAN-CAD",
    name: "Plan CAD",
    cents: 49_900,
    features: [
      { code: "export", name: "Export formats", value: "dxf;ifc", valueType: "text" },
      { code: "layers", name: "Layers", value: "256", valueType: "number" },
    ],
  },
  {
    key: "PLAN-3D",
    name: "Plan 3D",
    cents: 79_900,
    features: [{ code: "render", name: "Rendering", value: "on", valueType: "switch" }],
  },
  {
    key: "STATIC",
    name: "Static",
    cents: 119_900,
    features: [{ code: "norms", name: "Norms", value: "EC2;EC3", valueType: "text" }],
  },
  { key: "SURVEY", name: "Survey", cents: 35_000, features: [] },
  {
    key: "COST",
    name: "Cost & Tender",
    cents: 28_050,
    features: [{ code: "tender", name: "Tender export", value: "on", valueType: "switch" }],
  },
  { key: "QUANTITY", name: "Quantity Take-off", cents: 31_500, features: [] },
  { key: "STEEL", name: "Steel Details", cents: 64_000, features: [] },
];

const webApps: readonly CatalogueEntry[] = [
  {
    key: "app-review",
    name: "Review Online",
    cents: 9_900,
    features: [{ code: "guests", name: "Guests", value: "5", valueType: "number" }],
  },
  { key: "app-board", name: "Project Board", cents: 7_900, features: [] },
  {
    key: "app-vault",
    name: "Document Vault",
    cents: 12_000,
    features: [{ code: "space", name: "Space in GB", value: "100", valueType: "number" }],
  },
];

/** How long something is sold for: the unit, the number of units, and the same as y-m-d. */
const terms = [
  { unit: "YEAR", units: 1, term: "1-0-0" },
  { unit: "YEAR", units: 1, term: "1-0-0" },
  { unit: "YEAR", units: 3, term: "3-0-0" },
  { unit: "MONTH", units: 6, term: "0-6-0" },
  { unit: "DAY", units: 90, term: "0-0-90" },
] as const;

export type Term = (typeof terms)[number] | { unit: "NONE"; units: 0; term: "0-0-0" };

export const unlimited: Term = { unit: "NONE", units: 0, term: "0-0-0" };

export function pickTerm(dice: Dice): Term {
  return dice.pick(terms);
}

/** The first day and the day after the last one. */
export function limitsOf(start: Temporal.PlainDate, { unit, units }: Term): { from: string; to: string } {
  const length = unit === "YEAR" ? { years: units } : unit === "MONTH" ? { months: units } : { days: units };
  return { from: start.toString(), to: start.add(length).toString() };
}

/** One product of the catalogue, sold from `start` for `term`. */
export function makeProduct(
  dice: Dice,
  id: string,
  sold: { start: Temporal.PlainDate; term: Term; nodes: number; webApp?: boolean },
): MadeProduct {
  const entry = dice.pick(sold.webApp === true ? webApps : tools);
  const limited = sold.term.unit === "NONE" ? {} : limitsOf(sold.start, sold.term);
  return {
    id,
    name: entry.name,
    ...(sold.webApp === true ? { appKey: entry.key } : { gmsPid: entry.key }),
    type: sold.webApp === true ? "webapp" : "tool",
    nodes: sold.nodes,
    ...limited,
    ...sold.term,
    cents: entry.cents * (sold.term.unit === "YEAR" ? sold.term.units : 1),
    features: entry.features.map((feature) => ({ ...feature })),
  };
}
