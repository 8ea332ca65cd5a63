import type { CrmOrder, Line, OrderKind } from "./crm-orders.ts";

/** Something wrong with one order, on purpose. `spoil` changes the lines of an order of that kind. */
export interface OrderMistake {
  kind: OrderKind;
  spoil(order: CrmOrder): void;
}

function lineOf(order: CrmOrder, fits: (line: Line) => boolean): Line {
  const found = order.lines.find(fits);
  if (found === undefined) throw new RangeError(`${order.orderNo} has no line to spoil`);
  return found;
}

const packageOf = (number: string) => (line: Line) => line.kind === "package" && line.number === number;
const isProduct = (line: Line): boolean => line.kind === "product";

/** By the customer whose only order has it. */
export const orderMistakes: Readonly<Record<string, OrderMistake>> = {
  // The bundle hangs under the module that hangs under the bundle.
  "C-1071": {
    kind: "suite",
    spoil: (order) => {
      const { instance } = lineOf(order, packageOf("PK-111"));
      Object.assign(lineOf(order, packageOf("PK-110")), { parent: instance, parentNumber: "PK-111" });
    },
  },
  // A product of an asset that is in no order.
  "C-1083": { kind: "team", spoil: (order) => Object.assign(lineOf(order, isProduct), { parent: "A-999999" }) },
  // The same product line twice.
  "C-1095": { kind: "network", spoil: (order) => order.lines.push({ ...lineOf(order, isProduct) }) },
  // A package that says that it belongs to another one than it stands in.
  "C-1107": {
    kind: "suite",
    spoil: (order) => Object.assign(lineOf(order, packageOf("PK-110")), { parentNumber: "PK-900" }),
  },
  // A word that the platform does not have.
  "C-1119": {
    kind: "certificate",
    spoil: (order) => Object.assign(lineOf(order, isProduct), { productType: "gadget" }),
  },
  // A day that the calendar does not have.
  "C-1131": {
    kind: "certificate",
    spoil: (order) => Object.assign(lineOf(order, isProduct), { validTo: "2027-02-30" }),
  },
};

/** Employees that the member-center would not take. */
export const staffMistakes = [
  { fullName: "Maximiliane Theodora von Beispielhausen-Musterberg" },
  { login: "o'neil.d" },
] as const;
