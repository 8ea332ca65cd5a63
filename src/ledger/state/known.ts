import { formatKey } from "../../crm/keys.ts";
import type { LicenseType, RecordKey } from "../../crm/model.ts";
import { withTree } from "../../operation/desired.ts";
import type { Desired, DesiredCustomer, DesiredOrder, DesiredStaff, OrderWithTree } from "../../operation/desired.ts";
import type { Known } from "../../operation/state.ts";
import type { EnterpriseFacts } from "../../operation/state/part.ts";
import type { PlacedOrder } from "../../operation/state/placed-orders.ts";
import type { CustomerInput } from "../../plan/input.ts";
import type { PrivateTables } from "../private/private-tables.ts";
import { desired } from "./desired.ts";
import type { DesiredRows } from "./desired.ts";
import { nothingInQuarantine } from "./desired.ts";
import type { Held } from "./held.ts";
import { knownFrom } from "./registry.ts";
import type { StateRows } from "./registry.ts";

/** What one customer is planned from: what the CRM says, what we did, and the private values behind it. Reads only. */
export class KnownTables {
  readonly #rows: StateRows;
  readonly #desired: DesiredRows;
  readonly #private: PrivateTables;

  constructor(tables: { rows: StateRows; desired: DesiredRows; private: PrivateTables }) {
    this.#rows = tables.rows;
    this.#desired = tables.desired;
    this.#private = tables.private;
  }

  /**
   * Everything the ledger holds about one customer, without what the platform shows. Bodies of placed, unchanged orders
   * are left out.
   */
  load(customer: RecordKey, held: Held): Omit<CustomerInput, "observed" | "rejections"> {
    let desiredCustomer: Desired<DesiredCustomer> | undefined;
    const orders: OrderWithTree[] = [];
    const staff: Desired<DesiredStaff>[] = [];
    for (const row of this.#desired.of(customer)) {
      if (row.stream === "customers") desiredCustomer = desired<DesiredCustomer>(row);
      else if (row.stream === "orders") orders.push(withTree(desired<DesiredOrder>(row)));
      else staff.push(desired<DesiredStaff>(row));
    }
    return {
      customer,
      desiredCustomer,
      orders,
      staff,
      known: this.#withPlacedBodies(this.known(customer, held), orders),
      privateValues: staff.length === 0 ? new Map() : this.#private.ofCustomer(customer),
      ...(held.quarantined === 1 ? this.#desired.quarantine(customer) : nothingInQuarantine),
    };
  }

  /**
   * An order that the CRM has changed since it was placed comes with its form of then, so that what changed can be
   * told.
   */
  #withPlacedBodies(known: Known, orders: readonly Desired<DesiredOrder>[]): Known {
    const changed = new Map<string, PlacedOrder>();
    for (const { key, bodyHash } of orders) {
      const placed = known.placedOrders.get(formatKey(key));
      if (placed === undefined || placed.bodyHash === bodyHash) continue;
      const body = this.#desired.orderVersion(key, placed.version);
      if (body !== undefined) changed.set(formatKey(key), { ...placed, body });
    }
    return changed.size === 0 ? known : { ...known, placedOrders: new Map([...known.placedOrders, ...changed]) };
  }

  known(customer: RecordKey, held = this.held(customer)): Known {
    return knownFrom(this.#rows, customer, held);
  }

  held(customer: RecordKey): Held {
    return this.#rows.held.of(customer);
  }

  /** The licence type of each asset number of the orders that are placed for a customer, also of adopted ones. */
  licenceTypes(customer: RecordKey): Map<string, LicenseType> {
    const { placedOrders, numbers } = this.known(customer);
    const types = new Map<string, LicenseType>();
    for (const { key, version } of placedOrders.values()) {
      for (const instance of this.#desired.orderVersion(key, version)?.instances ?? []) {
        if (instance.kind !== "asset") continue;
        for (const number of instance.assetNumbers) types.set(number, instance.licenseType);
        for (const item of numbers)
          if (item.instanceId === instance.id && item.orderId === key.id && item.namespace === key.namespace)
            types.set(item.number, instance.licenseType);
      }
    }
    return types;
  }

  /** What is known of an enterprise, whoever is linked with it. */
  enterpriseFacts(enterpriseGlobalId: string): EnterpriseFacts {
    const rows = this.#rows;
    return {
      ...rows.platformCustomers.known(enterpriseGlobalId),
      ...rows.enterpriseCodes.known(enterpriseGlobalId),
      protectedMembers: rows.protectedMembers.of(enterpriseGlobalId),
    };
  }
}
