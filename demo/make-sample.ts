import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { germanAmount, CrmOrderBook, lineColumns } from "./make/crm-orders.ts";
import type { CrmOrder, Seat } from "./make/crm-orders.ts";
import { csvText, ndjsonText } from "./make/csv.ts";
import { createCustomers } from "./make/customers.ts";
import type { MadeCustomer } from "./make/customers.ts";
import { createDice } from "./make/dice.ts";
import type { Dice } from "./make/dice.ts";
import { orderMistakes, staffMistakes } from "./make/mistakes.ts";
import { createPortalOrders } from "./make/portal-orders.ts";
import type { PortalOrder } from "./make/portal-orders.ts";
import { makeStaff } from "./make/staff.ts";

/**
 * Makes the sample CRM export of the demo: `node demo/make-sample.ts` writes `demo/sample/` anew, the same every time.
 * Everybody in it is made up. What is wrong in it is wrong on purpose, each in its own way.
 */

const customerCount = 240;
const portalCount = 60;
const nameless = "C-1023";
const unquotedComma = "C-1057";
const claimedTwice = "C-1017";
const withoutAddress = "C-1044";
const cancels = "C-1143";
const unknownCustomer = "C-9999";
/** Customers whose only order waits for something: they have no staff. */
const waiting = new Set([claimedTwice, withoutAddress, ...Object.keys(orderMistakes)]);

const customerColumns = [
  "customerNo",
  "company",
  "kind",
  "branchNo",
  "branch",
  "street",
  "postcode",
  "city",
  "country",
  "contact",
  "login",
  "email",
  "mobile",
  "purchaserMobile",
] as const;
const orderColumns = ["orderNo", "customerNo", "placedAt", "status", "currency", "total"] as const;

/** Text of each file of the sample by its path below `demo/sample`. */
export function makeSample(): Map<string, string> {
  const dice = createDice(20_261_120);
  const makeCustomer = createCustomers(dice);
  const customers = range(1_001, customerCount).map((number) => makeCustomer(`C-${number}`, number));
  const orders = crmOrders(dice, customers);
  const portal = range(3_001, portalCount).map((number) => makeCustomer(`PC-${number}`, number));
  const portalMade = portalOrders(dice, portal);
  const seats = [
    ...orders.filter((order) => !waiting.has(order.customerNo)).flatMap((order) => order.seats),
    ...portalMade.seats,
  ];
  const staff = makeStaff(dice, seats);
  const last = staff.length;
  const faulty = staffMistakes.map((mistake, index) => ({
    employeeId: `E-${20_001 + last + index}`,
    system: "crm",
    company: "C-1002",
    login: `sample${last + 1 + index}`,
    fullName: "Anna Möller",
    mobile: "+4900000990000",
    licences: [],
    ...mistake,
  }));
  return new Map([
    ["crm/customers.csv", customersText(customers)],
    ["crm/orders.csv", ordersText(orders)],
    [
      "crm/order-lines.csv",
      csvText(
        lineColumns,
        orders.flatMap((order) => order.lines),
      ),
    ],
    ["portal/customers.ndjson", ndjsonText([...portal.map(portalCustomer), secondClaim(customers)])],
    [
      "portal/orders.json",
      `${JSON.stringify({ exportedAt: "2026-11-01T03:00:00Z", orders: portalMade.orders }, null, 2)}\n`,
    ],
    ["hr/staff.ndjson", ndjsonText([...staff, ...faulty])],
  ]);
}

function range(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

function crmOrders(dice: Dice, customers: readonly MadeCustomer[]): CrmOrder[] {
  const book = new CrmOrderBook(dice);
  const orders: CrmOrder[] = [];
  for (const customer of customers) {
    if (customer.id === nameless || customer.id === unquotedComma) continue;
    const mistake = orderMistakes[customer.id];
    const single = waiting.has(customer.id) || customer.id === cancels;
    const count = single ? 1 : dice.chance(0.15) ? 2 : dice.chance(0.88) ? 1 : 0;
    for (let made = 0; made < count; made += 1) {
      const order = book.make(50_001 + orders.length, customer, mistake?.kind);
      mistake?.spoil(order);
      if (customer.id === cancels) Object.assign(order, { status: "cancelled", seats: [] });
      orders.push(order);
    }
  }
  const [someone] = customers;
  if (someone !== undefined) {
    orders.push({ ...book.make(50_001 + orders.length, someone, "network"), customerNo: unknownCustomer });
  }
  return orders;
}

function portalOrders(dice: Dice, customers: readonly MadeCustomer[]): { orders: PortalOrder[]; seats: Seat[] } {
  const make = createPortalOrders(dice);
  const orders: PortalOrder[] = [];
  const seats: Seat[] = [];
  for (const customer of customers) {
    for (let count = dice.chance(0.3) ? 2 : 1; count > 0; count -= 1) {
      const made = make(7_001 + orders.length, customer);
      orders.push(made.order);
      seats.push(...made.seats);
    }
  }
  return { orders, seats };
}

function customersText(customers: readonly MadeCustomer[]): string {
  const rows = customers.map((customer) => ({
    customerNo: customer.id,
    company: customer.id === nameless ? "" : customer.name,
    kind: customer.person ? "person" : "company",
    branchNo: customer.branchCode,
    branch: customer.branchName,
    ...(customer.id === withoutAddress
      ? {}
      : {
          street: customer.street,
          postcode: customer.postcode,
          city: customer.city,
          country: customer.region.country,
        }),
    contact: customer.contact,
    login: customer.login,
    email: customer.email,
    mobile: customer.mobile,
    purchaserMobile: customer.purchaserMobile,
  }));
  // One row as somebody typed it into a spreadsheet: a comma that nothing quotes.
  const spoilt = new RegExp(`^(${unquotedComma}),(?:"(?:[^"]|"")*"|[^,]*),`, "m");
  return csvText(customerColumns, rows).replace(spoilt, "$1,Bergmann, Tal & Partner,");
}

function ordersText(orders: readonly CrmOrder[]): string {
  const rows = orders.map(({ orderNo, customerNo, placedAt, status, cents }) => ({
    orderNo,
    customerNo,
    placedAt,
    status,
    currency: "EUR",
    total: germanAmount(cents),
  }));
  return csvText(orderColumns, rows);
}

/** A customer as the portal exports it. `origin` names the system whose number it has; by default the portal's own. */
function portalCustomer(customer: MadeCustomer): object {
  return {
    id: customer.id,
    displayName: customer.name,
    kind: customer.person ? "personal" : "company",
    region: { code: "PORTAL", name: "Portal" },
    address: { line: customer.street, zip: customer.postcode, city: customer.city, country: customer.region.country },
    admin: { name: customer.contact, login: customer.login, email: customer.email, mobile: customer.mobile },
    purchasing: { mobile: customer.purchaserMobile },
  };
}

/** A copy of a customer of the CRM, under its number there: two sources claim it. */
function secondClaim(customers: readonly MadeCustomer[]): object {
  const twice = customers.find((customer) => customer.id === claimedTwice);
  if (twice === undefined) throw new RangeError(`${claimedTwice} was not made`);
  return { ...portalCustomer(twice), origin: "crm" };
}

if (import.meta.main) {
  for (const [path, text] of makeSample()) {
    const target = join(import.meta.dirname, "sample", path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
}
