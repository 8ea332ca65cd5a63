import type { Stream } from "../../src/crm/model.ts";
import { exportedRows } from "../support/world/crm.ts";
import { Lineage } from "./lineage.ts";

/** A product of a line: what changes of it in a life. */
export interface LineProduct {
  id: string;
  nodes: number;
  cents: number;
  /** The year with which it ends; without it, it ends with its term alone. */
  endsIn?: number;
}

/** A line of an order: as many assets of a kind as its quantity says, each with its products. */
export interface Line {
  id: string;
  quantity: number;
  products: LineProduct[];
  /** The line that it renews: its assets are those of that one, and what it has more of are new. */
  continues?: { order: string; line: string } | undefined;
}

export interface OrderNow {
  id: string;
  customer: string;
  cancelled: boolean;
  lines: Line[];
}

export interface CustomerNow {
  id: string;
  name: string;
  /** Merged into another one. */
  gone: boolean;
}

export interface PersonNow {
  id: string;
  customer: string;
  name: string;
  /** Lines of which they hold an asset. */
  holds: string[];
  gone: boolean;
  /** Customers that they belonged to before, where an account of theirs may be left. */
  left: string[];
}

/** What the CRM says now. */
export class CrmNow {
  readonly customers: CustomerNow[] = [];
  readonly orders: OrderNow[] = [];
  readonly people: PersonNow[] = [];
  readonly lineage = new Lineage();
  /** Lines of orders that it does not give now, and that are to come back. */
  readonly away = new Set<string>();
  #made = 0;

  /** A number for the next thing that is made. */
  next(): number {
    this.#made += 1;
    return this.#made;
  }

  /** The rows of its export. */
  rows(stream: Stream): object[] {
    return exportedRows(stream, {
      customers: this.customers.flatMap(({ gone, ...customer }) => (gone ? [] : [customer])),
      orders: this.orders.map(({ id, customer, cancelled, lines }) => ({
        id,
        customer,
        cancelled,
        assets: lines.map((line) => ({ id: line.id, quantity: line.quantity, ...continuesField(line) })),
        products: lines.flatMap((line) =>
          line.products.map((product) => ({
            id: product.id,
            parent: line.id,
            nodes: product.nodes,
            price: (product.cents / 100).toFixed(2),
            ...endField(product),
          })),
        ),
      })),
      staff: this.people.flatMap(({ gone, left: _left, ...person }) =>
        gone ? [] : [{ ...person, login: loginOf(person) }],
      ),
    });
  }

  /** The lines that are wanted, each with its order. */
  lines(): { order: OrderNow; line: Line }[] {
    return this.orders.flatMap((order) => (order.cancelled ? [] : order.lines.map((line) => ({ order, line }))));
  }

  /** The wanted lines of a customer whose assets somebody may hold who is to hold one of this line. */
  meantBy(claim: string, customer: string): Line[] {
    return this.lines().flatMap(({ order, line }) =>
      order.customer === customer && this.lineage.isMeantBy(line.id, claim) ? [line] : [],
    );
  }

  /** What each customer is to have of each product, by `CUSTOMER PRODUCT NODES END LINE`. */
  wanted(): Map<string, number> {
    const wanted = new Map<string, number>();
    for (const order of this.orders)
      for (const [key, count] of wantedOf(order)) wanted.set(key, (wanted.get(key) ?? 0) + count);
    return wanted;
  }
}

function continuesField({ continues }: Line): { continues?: { order: string; instance: string } } {
  return continues === undefined ? {} : { continues: { order: continues.order, instance: continues.line } };
}

/** When a product ends, ISO; undefined where the CRM says nothing of it. */
function endOf({ endsIn }: LineProduct): string | undefined {
  return endsIn === undefined ? undefined : `${endsIn}-01-01T00:00:00Z`;
}

function endField(product: LineProduct): { limitEnd?: string } {
  const limitEnd = endOf(product);
  return limitEnd === undefined ? {} : { limitEnd };
}

/** An account that nobody needs any more and that stays where it is, as `CUSTOMER LOGIN`. */
export function accountsLeft(people: readonly PersonNow[]): string[] {
  return people.flatMap((person) =>
    [...person.left, ...(person.gone ? [person.customer] : [])].map((customer) => `${customer} ${loginOf(person)}`),
  );
}

export function loginOf({ id }: Pick<PersonNow, "id">): string {
  return `zqcanary${id.toLowerCase()}`;
}

/** The same of one order. */
export function wantedOf({ customer, cancelled, lines }: OrderNow): Map<string, number> {
  if (cancelled) return new Map();
  return new Map(
    lines.flatMap(({ id, quantity, products }) =>
      products.map((product): [string, number] => {
        const end = endOf(product);
        const until = end === undefined ? 0 : Date.parse(end);
        return [`${customer} ${product.id} ${product.nodes} ${until} ${id}`, quantity];
      }),
    ),
  );
}
