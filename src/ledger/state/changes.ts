import { canonicalJson, sha256 } from "../../base/canonical-json.ts";
import type { StateChange } from "../../operation/state.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import { LockTables } from "./locks.ts";

/** Applies changes to the tables of what is known and observed. Runs inside the writer's transaction. */
export class ChangeTables {
  readonly #statements;
  readonly #locks: LockTables;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
    this.#locks = new LockTables(database);
  }

  /** In one piece: a case for each kind of change. */
  apply(change: StateChange, at: string): void {
    const run = this.#statements;
    switch (change.type) {
      case "linked": {
        const { namespace, id } = change.customer;
        run.endLink.run(at, namespace, id);
        const link = change.link;
        run.link.run(
          namespace,
          id,
          at,
          link.enterpriseGlobalId,
          link.channelCode,
          link.channelCustomerId,
          link.origin,
          link.examined ? 1 : 0,
        );
        return;
      }
      case "examined":
        run.examined.run(change.customer.namespace, change.customer.id);
        return;
      case "platform-customers":
        for (const item of change.customers) {
          run.platformCustomer.run(
            change.enterpriseGlobalId,
            item.customerId,
            item.isDefault ? 1 : 0,
            item.channelCode,
            item.channelCustomerId,
            at,
          );
        }
        return;
      case "acknowledged":
        run.endAcknowledged.run(at, change.customer.namespace, change.customer.id);
        run.acknowledged.run(change.customer.namespace, change.customer.id, at, JSON.stringify(change.fields));
        return;
      case "members-protected":
        for (const member of change.memberGlobalIds)
          run.protect.run(member, change.enterpriseGlobalId, change.reason, at);
        return;
      case "order-placed":
        run.placedOrder.run(
          change.order.namespace,
          change.order.id,
          at,
          change.customer.namespace,
          change.customer.id,
          change.channelOrderId,
          change.bodyHash,
          change.version,
          change.operationId,
          change.origin,
        );
        for (const item of change.licenceOrders) {
          run.licenceOrder.run(
            change.order.namespace,
            change.order.id,
            item.sequence,
            item.licenseType,
            item.platformCustomerId,
            item.licenseOrderId,
            at,
          );
        }
        return;
      case "numbers-taken":
        for (const number of change.numbers) run.numberTaken.run(number, change.operationId, at);
        return;
      case "staff-linked":
        run.endStaffLink.run(at, change.staff.namespace, change.staff.id);
        run.staffLink.run(
          change.staff.namespace,
          change.staff.id,
          at,
          change.customer.namespace,
          change.customer.id,
          change.enterpriseGlobalId,
          change.memberGlobalId,
          change.origin,
          JSON.stringify(change.profile),
        );
        return;
      case "licence-types-shown":
        for (const type of change.types) run.typeShown.run(type, at);
        return;
      case "enterprise-code":
        run.enterpriseCode.run(change.enterpriseGlobalId, change.code, at);
        return;
      case "asset-granted":
        run.endAssignment.run(at, change.operationId, change.assetNumber);
        run.assignment.run(
          change.assetNumber,
          at,
          change.staff.namespace,
          change.staff.id,
          change.customer.namespace,
          change.customer.id,
          change.memberGlobalId,
          change.origin,
          change.operationId,
        );
        return;
      case "asset-revoked":
        run.endAssignment.run(at, change.operationId, change.assetNumber);
        return;
      case "observed":
        this.#observe(change, at);
        return;
      case "observed-gone": {
        run.observedGone.run(
          at,
          change.customer.namespace,
          change.customer.id,
          change.kind,
          JSON.stringify(change.subjects),
        );
        return;
      }
      case "observation-read":
        run.observationRead.run(change.customer.namespace, change.customer.id, at, change.complete ? 1 : 0);
        return;
      case "lock-asked":
        this.#locks.asked(change, at);
        return;
      case "lock-answered":
        this.#locks.answered(change, at);
        return;
      case "lock-withdrawn":
        this.#locks.withdrawn(change, at);
        return;
      case "secrets-wiped":
        run.wipe.run(at, change.ref, change.version);
        return;
    }
  }

  #observe(change: Extract<StateChange, { type: "observed" }>, at: string): void {
    const { namespace, id } = change.customer;
    const body = canonicalJson(change.body);
    const hash = sha256(body);
    const seen = this.#statements.seenAgain.run(at, namespace, id, change.kind, change.subject, hash);
    if (seen.changes === 1) return;
    this.#statements.endObservation.run(at, namespace, id, change.kind, change.subject);
    this.#statements.observation.run(namespace, id, change.kind, change.subject, at, at, body, hash);
  }
}

/** What a change of state writes. In one piece: a table of statements. */
function prepareStatements(database: Sqlite) {
  return statements.onUse({
    endLink: () =>
      database.prepare("update link set to_at = ? where namespace = +? and customer_id = +? and to_at is null"),
    link: () =>
      database.prepare(
        `insert into link (namespace, customer_id, from_at, enterprise_global_id, channel_code, channel_customer_id,
         origin, examined)
       values (?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (namespace, customer_id, from_at) do update
         set to_at = null, enterprise_global_id = excluded.enterprise_global_id,
         channel_code = excluded.channel_code, channel_customer_id = excluded.channel_customer_id,
         origin = excluded.origin, examined = excluded.examined`,
      ),
    examined: () =>
      database.prepare("update link set examined = 1 where namespace = +? and customer_id = +? and to_at is null"),
    platformCustomer: () =>
      database.prepare(
        `insert into platform_customer (enterprise_global_id, customer_id, is_default, channel_code,
         channel_customer_id, seen_at)
       values (?, ?, ?, ?, ?, ?) on conflict (enterprise_global_id, customer_id) do update
         set is_default = excluded.is_default,
         channel_code = excluded.channel_code, channel_customer_id = excluded.channel_customer_id,
         seen_at = excluded.seen_at`,
      ),
    endAcknowledged: () =>
      database.prepare("update acknowledged set to_at = ? where namespace = +? and customer_id = +? and to_at is null"),
    acknowledged: () =>
      database.prepare(
        `insert into acknowledged (namespace, customer_id, from_at, fields) values (?, ?, ?, ?)
       on conflict (namespace, customer_id, from_at) do update set to_at = null, fields = excluded.fields`,
      ),
    protect: () =>
      database.prepare(
        `insert into protected_member (member_global_id, enterprise_global_id, reason, seen_at) values (?, ?, ?, ?)
          on conflict do nothing`,
      ),
    placedOrder: () =>
      database.prepare(
        `insert into placed_order (namespace, order_id, from_at, customer_namespace, customer_id, channel_order_id,
         body_hash, version, operation_id, origin) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
    licenceOrder: () =>
      database.prepare(
        `insert into licence_order (namespace, order_id, sequence, license_type, platform_customer_id, license_order_id,
         at)
       values (?, ?, ?, ?, ?, ?, ?)`,
      ),
    numberTaken: () =>
      database.prepare(
        // A number that is known already is not taken a second time, wherever it came from.
        `insert into asset_number (number, origin, operation_id, taken_at) values (?, 'pool', ?, ?)
          on conflict do nothing`,
      ),
    endStaffLink: () =>
      database.prepare("update staff_link set to_at = ? where namespace = +? and staff_id = +? and to_at is null"),
    staffLink: () =>
      database.prepare(
        `insert into staff_link (namespace, staff_id, from_at, customer_namespace, customer_id, enterprise_global_id,
         member_global_id, origin, profile) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
    typeShown: () =>
      database.prepare(
        `insert into shown_licence_type (license_type, shown_by, shown_at) values (?, 'asset', ?)
          on conflict do nothing`,
      ),
    enterpriseCode: () =>
      database.prepare(
        `insert into enterprise_code (enterprise_global_id, code, recorded_at) values (?, ?, ?) on conflict do nothing`,
      ),
    endAssignment: () =>
      database.prepare("update assignment set to_at = ?, ended_by = ? where asset_number = +? and to_at is null"),
    assignment: () =>
      database.prepare(
        `insert into assignment (asset_number, from_at, namespace, staff_id, customer_namespace, customer_id,
         member_global_id, origin, operation_id) values (?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (asset_number, from_at) do update
         set to_at = null, namespace = excluded.namespace, staff_id = excluded.staff_id,
         member_global_id = excluded.member_global_id, origin = excluded.origin, operation_id = excluded.operation_id`,
      ),
    seenAgain: () =>
      database.prepare(
        `update observation set seen_at = ? where customer_namespace = +? and customer_id = +? and kind = +?
       and subject = +? and to_at is null
       and body_hash = +?`,
      ),
    endObservation: () =>
      database.prepare(
        `update observation set to_at = ? where customer_namespace = +? and customer_id = +? and kind = +?
          and subject = +? and to_at is null`,
      ),
    observation: () =>
      database.prepare(
        `insert into observation (customer_namespace, customer_id, kind, subject, from_at, seen_at, body, body_hash)
       values (?, ?, ?, ?, ?, ?, ?, ?)
       on conflict do update set to_at = null, seen_at = excluded.seen_at, body = excluded.body,
       body_hash = excluded.body_hash`,
      ),
    observedGone: () =>
      database.prepare(
        `update observation set to_at = ? where customer_namespace = +? and customer_id = +? and kind = +?
       and to_at is null
       and subject not in (select value from json_each(?))`,
      ),
    observationRead: () =>
      database.prepare(
        `insert into observation_read (customer_namespace, customer_id, seen_at, complete) values (?, ?, ?, ?)
       on conflict (customer_namespace, customer_id) do update
         set seen_at = excluded.seen_at, complete = excluded.complete`,
      ),
    wipe: () =>
      database.prepare(
        "update private_value set sealed = null, wiped_at = ? where ref = +? and version <= ? and sealed is not null",
      ),
  });
}
