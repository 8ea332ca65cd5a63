import { policySettingsSchema } from "../../src/engine/model/policy-settings.ts";
import { limitsSettingsSchema, type LimitsSettings } from "../../src/engine/run/run-settings.ts";
import type { Configuration } from "../simulation/engine.ts";
import type { Draws } from "../simulation/timeline.ts";
import type { Road } from "./crm-source.ts";
import { newOrder, newPerson } from "./edits.ts";
import type { CrmNow, CustomerNow, OrderNow, PersonNow } from "./model.ts";

const moves = [
  "away",
  "in part",
  "undo",
  "service down",
  "settings",
  "pause",
  "misread",
  "stale marker",
  "lost table",
  "capped list",
  "renamed source",
  "wrong clock",
] as const;
/** What happens in a history beside edits of the CRM, runs and kills. */
export type Move = (typeof moves)[number];

/** Every second history has one of the moves, or all of them. */
export function movesOf(seed: number): ReadonlySet<Move> {
  if (seed % 2 === 0) return new Set();
  const one = moves[((seed - 1) / 2) % (moves.length + 1)];
  return new Set(one === undefined ? moves : [one]);
}

/** How the CRM of a history is read. */
export function roadOf(chosen: ReadonlySet<Move>, seed: number): Road {
  const roads: Road[] = [];
  if (chosen.has("stale marker") || chosen.has("lost table")) roads.push("files");
  if (chosen.has("capped list")) roads.push("lists");
  return roads[Math.floor(seed / 2 / (moves.length + 1)) % roads.length] ?? "memory";
}

/** When records count as gone: where the clock may be wrong, no read alone says so. */
export function limitsOf(chosen: ReadonlySet<Move>, more: object = {}): LimitsSettings {
  const absenceTime = chosen.has("wrong clock") ? "24h" : "0s";
  return limitsSettingsSchema.parse({ absenceReads: 1, absenceTime, ...more });
}

export const hour = 3_600_000;
/** How far a wrong clock is ahead, in hours. */
export const clockJumps = [1, 26, 40 * 24, 4 * 8_766, 10 * 8_766, -1, -26, -40 * 24, -8_766] as const;

/** Edits that make a company large enough to lose something, and those after which it does. */
export const growing = [
  "a new order",
  "a new line",
  "more units",
  "a new product",
  "a new person",
  "a seat given",
] as const;
export const shrinking = [
  "a cancelled order",
  "a restored order",
  "an ended line",
  "an ended product",
  "fewer units",
  "other nodes",
  "an order moves",
  "a seat taken back",
  "a person leaves",
] as const;

const removing = ["ended", "cancelled", "deleted", "replaced", "assetChanged", "moved"] as const;

/** Every removal waits for a person. */
export const askingAlways = policySettingsSchema.parse({
  orders: Object.fromEntries(removing.map((name) => [name, "ask"])),
  assignments: { revoked: "ask" },
});

/** Other policies and limits. */
export function otherSettings(
  draws: Draws,
  chosen: ReadonlySet<Move>,
): Required<Pick<Configuration, "policies" | "limits">> {
  const word = (): string => draws.pick(["ask", "apply", "apply-after-approvals"]) ?? "ask";
  const limit = (...floors: number[]) => ({ floor: draws.pick(floors) ?? 0, share: 0 });
  return {
    policies: policySettingsSchema.parse({
      orders: Object.fromEntries(removing.map((name) => [name, word()])),
      assignments: { revoked: word() },
      approvalsNeeded: draws.whole(1, 3),
    }),
    limits: limitsOf(chosen, {
      removals: { enterprise: limit(0, 1, 5), run: limit(0, 1, 20), day: limit(1, 40), week: limit(2, 100) },
      absenceReads: draws.whole(1, 2),
    }),
  };
}

/** Records that the CRM gives no more for a while, and then gives as they were. */
export class Away {
  readonly #crm: CrmNow;
  #back: (() => string)[] = [];
  #customers: string[] = [];

  constructor(crm: CrmNow) {
    this.#crm = crm;
  }

  get isAnythingAway(): boolean {
    return this.#back.length > 0;
  }

  /** Something is gone from the CRM; answers what. */
  leave(draws: Draws): string | undefined {
    const crm = this.#crm;
    const orders = crm.orders.filter((order) => !order.cancelled && isPlain(crm, order));
    const people = crm.people.filter((person) => !person.gone);
    const customer = draws.pick(crm.customers.filter(({ gone }) => !gone));
    switch (draws.whole(0, 3)) {
      case 0:
        return this.#orders(draws.pick(orders));
      case 1:
        return this.#person(draws.pick(people));
      case 2:
        return this.#customer(customer);
      default: {
        const own = crm.orders.filter((order) => order.customer === customer?.id);
        if (customer === undefined || !own.every((order) => isPlain(crm, order))) return undefined;
        const whole = people.filter((person) => person.customer === customer.id);
        for (const person of whole) this.#person(person);
        return `all of it: ${[this.#customer(customer), this.#orders(...own), ...whole.map(({ id }) => id)].join(" ")}`;
      }
    }
  }

  /** An order or a person arrives whose customer is away; answers which. */
  arrive(draws: Draws): string | undefined {
    const customer = draws.pick(this.#customers);
    if (customer === undefined) return undefined;
    const id = draws.chance(0.5) ? newOrder(this.#crm, draws, customer).id : newPerson(this.#crm, draws, customer);
    return `${id} of ${customer}`;
  }

  /** Everything is back as it was; answers what. */
  comeBack(): string {
    const back = this.#back.map((one) => one());
    [this.#back, this.#customers] = [[], []];
    return back.join(" ");
  }

  #orders(...orders: (OrderNow | undefined)[]): string | undefined {
    const { orders: all, away, lineage } = this.#crm;
    const found = orders.filter((order) => order !== undefined);
    for (const order of found) {
      all.splice(all.indexOf(order), 1);
      const lines = order.lines.map(({ id }) => id);
      for (const line of lines) away.add(line);
      this.#back.push(() => {
        all.push(order);
        for (const line of lines) away.delete(line);
        lineage.anew(lines);
        return order.id;
      });
    }
    return found.length === 0 ? undefined : found.map(({ id }) => id).join(" ");
  }

  #person(person: PersonNow | undefined): string | undefined {
    const { people } = this.#crm;
    if (person === undefined) return undefined;
    people.splice(people.indexOf(person), 1);
    this.#back.push(() => {
      people.push(person);
      return person.id;
    });
    return person.id;
  }

  #customer(customer: CustomerNow | undefined): string | undefined {
    const { customers } = this.#crm;
    if (customer === undefined) return undefined;
    customers.splice(customers.indexOf(customer), 1);
    this.#customers.push(customer.id);
    this.#back.push(() => {
      customers.push(customer);
      return customer.id;
    });
    return customer.id;
  }
}

/** Whether an order renews nothing, and nothing renews it. */
function isPlain(crm: CrmNow, { lines }: OrderNow): boolean {
  const continued = crm.orders.flatMap((order) => order.lines.map((line) => line.continues?.line));
  return lines.every(({ id, continues }) => continues === undefined && !continued.includes(id));
}
