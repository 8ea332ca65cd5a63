import type { SimulatedServices } from "../simulation/services.ts";
import { loginOf, type CrmNow, type PersonNow } from "./model.ts";

/** An asset with the lines of which something is in it, and of which anything ever was. */
interface ShownAsset {
  number: string;
  customer: string;
  /** Login of who holds it. */
  holder: string | null;
  lines: string[];
  everOf: string[];
}

/** Assets that hold anything. */
export function shownAssets({ store }: SimulatedServices): ShownAsset[] {
  return store
    .prepare<[], Record<"number" | "customer" | "lines" | "everOf", string> & { holder: string | null }>(
      `SELECT assets.asset_number AS number, customers.channel_customer_id AS customer,
       (SELECT user_name FROM staff WHERE staff.id = assets.holder_id) AS holder,
       (SELECT json_group_array(DISTINCT line) FROM parents WHERE asset_id = assets.id AND removed_by IS NULL) AS lines,
       (SELECT json_group_array(DISTINCT line) FROM parents WHERE asset_id = assets.id) AS everOf
       FROM assets JOIN customers ON customers.id = assets.customer_id WHERE assets.removed_by IS NULL ORDER BY 1`.replaceAll(
        "parents",
        `(SELECT asset_id, removed_by, json_extract(record, '$.parentCrmProductId') AS line FROM products)`,
      ),
    )
    .all()
    .map(({ lines, everOf, ...asset }) => ({ ...asset, lines: JSON.parse(lines), everOf: JSON.parse(everOf) }))
    .filter(({ lines }) => lines.length > 0);
}

/** What of seats is not as the CRM says: each claim is one asset of the person, and nobody holds anything else. */
export function seatsOtherwise(crm: CrmNow, services: SimulatedServices): string[] {
  const wrong: string[] = [];
  const held = shownAssets(services).filter(({ holder }) => holder !== null);
  const people = crm.people.filter((person) => !person.gone);
  const logins = new Set(people.map(loginOf));
  for (const { number, holder, lines } of held)
    if (!logins.has(holder ?? "")) wrong.push(`seats: ${holder} of nobody holds ${number} (${lines.join(", ")})`);
  for (const person of people) {
    const login = loginOf(person);
    let left = held.filter(({ holder }) => holder === login);
    for (const claim of person.holds) {
      const meant = crm.meantBy(claim, person.customer).map(({ id }) => id);
      const found = left.find(
        ({ lines, customer }) => customer === person.customer && lines.some((line) => meant.includes(line)),
      );
      if (found === undefined) wrong.push(`seats: ${login} is to hold one of ${claim} and holds none`);
      left = left.filter((asset) => asset !== found);
    }
    for (const { number, lines } of left)
      wrong.push(`seats: ${login} holds ${number} (${lines.join(", ")}), and is not to`);
  }
  return wrong;
}

/** What was agreed of one line the last time that the platform held exactly what the CRM said. */
interface Agreed {
  numbers: string[];
  customer: string;
  quantity: number;
}

/** What a renewal was meant to take over when the CRM made it. */
interface Meant {
  earlier: number;
  own: number;
  shared: number;
}

/**
 * The assets behind what customers have: an asset number is a line's own, or goes on from a line to the one that renews
 * it; it stays a line's as long as that is wanted; and who is to hold something of a row of lines is never without.
 */
export class Holdings {
  readonly #crm: CrmNow;
  readonly #services: SimulatedServices;
  /** Lines that are wanted since the last agreement without a break, by the fewest units that they had. */
  readonly #agreed = new Map<string, Agreed>();
  /** Who held something of a row then, and was to have it ever since: `CUSTOMER LOGIN ROW`. */
  #seats = new Set<string>();
  /** Renewals that nobody bought yet and of which nothing was changed since. */
  readonly #meant = new Map<string, Meant>();
  readonly #known = new Set<string>();

  constructor(crm: CrmNow, services: SimulatedServices) {
    this.#crm = crm;
    this.#services = services;
  }

  /** The CRM was changed. */
  changed(): void {
    const wanted = new Map(this.#crm.lines().map((one) => [one.line.id, one]));
    for (const [id, agreed] of this.#agreed) {
      const now = wanted.get(id);
      if (now === undefined || now.order.customer !== agreed.customer) this.#agreed.delete(id);
      else agreed.quantity = Math.min(agreed.quantity, now.line.quantity);
    }
    for (const [id, meant] of this.#meant) {
      const now = wanted.get(id);
      const earlier = wanted.get(now?.line.continues?.line ?? "");
      const isSame = now?.line.continues !== undefined && now.line.quantity === meant.own;
      if (!isSame || (earlier !== undefined && earlier.line.quantity !== meant.earlier)) this.#meant.delete(id);
    }
    for (const { line } of wanted.values()) {
      if (this.#known.has(line.id)) continue;
      this.#known.add(line.id);
      const { continues, quantity: own } = line;
      const earlier = this.#agreed.get(continues?.line ?? "");
      const now = wanted.get(continues?.line ?? "")?.line.quantity ?? earlier?.quantity;
      if (earlier === undefined || now !== earlier.numbers.length) continue;
      this.#meant.set(line.id, { earlier: now, own, shared: Math.min(now, own) });
    }
    this.#seats = this.#seats.intersection(this.#wantedSeats());
  }

  /** Somebody changed the platform by hand: what stood there is no measure any more. */
  forget(): void {
    this.#agreed.clear();
    this.#meant.clear();
    this.#seats.clear();
  }

  /** The platform holds what the CRM says; answers what of its assets is not as it has to be. */
  agreed(): string[] {
    const wrong: string[] = [];
    const assets = shownAssets(this.#services);
    const lines = this.#crm.lines();
    for (const { order, line } of lines) {
      const of = assets.filter((asset) => asset.customer === order.customer && asset.lines.includes(line.id));
      const numbers = of.map(({ number }) => number);
      if (numbers.length !== line.quantity) wrong.push(`${line.id} has ${numbers.length} assets of ${line.quantity}`);
      const before = this.#agreed.get(line.id);
      const kept = numbers.filter((number) => before?.numbers.includes(number)).length;
      if (before !== undefined && kept < Math.min(before.quantity, before.numbers.length))
        wrong.push(`${line.id} had ${before.numbers.join(", ")} and has ${numbers.join(", ")}`);
      const meant = this.#meant.get(line.id);
      const shared = of.filter(({ everOf }) => everOf.includes(line.continues?.line ?? "")).length;
      if (meant !== undefined && shared !== meant.shared)
        wrong.push(`${line.id} has ${shared} assets of ${line.continues?.line ?? ""}, and is to have ${meant.shared}`);
      this.#meant.delete(line.id);
      this.#agreed.set(line.id, { numbers, customer: order.customer, quantity: line.quantity });
    }
    this.#crm.lineage.held(lines.map(({ line }) => line.id));
    this.#seats = this.#wantedSeats();
    return wrong;
  }

  /** What is wrong at any moment, whatever is under way. */
  unexplained(): string[] {
    const { lineage } = this.#crm;
    const wrong: string[] = [];
    const assets = shownAssets(this.#services);
    for (const { number, lines } of assets)
      for (const [index, one] of lines.entries())
        for (const other of lines.slice(index + 1))
          if (!lineage.isOrFollows(one, other) && !lineage.isOrFollows(other, one))
            wrong.push(`${number} is an asset of ${one} and of ${other}, and neither renews the other`);
    const held = new Set(
      assets.flatMap(({ customer, holder, lines }) =>
        holder === null ? [] : lines.map((line) => `${customer} ${holder} ${lineage.root(line)}`),
      ),
    );
    for (const seat of this.#seats.difference(held)) wrong.push(`${seat}: held before and wanted since, and not held`);
    for (const [line, { customer, numbers, quantity }] of this.#agreed) {
      const left = assets.filter(
        (asset) => asset.customer === customer && asset.lines.some((one) => lineage.isOrFollows(one, line)),
      ).length;
      if (left < Math.min(quantity, numbers.length)) wrong.push(`${line} is left with ${left} assets of ${quantity}`);
    }
    return wrong;
  }

  #wantedSeats(): Set<string> {
    const seats = (person: PersonNow): string[] =>
      person.gone
        ? []
        : person.holds
            .filter((claim) => !this.#crm.away.has(claim))
            .map((claim) => `${person.customer} ${loginOf(person)} ${this.#crm.lineage.root(claim)}`);
    return new Set(this.#crm.people.flatMap(seats));
  }
}
