import type { RecordKey } from "../../crm/model.ts";
import { usable } from "../../operation/state.ts";
import type { EnterpriseFacts, Known } from "../../operation/state.ts";
import type { PlatformCustomer } from "../../platform/snapshot.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import type { Row } from "../tables.ts";

/** What is known of the enterprise of one customer. Reads only. */
export class EnterpriseTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  link(customer: RecordKey): Pick<Known, "link" | "linkUnusable"> {
    const row = this.#statements.link.get(customer.namespace, customer.id);
    if (row === undefined || !usable(row.enterprise_global_id))
      return { link: undefined, linkUnusable: row !== undefined };
    return {
      link: {
        enterpriseGlobalId: row.enterprise_global_id,
        channelCode: row.channel_code,
        channelCustomerId: row.channel_customer_id,
        origin: row.origin,
        examined: row.examined === 1,
        since: row.from_at,
      },
      linkUnusable: false,
    };
  }

  facts(enterprise: string): EnterpriseFacts {
    return {
      platformCustomers: this.platformCustomers(enterprise),
      enterpriseCode: this.code(enterprise),
      protectedMembers: this.#statements.protectedMembers.all(enterprise).map((row) => row.member_global_id),
    };
  }

  platformCustomers(enterprise: string): PlatformCustomer[] {
    return this.#statements.platformCustomers
      .all(enterprise)
      .filter((row) => usable(row.customer_id))
      .map((row) => ({
        customerId: row.customer_id,
        isDefault: row.is_default === 1,
        channelCode: row.channel_code,
        channelCustomerId: row.channel_customer_id,
      }));
  }

  /** What the platform appends to the user names of an enterprise, once it was learned (A29). */
  code(enterprise: string): string | undefined {
    return this.#statements.enterpriseCode.get(enterprise)?.code;
  }
}

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    link: () =>
      database.prepare<
        [string, string],
        Row<"link", "enterprise_global_id" | "channel_code" | "channel_customer_id" | "origin" | "examined" | "from_at">
      >(
        `select enterprise_global_id, channel_code, channel_customer_id, origin, examined, from_at from link
       where namespace = +? and customer_id = +? and to_at is null`,
      ),
    platformCustomers: () =>
      database.prepare<
        [string],
        Row<"platform_customer", "customer_id" | "is_default" | "channel_code" | "channel_customer_id">
      >(
        `select customer_id, is_default, channel_code, channel_customer_id from platform_customer
       where enterprise_global_id = +?
       order by customer_id`,
      ),
    protectedMembers: () =>
      database.prepare<[string], Row<"protected_member", "member_global_id">>(
        "select member_global_id from protected_member where enterprise_global_id = +?",
      ),
    enterpriseCode: () =>
      database.prepare<[string], Row<"enterprise_code", "code">>(
        "select code from enterprise_code where enterprise_global_id = +?",
      ),
  });
}
