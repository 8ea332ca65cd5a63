import type { Draws } from "../simulation/timeline.ts";
import type { CrmNow, CustomerNow, Line, OrderNow } from "./model.ts";
import { buyAnew, dropVain, renewalEdits, setCancelled } from "./renewals.ts";
import { freeLines, holdsOf, nameByStanding, release } from "./seats.ts";

/** What happens in a CRM over the years; answers what was done, or undefined where there was nothing to do it to. */
type Edit = (crm: CrmNow, draws: Draws) => string | undefined;

interface EditKind {
  make: Edit;
  /** Why histories do not hold it yet; absent: they do. */
  notYet?: string;
}

const mostNodes = 9;

function newLine(crm: CrmNow, draws: Draws): Line {
  const id = `L${crm.next()}`;
  return { id, quantity: draws.whole(1, 2), products: [newProduct(crm, draws)] };
}

function newProduct(crm: CrmNow, draws: Draws): Line["products"][number] {
  return { id: `P${crm.next()}`, nodes: draws.whole(1, mostNodes), cents: draws.whole(1, 900) };
}

export function newCustomer(crm: CrmNow, draws: Draws): void {
  const id = `C${crm.next()}`;
  crm.customers.push({ id, name: `Zqcanary Works ${id}`, gone: false });
  newOrder(crm, draws, id);
  newPerson(crm, draws, id);
}

export function newOrder(crm: CrmNow, draws: Draws, customer: string): OrderNow {
  const order = { id: `O${crm.next()}`, customer, cancelled: false, lines: [newLine(crm, draws)] };
  crm.orders.push(order);
  return order;
}

export function newPerson(crm: CrmNow, draws: Draws, customer: string): string {
  const id = `S${crm.next()}`;
  crm.people.push({ id, customer, name: `Zqcanary Person ${id}`, holds: [], gone: false, left: [] });
  const [free] = freeLines(crm, customer);
  if (free !== undefined && draws.chance(0.7)) crm.people.at(-1)?.holds.push(free);
  return id;
}

const here = (crm: CrmNow): CustomerNow[] => crm.customers.filter((customer) => !customer.gone);
const current = (crm: CrmNow): OrderNow[] => crm.orders.filter((order) => !order.cancelled);
const lineOf = (crm: CrmNow, draws: Draws): Line | undefined =>
  draws.pick(current(crm).flatMap((order) => order.lines));
/** What follows from a change in the CRM, whichever it was. */
export function settle(crm: CrmNow): void {
  dropVain(crm);
  release(crm);
}

/** A person of another customer now holds nothing of the old one, and may get something of the new one. */
function movePerson(crm: CrmNow, draws: Draws): string | undefined {
  const person = draws.pick(crm.people.filter((item) => !item.gone));
  const other = draws.pick(here(crm).filter((customer) => customer.id !== person?.customer));
  if (person === undefined || other === undefined) return undefined;
  person.left = [...person.left, person.customer].filter((id) => id !== other.id);
  Object.assign(person, { customer: other.id, holds: [] });
  const line = draws.chance(0.6) ? draws.pick(freeLines(crm, other.id)) : undefined;
  if (line !== undefined) person.holds.push(line);
  return `${person.id} to ${other.id}`;
}

export const edits = {
  "a new order": {
    make: (crm, draws) => {
      const customer = draws.pick(here(crm));
      return customer && `${newOrder(crm, draws, customer.id).id} of ${customer.id}`;
    },
  },
  "a new line": {
    make: (crm, draws) => {
      const order = draws.pick(current(crm));
      order?.lines.push(newLine(crm, draws));
      return order?.id;
    },
  },
  "a new product": {
    make: (crm, draws) => {
      const line = lineOf(crm, draws);
      line?.products.push(newProduct(crm, draws));
      return line?.id;
    },
  },
  "more units": {
    make: (crm, draws) => {
      const line = lineOf(crm, draws);
      if (line !== undefined) line.quantity += draws.whole(1, 2);
      return line?.id;
    },
  },
  "another price": {
    make: (crm, draws) => {
      const product = lineOf(crm, draws)?.products[0];
      if (product !== undefined) product.cents += draws.whole(1, 99);
      return product?.id;
    },
  },
  "a customer renamed": {
    make: (crm, draws) => {
      const customer = draws.pick(here(crm));
      if (customer !== undefined) customer.name = `Zqcanary Works ${customer.id} ${crm.next()}`;
      return customer?.id;
    },
  },
  "a person renamed": {
    make: (crm, draws) => {
      const person = draws.pick(crm.people.filter((item) => !item.gone));
      if (person !== undefined) person.name = `Zqcanary Person ${crm.next()}`;
      return person?.id;
    },
  },
  "a new person": {
    make: (crm, draws) => {
      const customer = draws.pick(here(crm));
      return customer && newPerson(crm, draws, customer.id);
    },
  },
  "a seat given": {
    make: (crm, draws) => {
      const person = draws.pick(crm.people.filter((item) => !item.gone));
      const line = person && draws.pick(freeLines(crm, person.customer).filter((id) => !holdsOf(crm, person, id)));
      if (line === undefined) return undefined;
      person?.holds.push(line);
      return `${line} to ${person?.id ?? ""}`;
    },
  },
  "a seat taken back": {
    make: (crm, draws) => {
      const person = draws.pick(crm.people.filter((item) => item.holds.length > 0));
      return person && `${person.holds.pop() ?? ""} from ${person.id}`;
    },
  },
  "a person leaves": {
    make: (crm, draws) => {
      const person = draws.pick(crm.people.filter((item) => !item.gone));
      if (person !== undefined) Object.assign(person, { gone: true, holds: [] });
      return person?.id;
    },
  },
  "a person comes back": {
    make: (crm, draws) => {
      const person = draws.pick(crm.people.filter((item) => item.gone));
      if (person !== undefined) person.gone = false;
      return person?.id;
    },
  },
  "a person moves": { make: movePerson },
  "an ended line": {
    make: (crm, draws) => {
      const order = draws.pick(current(crm).filter((item) => item.lines.length > 1));
      return order?.lines.pop()?.id;
    },
  },
  "an ended product": {
    make: (crm, draws) => {
      const line = draws.pick(current(crm).flatMap((order) => order.lines.filter((item) => item.products.length > 1)));
      return line?.products.pop()?.id;
    },
  },
  "fewer units": {
    make: (crm, draws) => {
      const line = draws.pick(current(crm).flatMap((order) => order.lines.filter((item) => item.quantity > 1)));
      if (line !== undefined) line.quantity -= 1;
      return line?.id;
    },
  },
  "a cancelled order": {
    make: (crm, draws) => {
      const order = draws.pick(current(crm));
      if (order !== undefined) setCancelled(crm, order, true);
      return order?.id;
    },
  },
  "a restored order": {
    make: (crm, draws) => {
      const order = draws.pick(crm.orders.filter((item) => item.cancelled));
      if (order !== undefined) setCancelled(crm, order, false);
      return order?.id;
    },
  },
  "other nodes": {
    make: (crm, draws) => {
      const product = lineOf(crm, draws)?.products[0];
      if (product !== undefined) product.nodes = (product.nodes % mostNodes) + 1;
      return product?.id;
    },
  },
  "a later end": {
    make: (crm, draws) => {
      const product = lineOf(crm, draws)?.products[0];
      if (product !== undefined) product.endsIn = (product.endsIn ?? 2029) + 1;
      return product?.id;
    },
  },
  "an order moves": {
    make: (crm, draws) => {
      const order = draws.pick(current(crm));
      const other = draws.pick(crm.customers.filter((customer) => !customer.gone && customer.id !== order?.customer));
      if (order === undefined || other === undefined) return undefined;
      order.customer = other.id;
      buyAnew(crm, order);
      return `${order.id} to ${other.id}`;
    },
  },
  "two customers merge": {
    make: (crm, draws) => {
      const into = draws.pick(here(crm));
      const gone = draws.pick(here(crm).filter((customer) => customer !== into));
      if (into === undefined || gone === undefined) return undefined;
      gone.gone = true;
      for (const order of crm.orders) {
        if (order.customer !== gone.id) continue;
        order.customer = into.id;
        buyAnew(crm, order);
      }
      for (const person of crm.people) {
        if (person.customer !== gone.id) continue;
        person.left = [...person.left, gone.id].filter((id) => id !== into.id);
        person.customer = into.id;
        nameByStanding(crm, person);
      }
      return `${gone.id} into ${into.id}`;
    },
  },
  ...renewalEdits,
} satisfies Record<string, EditKind>;

const all: readonly [string, EditKind][] = Object.entries(edits);

/** The edits that histories hold, and why they do not hold the others. */
export const enabled: readonly [string, EditKind][] = all.filter(([, kind]) => kind.notYet === undefined);
export const notEnabled: readonly string[] = all.flatMap(([name, kind]) =>
  kind.notYet === undefined ? [] : [`${name}: ${kind.notYet}`],
);

/** A value that the CRM turns to and fro: each call turns the same one. */
export const turns: Record<string, (crm: CrmNow, draws: Draws) => (() => string) | undefined> = {
  "the name of a customer": (crm, draws) => {
    const customer = draws.pick(here(crm));
    return customer && (() => (customer.name = turned(customer.name)));
  },
  "the name of a person": (crm, draws) => {
    const person = draws.pick(crm.people.filter((item) => !item.gone));
    return person && (() => (person.name = turned(person.name)));
  },
  "the nodes of a product": (crm, draws) => {
    const product = lineOf(crm, draws)?.products[0];
    const both = product && [product.nodes, (product.nodes % mostNodes) + 1];
    return both && (() => String((product.nodes = both.find((nodes) => nodes !== product.nodes) ?? 1)));
  },
  "whether an order is cancelled": (crm, draws) => {
    const order = draws.pick(current(crm));
    return (
      order &&
      (() => {
        setCancelled(crm, order, !order.cancelled);
        return String(order.cancelled);
      })
    );
  },
  "who holds an asset": (crm, draws) => {
    const person = draws.pick(crm.people.filter((item) => item.holds.length > 0));
    const held = person?.holds ?? [];
    return person && (() => (person.holds = person.holds.length > 0 ? [] : held).join(" "));
  },
};

function turned(name: string): string {
  return name.endsWith(" fro") ? name.slice(0, -" fro".length) : `${name} fro`;
}
