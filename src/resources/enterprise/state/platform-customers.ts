import type { Writes } from "../../../engine/model/resource.ts";
import { oneByOne, compareBytes } from "../../../engine/model/state-part.ts";
import type { LinkedEnterprise } from "../../../engine/model/state-part.ts";
import type { Sqlite } from "../../../ledger/database/database.ts";
import { statements } from "../../../ledger/database/statements.ts";
import { table } from "../../../ledger/database/table.ts";
import type { PlatformCustomer } from "../../../platform/snapshot.ts";

type PlatformCustomersChanges = { [One in PlatformCustomersChange as One["type"]]: One };
declare module "../../../engine/model/resource.ts" {
  interface ChangeShapes extends PlatformCustomersChanges {}
  interface ResourceTables {
    platform_customer: PlatformCustomerTable;
  }
}
declare module "../../../engine/model/state.ts" {
  interface Known extends KnownPlatformCustomers {}
}

export interface KnownPlatformCustomers {
  platformCustomers: PlatformCustomer[];
}

export interface PlatformCustomersChange {
  type: "platform-customers";
  enterpriseGlobalId: string;
  customers: PlatformCustomer[];
}

const platformCustomers = oneByOne<LinkedEnterprise & KnownPlatformCustomers, PlatformCustomersChange>(
  (known, { enterpriseGlobalId, customers }) => {
    if (known.link?.enterpriseGlobalId !== enterpriseGlobalId) return known;
    return { ...known, platformCustomers: merged(known.platformCustomers, customers) };
  },
);

export const platformCustomersParts = { "platform-customers": platformCustomers };

function merged(before: readonly PlatformCustomer[], shown: readonly PlatformCustomer[]): PlatformCustomer[] {
  const all = new Map([...before, ...shown].map((item) => [item.customerId, item]));
  return [...all.values()].toSorted((one, other) => compareBytes(one.customerId, other.customerId));
}

export interface PlatformCustomerTable {
  enterprise_global_id: string;
  customer_id: string;
  is_default: number;
  channel_code: string;
  channel_customer_id: string;
  seen_at: string;
}

export const platformCustomerTables = { platform_customer: table<PlatformCustomerTable>() };

/** The customers of each enterprise, as E3 showed them. */
export class PlatformCustomerRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  known(enterprise: string): KnownPlatformCustomers {
    const platformCustomers = this.#statements.of.all(enterprise).map((row) => ({
      customerId: row.customer_id,
      isDefault: row.is_default === 1,
      channelCode: row.channel_code,
      channelCustomerId: row.channel_customer_id,
    }));
    return { platformCustomers };
  }

  readonly writes = {
    "platform-customers": ({ enterpriseGlobalId, customers }, at) => {
      for (const { customerId, isDefault, channelCode, channelCustomerId } of customers)
        this.#statements.keep.run(
          enterpriseGlobalId,
          customerId,
          isDefault ? 1 : 0,
          channelCode,
          channelCustomerId,
          at,
        );
    },
  } satisfies Writes;
}

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    of: () =>
      database.prepare<
        [string],
        Pick<PlatformCustomerTable, "customer_id" | "is_default" | "channel_code" | "channel_customer_id">
      >(
        `select customer_id, is_default, channel_code, channel_customer_id from platform_customer
       where enterprise_global_id = +?
       order by customer_id`,
      ),
    keep: () =>
      database.prepare(
        `insert into platform_customer (enterprise_global_id, customer_id, is_default, channel_code,
         channel_customer_id, seen_at)
       values (?, ?, ?, ?, ?, ?) on conflict (enterprise_global_id, customer_id) do update
         set is_default = excluded.is_default,
         channel_code = excluded.channel_code, channel_customer_id = excluded.channel_customer_id,
         seen_at = excluded.seen_at`,
      ),
  });
}
