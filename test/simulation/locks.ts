import { z } from "zod";
import { askingForLocks, type LockRequest } from "../../src/requests/locks.ts";
import { askFor, type RequestDesk } from "../../src/requests/requests.ts";
import { exitCodes, Problem } from "../../src/base/errors.ts";
import { success, type Answer } from "../../src/sandbox/answers.ts";
import type { Call, EndpointId } from "../../src/sandbox/endpoints.ts";
import type { Engine } from "./engine.ts";
import type { SimulatedServices } from "./services.ts";
import type { Undone } from "./telling.ts";
import { Draws } from "./timeline.ts";

/** What somebody asks for at once. */
export interface LockWish {
  customer: string;
  numbers: string[];
  wanted: LockRequest["wanted"];
  withdraw: boolean;
}

/** What was asked for of one lock last, as far as the program took it. */
interface Asked {
  customer: string;
  wanted: LockRequest["wanted"];
  /** It was taken back: the lock stays as it was then. */
  withdrawn: boolean;
  /** The program was told that it is done. */
  done: boolean;
}

const body = z.looseObject({ assetNums: z.array(z.string()), operatorIdentity: z.string() });
const results = z.array(z.object({ assetNum: z.string(), status: z.int() }));
const switches: readonly EndpointId[] = ["E6", "E7"];
const failed = 3;

export function textOf({ customer, numbers, wanted, withdraw }: LockWish): string {
  return `${wanted === "locked" ? "lock" : "unlock"} ${customer} ${numbers.join(" ")}${withdraw ? " --withdraw" : ""}`;
}

/** People who have physical locks disabled and enabled and take that back, and services that cannot switch some. */
export class LockPeople {
  readonly #draws: Draws;
  readonly #services: SimulatedServices;
  readonly #asked = new Map<string, Asked>();
  /** By number: how often the program took it, and how often it heard an answer that is no reason to send it again. */
  readonly #taken = new Map<string, number>();
  readonly #answered = new Map<string, number>();
  /** What the program heard since it began, and might have forgotten where it died. */
  readonly #heardNow = new Set<string>();
  /** By number: the status in place of success, and how often. */
  readonly #troubles = new Map<string, { status: number; times: number }>();
  readonly #wrong: (what: string) => void;
  /** What the program was told is done while somebody asks, as `endpoint number`. */
  #toldDone = new Set<string>();

  constructor(seed: number, services: SimulatedServices, wrong: (what: string) => void) {
    this.#draws = new Draws(seed);
    this.#services = services;
    this.#wrong = wrong;
  }

  /** What somebody wants next; undefined where no customer has a lock yet. */
  wish(): LockWish | undefined {
    const draws = this.#draws;
    const locks = this.#locks();
    const customer = draws.pick([...new Set(locks.map((lock) => lock.customer))]);
    if (customer === undefined) return undefined;
    const numbers = locks.flatMap((lock) => (lock.customer === customer && draws.chance(0.6) ? [lock.number] : []));
    const [first] = numbers;
    if (first === undefined) return undefined;
    const wanted = draws.chance(0.6) ? "locked" : "unlocked";
    for (const number of numbers)
      if (draws.chance(0.25))
        this.#troubles.set(number, { status: draws.pick([2, failed, failed, 4]) ?? failed, times: draws.whole(1, 3) });
    const before = this.#asked.get(first);
    if (before !== undefined && !before.withdrawn && draws.chance(0.3))
      return { customer, numbers: [first], wanted: before.wanted, withdraw: true };
    return { customer, numbers, wanted, withdraw: false };
  }

  /** What somebody who looks after them does about one that is not as it was asked to be. */
  again(): LockWish | undefined {
    for (const [number, { customer, wanted }] of this.#leftOver())
      return { customer, numbers: [number], wanted, withdraw: true };
    for (const [number, { customer, wanted }] of this.#notYet())
      return { customer, numbers: [number], wanted, withdraw: this.#draws.chance(0.3) };
    return undefined;
  }

  /** The services switch every lock again. */
  mend(): void {
    this.#troubles.clear();
  }

  /**
   * Has a program carry a wish out. Throws ProgramDied where it dies on the way: then somebody asks once more,
   * `repeated`, and what they ask for may be known already.
   */
  async ask(engine: Engine, desk: RequestDesk, wish: LockWish, repeated: boolean): Promise<string> {
    const { customer, numbers, wanted, withdraw } = wish;
    const request: LockRequest = {
      customer: { namespace: "crm", id: customer },
      numbers,
      wanted,
      withdraw,
      largeCustomer: false,
      reason: "reported stolen",
      by: "tester",
    };
    const options = { signal: new AbortController().signal, show: () => Promise.resolve() };
    // Before the call, for the program may die while it takes it.
    if (!withdraw) for (const number of numbers) this.#mayBeSent(number);
    const before = new Map(numbers.map((number) => [number, this.#isLocked(number)]));
    this.#toldDone = new Set();
    let code: number | string;
    try {
      code = await engine.wait(askFor(desk, askingForLocks(desk, request), options));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      code = error.code;
      const isNone = withdraw && code === "request.nothing-to-withdraw";
      if (isNone) for (const number of numbers) this.#nobodyAsks(number);
      if (!(isNone && repeated)) return code;
    }
    for (const number of numbers) {
      const stays = before.get(number) === true ? "locked" : "unlocked";
      const done = this.#toldDone.has(`${wanted === "locked" ? "E6" : "E7"} ${number}`);
      this.#asked.set(number, { customer, wanted: withdraw ? stays : wanted, withdrawn: withdraw, done });
      if (code === exitCodes.ok && !withdraw && this.#isLocked(number) !== (wanted === "locked"))
        this.#wrong(`${textOf(wish)} ended with 0, and ${number} is not ${wanted}`);
    }
    return `exit ${code}`;
  }

  /** What the services say in place of a success; undefined where they do what is asked. */
  answer(operation: EndpointId, call: Call): Answer | undefined {
    if (!switches.includes(operation)) return undefined;
    const { assetNums, operatorIdentity } = body.parse(call.body);
    const statuses = new Map<string, number>();
    for (const number of assetNums) {
      const trouble = this.#troubles.get(number);
      if (trouble === undefined) continue;
      statuses.set(number, trouble.status);
      trouble.times -= 1;
      if (trouble.times === 0) this.#troubles.delete(number);
    }
    if (statuses.size === 0) return undefined;
    const others = assetNums.filter((number) => !statuses.has(number));
    const done =
      others.length === 0 ? [] : this.#services.byHand(operation, [], { assetNums: others, operatorIdentity }).data;
    return success([...results.parse(done), ...[...statuses].map(([assetNum, status]) => ({ assetNum, status }))]);
  }

  /** An answer that was not lost. */
  heard(operation: EndpointId, answer: Answer): void {
    if (!switches.includes(operation)) return;
    for (const { assetNum, status } of results.parse(answer.data)) {
      if (status === failed) continue;
      this.#answered.set(assetNum, (this.#answered.get(assetNum) ?? 0) + 1);
      this.#heardNow.add(assetNum);
      if (status !== 1) continue;
      this.#toldDone.add(`${operation} ${assetNum}`);
      const asked = this.#asked.get(assetNum);
      if (asked?.wanted === (operation === "E6" ? "locked" : "unlocked")) asked.done = true;
    }
  }

  /** Locks that are not as they were asked to be: the matter of their customer. */
  undone(): Undone[] {
    return [...this.#notYet()].flatMap(([number, { customer, wanted }]) =>
      this.#isLocked(number) === (wanted === "locked")
        ? []
        : [{ stream: "customers", id: customer, customer, why: `${number} is not ${wanted}`, by: "customers" }],
    );
  }

  /**
   * Whether a customer may be told of for its locks: one is not done, or nobody knows that it is, or it is gone and was
   * refused, which is told until it is taken back.
   */
  mayBeTold(customer: string): boolean {
    return [...this.#notYet(), ...this.#leftOver()].some(([, asked]) => asked.customer === customer);
  }

  /** A process begins. */
  begins(): void {
    this.#heardNow.clear();
  }

  /** A process died, perhaps before it had written down what it heard. */
  died(): void {
    for (const number of this.#heardNow) this.#mayBeSent(number);
    this.#heardNow.clear();
  }

  #mayBeSent(number: string): void {
    this.#taken.set(number, (this.#taken.get(number) ?? 0) + 1);
  }

  /**
   * What is wrong at last. Where the program heard an answer and lived on, it has sent a lock once for each time that
   * it was asked for.
   */
  judge(): { lost: string[]; twice: string[] } {
    const lost = this.undone().map(({ why }) => why);
    for (const { number } of this.#locks()) {
      const { wanted = "unlocked", withdrawn = false } = this.#asked.get(number) ?? {};
      if (withdrawn && this.#isLocked(number) !== (wanted === "locked"))
        lost.push(`${number} was left ${wanted} and is not`);
      if (!this.#asked.has(number) && this.#isLocked(number)) lost.push(`nobody asked to have ${number} locked`);
    }
    const twice = [...this.#answered].flatMap(([number, times]) => {
      const taken = this.#taken.get(number) ?? 0;
      return times > taken ? [`the lock ${number} was asked for ${taken} times and switched ${times} times`] : [];
    });
    return { lost, twice };
  }

  /** What was asked for of a lock that is gone from the platform with its asset is nobody's wish any more. */
  *#notYet(): Generator<[string, Asked]> {
    const standing = new Set(this.#locks().map(({ number }) => number));
    for (const [number, asked] of this.#asked)
      if (
        standing.has(number) &&
        !asked.withdrawn &&
        (!asked.done || this.#isLocked(number) !== (asked.wanted === "locked"))
      )
        yield [number, asked];
  }

  /** What was not done before the lock was gone with its asset, and nobody took back. */
  *#leftOver(): Generator<[string, Asked]> {
    const standing = new Set(this.#locks().map(({ number }) => number));
    for (const [number, asked] of this.#asked)
      if (!standing.has(number) && !asked.withdrawn && !asked.done) yield [number, asked];
  }

  /** The program knows of no wish for a lock that is gone. */
  #nobodyAsks(number: string): void {
    const asked = this.#asked.get(number);
    if (asked !== undefined && !this.#locks().some((lock) => lock.number === number)) asked.withdrawn = true;
  }

  #locks(): { number: string; customer: string }[] {
    return this.#services.store
      .prepare<[], { number: string; customer: string }>(
        `SELECT DISTINCT asset_number AS number, channel_customer_id AS customer FROM assets
         JOIN customers ON customers.enterprise_id = assets.enterprise_id AND customers.is_default = 1
         WHERE license_type = 'normal_recover_usbkey' AND removed_by IS NULL ORDER BY assets.id`,
      )
      .all();
  }

  #isLocked(number: string): boolean {
    return (
      this.#services.store
        .prepare<[string], number>("SELECT locked FROM assets WHERE asset_number = ? AND removed_by IS NULL")
        .pluck()
        .get(number) === 1
    );
  }
}
