import type { RecordKey } from "../../crm/model.ts";
import { withTree } from "../../engine/model/desired.ts";
import type { Desired, DesiredCustomer, DesiredStaff, OrderWithTree } from "../../engine/model/desired.ts";
import type { CustomerInput } from "../../engine/plan/input.ts";
import type { Known } from "../../engine/model/state.ts";
import { desired, nothingInQuarantine } from "./desired.ts";
import type { Held } from "./held.ts";
import { knownFrom } from "./registry.ts";
import type { StateRows } from "./registry.ts";

/** What one customer is planned from: what the CRM says, what we did, and the private values behind it. Reads only. */
export class KnownTables {
  readonly #rows: StateRows;

  constructor(rows: StateRows) {
    this.#rows = rows;
  }

  /** Everything the ledger holds about one customer, without what the platform shows. */
  load(customer: RecordKey, held: Held): Omit<CustomerInput, "observed" | "rejections"> {
    let desiredCustomer: Desired<DesiredCustomer> | undefined;
    const orders: OrderWithTree[] = [];
    const staff: Desired<DesiredStaff>[] = [];
    for (const row of this.#rows.desired.of(customer)) {
      if (row.stream === "customers") desiredCustomer = desired<DesiredCustomer>(row);
      else if (row.stream === "orders") orders.push(withTree(desired(row)));
      else staff.push(desired<DesiredStaff>(row));
    }
    const privateValues = staff.length === 0 ? new Map<string, string>() : this.#rows.private.ofCustomer(customer);
    const known = this.#here(customer, this.known(customer, held), held);
    const given = { customer, orders, staff, known, privateValues, held };
    const own: Omit<CustomerInput, "observed" | "rejections"> = {
      customer,
      desiredCustomer,
      orders,
      staff,
      known,
      privateValues,
      ...(held.rebuilt === 1 ? { rebuilt: true as const } : {}),
      ...(held.unread === 1 ? { unread: true as const } : {}),
      ...(held.quarantined === 1 ? this.#rows.desired.quarantine(customer) : nothingInQuarantine),
    };
    return this.#rows.all.reduce((before, { gather }) => ({ ...before, ...gather?.(given) }), own);
  }

  /** Without what is recorded of an enterprise that the customer was linked with before. */
  #here(customer: RecordKey, known: Known, held: Held): Known {
    if (known.link === undefined) return known;
    return this.#rows.all.reduce((here, { ofLink }) => ({ ...here, ...ofLink?.(known, customer, held) }), known);
  }

  known(customer: RecordKey, held = this.held(customer)): Known {
    return knownFrom(this.#rows, customer, held);
  }

  held(customer: RecordKey): Held {
    return this.#rows.held.of(customer);
  }
}
