import { z } from "zod";
import { failure, type Answer, rowOf } from "../../src/sandbox/answers.ts";
import type { Call, EndpointId } from "../../src/sandbox/endpoints.ts";
import { unsellableProduct, type Company } from "./company.ts";
import type { SimulatedServices } from "./services.ts";

const order = z.looseObject({ channelOrderId: z.string() });
const people = z.looseObject({
  userList: z.array(z.looseObject({ userName: z.string(), passwordMobile: z.string().optional() })),
});

/** One thing that a call asks for, and the record that it is asked for. */
interface Asked {
  what: string;
  record: string;
  customer: string;
}

/**
 * Rejections that last: what a service refused is not to be sent again before its record changed or a person asked for
 * it.
 */
export class Refusals {
  readonly #company: Company;
  readonly #services: SimulatedServices;
  /** What the program was told of in the run that is on. */
  #heard: Asked[] = [];
  /** What it knows to be refused, and how the record stood then. */
  readonly #standing = new Map<string, { asked: Asked; revision: string }>();
  readonly #sentAgain: (what: string) => void;

  constructor(company: Company, services: SimulatedServices, sentAgain: (what: string) => void) {
    this.#company = company;
    this.#services = services;
    this.#sentAgain = sentAgain;
  }

  /** What the services refuse, but for what the sandbox refuses by itself. */
  answer(operation: EndpointId, call: Call): Answer | undefined {
    if (operation === "E5" && call.text.includes(unsellableProduct))
      return failure("13004", "orders[0].productUri: no such product");
    const login = operation === "M9" ? this.#loginOf(call) : undefined;
    if (login !== undefined && this.#company.doubled.has(login))
      return failure("60023", "the account matches several staff members");
    return undefined;
  }

  /** A refusal whose answer was not lost. People who were refused together are not at fault yet. */
  heard(operation: EndpointId, call: Call, code: string): void {
    if (!["10004", "13004", "60023"].includes(code)) return;
    const asked = this.#askedBy(operation, call);
    if (asked.length === 1) this.#heard.push(...asked);
  }

  /** A call leaves the program. */
  leaves(operation: EndpointId, call: Pick<Call, "parameters" | "body">): void {
    for (const { what } of this.#askedBy(operation, call)) {
      const known = this.#standing.get(what);
      if (known !== undefined && known.revision === this.#revisionOf(known.asked)) this.#sentAgain(what);
    }
  }

  /**
   * A run has ended well and has read all records as they stand: it knows what it was told, and for what. One that was
   * killed may have to find out again.
   */
  runEnded(well: boolean): void {
    if (well)
      for (const asked of this.#heard) this.#standing.set(asked.what, { asked, revision: this.#revisionOf(asked) });
    this.#heard = [];
  }

  /** A person wants what was refused of a customer tried once more. */
  askedFor(customer: string): void {
    for (const [what, { asked }] of this.#standing) if (asked.customer === customer) this.#standing.delete(what);
  }

  #revisionOf({ record, customer }: Asked): string {
    return `${this.#company.revision(record)} ${this.#company.revision(`customers ${customer}`)}`;
  }

  #askedBy(operation: EndpointId, call: Pick<Call, "parameters" | "body">): Asked[] {
    if (operation === "E5") {
      const { data } = order.safeParse(call.body);
      const found = this.#company.orders.find((item) => item.id === data?.channelOrderId);
      if (found === undefined) return [];
      const what = `E5 ${found.id} ${JSON.stringify(call.body).includes(unsellableProduct) ? unsellableProduct : ""}`;
      return [{ what, record: `orders ${found.id}`, customer: found.customer }];
    }
    if (operation === "M1") {
      const { data } = people.safeParse(call.body);
      return (data?.userList ?? []).flatMap(({ userName, passwordMobile }) =>
        this.#askedFor("M1", userName, `${call.parameters[0] ?? ""} ${passwordMobile ?? ""}`),
      );
    }
    const login = operation === "M9" ? this.#loginOf(call) : undefined;
    return login === undefined ? [] : this.#askedFor("M9", login, JSON.stringify(call.body));
  }

  #askedFor(endpoint: string, login: string, more: string): Asked[] {
    const person = this.#company.staff.find((item) => item.login === login);
    if (person === undefined) return [];
    return [{ what: `${endpoint} ${login} ${more}`, record: `staff ${person.id}`, customer: person.customer }];
  }

  #loginOf(call: Pick<Call, "parameters">): string | undefined {
    return this.#services.store
      .prepare<[number], string>("SELECT user_name FROM staff WHERE id = ?")
      .pluck()
      .get(rowOf("member", call.parameters[0] ?? "") ?? -1);
  }
}
