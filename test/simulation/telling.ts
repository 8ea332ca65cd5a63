import { streams as allStreams, type Stream } from "../../src/crm/model.ts";
import { openCount } from "../../src/report/open.ts";
import type { RunSummary } from "../../src/engine/run/run.ts";
import type { Company } from "./company.ts";
import type { Engine } from "./engine.ts";
import type { SimulatedServices } from "./services.ts";
import type { Truth } from "./truth.ts";

/** A record that is not done, and why. */
export interface Undone {
  stream: Stream;
  id: string;
  customer: string;
  why: string;
  /** Another stream that says so. */
  by: Stream;
}

/** Compares what the CRM says now with what the platform holds. */
export class Undonenesses {
  readonly #company: Company;
  readonly #truth: Truth;
  readonly #statements;

  constructor(company: Company, truth: Truth, services: SimulatedServices) {
    this.#company = company;
    this.#truth = truth;
    const { store } = services;
    this.#statements = {
      enterprise: store.prepare<[string], { id: number; name: string; branch: string; address: string }>(
        `SELECT enterprise_id AS id, name, branch_name AS branch, address FROM customers
         WHERE is_default = 1 AND channel_customer_id = ?`,
      ),
      placed: store
        .prepare<[string], number>(
          `SELECT 1 FROM license_orders o WHERE channel_order_id = ?
         AND EXISTS (SELECT 1 FROM products WHERE license_order_id = o.id AND removed_by IS NULL)`,
        )
        .pluck(),
      member: store
        .prepare<[number, string], number>(
          "SELECT id FROM staff WHERE enterprise_id = ? AND user_name = ? AND deleted = 0 AND role = 'added'",
        )
        .pluck(),
      held: store.prepare<[string], { customer: string; instance: string }>(
        `SELECT DISTINCT customers.channel_customer_id AS customer,
           substr(products.crm_product_id, 1, instr(products.crm_product_id, '-P') - 1) AS instance
         FROM staff JOIN assets ON assets.holder_id = staff.id JOIN customers ON customers.enterprise_id = staff.enterprise_id
         JOIN products ON products.asset_id = assets.id AND products.merchandise_id IS NULL
         WHERE staff.user_name = ? AND customers.is_default = 1 AND assets.removed_by IS NULL`,
      ),
      heldAt: store.prepare<[string], { login: string; instance: string }>(
        `SELECT DISTINCT staff.user_name AS login,
           substr(products.crm_product_id, 1, instr(products.crm_product_id, '-P') - 1) AS instance
         FROM customers JOIN assets ON assets.enterprise_id = customers.enterprise_id JOIN staff ON staff.id = assets.holder_id
         JOIN products ON products.asset_id = assets.id AND products.merchandise_id IS NULL
         WHERE customers.channel_customer_id = ? AND customers.is_default = 1 AND assets.removed_by IS NULL`,
      ),
    };
  }

  /**
   * Whether anybody holds something at a customer that the CRM does not give them there, also somebody who is gone from
   * the CRM.
   */
  stillHeldAt(customer: string): boolean {
    return this.#statements.heldAt
      .all(customer)
      .some(
        ({ login, instance }) =>
          !this.#company.staff.some(
            (person) =>
              !person.gone && person.customer === customer && person.login === login && person.holds.includes(instance),
          ),
      );
  }

  /** Who holds an asset of a customer now, by login. */
  holderOf(customer: string, instance: string): string | undefined {
    return this.#statements.heldAt.all(customer).find((row) => row.instance === instance)?.login;
  }

  all(): Undone[] {
    const found: Undone[] = [];
    const note = (stream: Stream, id: string, customer: string, why: string | undefined, by = stream): void => {
      if (why !== undefined) found.push({ stream, id, customer, why, by });
    };
    for (const { id, name, branch, address } of this.#company.customers) {
      const row = this.#statements.enterprise.get(id);
      const isSame = row?.name === name && row.branch === branch && row.address === (address ?? "");
      note(
        "customers",
        id,
        id,
        row === undefined ? "it has no enterprise" : isSame ? undefined : "its enterprise differs",
      );
    }
    for (const { id, customer, cancelled } of this.#company.orders) {
      const isPlaced = this.#statements.placed.get(id) !== undefined;
      note(
        "orders",
        id,
        customer,
        isPlaced === !cancelled ? undefined : isPlaced ? "it is cancelled" : "it is not placed",
      );
    }
    for (const person of this.#company.staff.filter((item) => !item.gone)) {
      note("staff", person.id, person.customer, this.#ofPerson(person));
      for (const row of this.#statements.held.all(person.login)) {
        if (row.customer === person.customer) continue;
        const why = `${row.instance} is still held by ${person.id}`;
        // What somebody who moved still holds elsewhere is the matter of the customer there, once it could be read that
        // they moved.
        if (this.#canBeReadToHaveLeft(person.id, row.customer))
          note("customers", row.customer, row.customer, why, "staff");
        else note("staff", person.id, row.customer, why);
      }
    }
    return found;
  }

  /**
   * Not where the record cannot be read since before the move: as far as anybody can tell, the person is still there.
   */
  #canBeReadToHaveLeft(id: string, customer: string): boolean {
    return !this.#company.broken.has(`staff ${id}`) || this.#truth.lastCustomer("staff", id) !== customer;
  }

  #ofPerson({ customer, login, holds }: { customer: string; login: string; holds: string[] }): string | undefined {
    const enterprise = this.#statements.enterprise.get(customer)?.id ?? -1;
    if (this.#statements.member.get(enterprise, login) === undefined) return "the person is not there";
    const held = this.#statements.held
      .all(login)
      .filter((row) => row.customer === customer)
      .map((row) => row.instance);
    const lacks = holds.filter((item) => !held.includes(item));
    const extra = held.filter((item) => !holds.includes(item));
    if (lacks.length > 0) return `${lacks.join()} is not held`;
    return extra.length > 0 ? `${extra.join()} is still held` : undefined;
  }
}

/** What a run that has ended did not tell of, and what it told of although it is done. */
export async function judgeTelling(options: {
  engine: Engine;
  summary: RunSummary;
  streams: readonly Stream[];
  /** The run was asked for one customer only: it leaves the others to the next one, and says so in the status alone. */
  scoped: boolean;
  /** Nothing was lost in this run, so that it knows what is done. */
  undisturbed: boolean;
  truth: Truth;
  company: Company;
  undone: readonly Undone[];
  /** Whether anything is to be taken away at a customer, from whomever. */
  stillHeldAt: (customer: string) => boolean;
  /** Whether nobody knows that everything that people asked for at a customer is done. */
  isAskedAt: (customer: string) => boolean;
}): Promise<string[]> {
  const { engine, summary, streams, truth, company } = options;
  const { ledger } = engine;
  const silent: string[] = [];
  const half = streams.filter((stream) => truth.wasHalf(stream));
  const isHalf = allStreams.some((stream) => truth.mayBeHalf(stream));
  const undone = options.undone.filter(({ stream, by }) => truth.isKnown(stream) && truth.isKnown(by));
  const own = undone.filter(({ stream }) => streams.includes(stream));
  if (summary.exitCode === 0 && half.length > 0) silent.push(`exit 0, and ${half.join()} was not read whole`);
  if (summary.exitCode === 0 && own.length > 0 && !options.scoped)
    silent.push(`exit 0, and not done is ${own.map((item) => `${item.stream} ${item.id} (${item.why})`).join("; ")}`);
  const groups = await ledger.records.open();
  const holds = (await ledger.decisions.questions()).map((hold) => hold.customer.id);
  // What is in doubt keeps everything else of its customer waiting; the status and an alert name it.
  const inDoubt = new Map((await ledger.journal.open()).map((row) => [row.operation.customer.id, row.id]));
  const alerts = [...(await ledger.schedule.alerts())].filter(([, alert]) => alert.sent);
  const waits = options.scoped || groups.some((group) => group.nextRun);
  for (const { stream, id, customer, why } of undone) {
    const record = `crm/${id}`;
    const mine = groups.filter(
      (group) =>
        group.stream === stream &&
        group.counts &&
        (group.count > group.examples.length || group.examples.some((example) => example.record === record)),
    );
    const isHeld = holds.includes(customer);
    const doubt = inDoubt.get(customer);
    if (mine.length === 0 && !isHeld && doubt === undefined && !waits)
      silent.push(`${stream} ${id} (${why}) is not in the status`);
    const isTold = alerts.some(
      ([key]) =>
        (isHeld && key.startsWith("hold:")) ||
        key === `unknown:${doubt}` ||
        mine.some(
          (group) =>
            key.startsWith(
              `${group.standing === "quarantined" ? "quarantine" : group.standing}:${stream}:${group.code}`,
            ) ||
            (group.cause === "operation.open" && key.startsWith("unknown:")) ||
            (group.cause.startsWith("service.") && /^(?:service-down|breaker):/u.test(key)),
        ),
    );
    if (!isTold && !waits) silent.push(`${stream} ${id} (${why}) has no alert`);
  }
  if (options.undisturbed) {
    // What the platform did not show, such as an operation in doubt, may be done all the same.
    for (const group of groups.filter(
      (item) => item.counts && item.owner !== "platform" && item.cause !== "settle-time" && truth.isKnown(item.stream),
    ))
      for (const { record } of group.examples) {
        const id = record.slice(record.indexOf("/") + 1);
        const isOpen =
          options.undone.some((item) => item.stream === group.stream && item.id === id) ||
          // The customer answers for what somebody holds there who is no person of it any more, wherever they went
          // since.
          (group.stream === "customers" && group.code === "revokes.blocked" && options.stillHeldAt(id)) ||
          (group.stream === "customers" && options.isAskedAt(id)) ||
          // A customer that cannot be worked on: nobody has looked yet whether a person who was there already has all.
          (group.stream === "staff" &&
            group.code === "customer.blocked" &&
            (company.broken.has(`customers ${company.staff.find((person) => person.id === id)?.customer}`) ||
              (await ledger.state.read((rows) => rows.staff.accountOf({ namespace: "crm", id }))) === undefined));
        if (!isOpen && !company.broken.has(`${group.stream} ${id}`) && isThere(company, group.stream, id))
          silent.push(`${group.stream} ${id} is done and told of: ${group.code}`);
      }
    if (openCount(groups) === 0 && holds.length === 0 && summary.openOperations === 0 && !isHalf) {
      // The clock was set back: until it has caught up the ledger holds entries of the future, and that is told.
      const isClock = summary.exitCode === 3 && summary.clock !== undefined;
      if (summary.exitCode !== 0 && !isClock) silent.push(`exit ${summary.exitCode}, and nothing is open`);
      // What the last run of another job came to stands until that job runs again.
      const standing = alerts
        .map(([key]) => key)
        .filter((key) => !isClock || !key.startsWith("clock:"))
        .filter((key) => !/^(?:run-failed|service-down|clock):/u.test(key) || key.endsWith(`:${summary.job}`));
      if (standing.length > 0) silent.push(`alerts stand, and nothing is open: ${standing.join()}`);
    }
  }
  return silent;
}

function isThere(company: Company, stream: Stream, id: string): boolean {
  return company.records(stream).some((row) => row.id === id);
}
