import { formatKey } from "../../crm/keys.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import {
  withTree,
  type Desired,
  type DesiredCustomer,
  type DesiredStaff,
  type OrderWithTree,
} from "../../engine/model/desired.ts";
import type { CustomerInput } from "../../engine/plan/input.ts";
import { handedIn } from "../../engine/model/registry.ts";
import type { ChangeShapes, StateRows as RowsOfResource, Writes } from "../../engine/model/resource.ts";
import type { Known, StateChange } from "../../engine/model/state.ts";
import type { RemovedThing } from "../../engine/model/operation.ts";
import type { Sqlite } from "../database/database.ts";
import { PrivateTables } from "../private/private-tables.ts";
import { assumptionTables } from "./assumptions-met.ts";
import { desired, DesiredRows, nothingInQuarantine } from "./desired.ts";
import { DifferenceRows, differenceTables } from "./differences.ts";
import { HeldRows, type Held, ObservationRows, observationTables } from "./observations.ts";
import { RequestRows, requestTables } from "./requests.ts";
import { UnreadCustomerRows, unreadCustomerTables } from "./unread-customers.ts";
import { prepared, sql, table } from "../database/statements.ts";

/** A licence type that the platform showed: for an asset (A43), or for a product of a removed observation. */
interface ShownLicenceTypeTable {
  license_type: string;
  shown_by: "asset" | "product";
  shown_at: string;
}

/** Manual work that a person recorded. `unseen` (JSON): parts that no reading showed, of the form with `body_hash`. */
interface ByHandTable {
  namespace: string;
  id: string;
  stream: Stream;
  body_hash: string;
  at: string;
  by: string;
  reason: string;
  unseen: string;
  ended_at: string | null;
}

export const stateTables = {
  ...requestTables,
  ...observationTables,
  shown_licence_type: table<ShownLicenceTypeTable>(),
  by_hand: table<ByHandTable>(),
  ...assumptionTables,
  ...differenceTables,
  ...unreadCustomerTables,
};

export function ledgerRows(database: Sqlite) {
  return {
    requests: new RequestRows(database),
    observations: new ObservationRows(database),
    licenceTypes: new LicenceTypeRows(database),
    byHand: new ByHandRows(database),
    secrets: new SecretRows(database),
    unread: new UnreadCustomerRows(database),
    differences: new DifferenceRows(database),
    desired: new DesiredRows(database),
    private: new PrivateTables(database),
    held: new HeldRows(database),
  };
}

export type LedgerRows = ReturnType<typeof ledgerRows>;

export function stateRows(database: Sqlite) {
  const ledger = ledgerRows(database);
  const resources = handedIn().open(database, ledger);
  const all = Object.entries<RowsOfResource>(resources).map(([name, rows]) => {
    const holds = Object.keys(handedIn().resources.find((one) => one.name === name)?.state?.holds ?? {});
    return { rows, isHeld: (held: Held) => holds.some((table) => held[table] === 1) };
  });
  return { ...ledger, resources, all };
}

export type StateRows = ReturnType<typeof stateRows>;

export function countOf({ all }: StateRows, thing: RemovedThing, customer: RecordKey | undefined): number {
  for (const { rows } of all) {
    const found = rows.count?.(thing, customer);
    if (found !== undefined) return found;
  }
  return 0;
}

function writesOf(rows: StateRows): Writes {
  const own: Writes = {
    ...rows.requests.writes,
    ...rows.observations.writes,
    ...rows.byHand.writes,
    ...rows.licenceTypes.writes,
    ...rows.secrets.writes,
    ...rows.unread.writes,
  };
  return rows.all.reduce((before, one) => ({ ...before, ...one.rows.writes }), own);
}

/** Writes run inside the writer's transaction. */
export class ChangeTables {
  readonly #writes;

  constructor(rows: StateRows) {
    this.#writes = writesOf(rows);
  }

  apply(change: StateChange, at: string): void {
    writeAs(this.#writes, change.type, change, at);
  }
}

function writeAs<Type extends keyof ChangeShapes>(
  writes: Writes,
  type: Type,
  change: ChangeShapes[Type],
  at: string,
): void {
  const write = writes[type];
  if (write === undefined) throw new Error(`nobody writes the change ${type}`);
  write(change, at);
}

/** The input of planning for one customer. Reads only. */
export class KnownTables {
  readonly #rows: StateRows;

  constructor(rows: StateRows) {
    this.#rows = rows;
  }

  /** Everything the ledger knows about a customer, without readings of the platform. */
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
    const known = this.#knownHere(customer, held);
    const knownOf = (other: RecordKey): Known => this.#knownHere(other);
    const given = { customer, orders, staff, known, knownOf, privateValues, held };
    const own: Omit<CustomerInput, "observed" | "rejections"> = {
      customer,
      desiredCustomer,
      orders,
      staff,
      known,
      privateValues,
      unclearMoves: this.#unclearMoves(staff, known),
      ...(held.rebuilt === 1 ? { rebuilt: true as const } : {}),
      ...(held.unread === 1 ? { unread: true as const } : {}),
      ...(held.held === 1 ? { asked: true as const } : {}),
      ...(held.quarantined === 1 ? this.#rows.desired.quarantine(customer) : nothingInQuarantine),
    };
    return this.#rows.all.reduce(
      (before, { rows, isHeld }) => (isHeld(held) ? { ...before, ...rows.gather?.(given) } : before),
      own,
    );
  }

  #unclearMoves(staff: readonly Desired<DesiredStaff>[], known: Known): ReadonlyMap<string, string> {
    const people = [...known.staffLinks.values(), ...known.assignments.map((held) => ({ key: held.staff }))];
    const left = new Map(people.map(({ key }) => [formatKey(key), key]));
    for (const { key } of staff) left.delete(formatKey(key));
    return new Map(
      [...left].flatMap(([name, key]) => {
        const why = this.#rows.desired.unclearMove(key);
        return why === undefined ? [] : [[name, why] as const];
      }),
    );
  }

  #knownHere(customer: RecordKey, held = this.held(customer)): Known {
    const known = this.known(customer, held);
    if (known.link === undefined) return known;
    return this.#rows.all.reduce(
      (here, { rows, isHeld }) => (isHeld(held) ? { ...here, ...rows.ofLink?.(known, customer, held) } : here),
      known,
    );
  }

  known(customer: RecordKey, held = this.held(customer)): Known {
    const { requests, all } = this.#rows;
    const known = { ...handedIn().nothing, ...(held.asked === 1 && requests.known(customer)) };
    return all.reduce(
      (before, own) => (own.isHeld(held) ? { ...before, ...own.rows.load(customer, held) } : before),
      known,
    );
  }

  held(customer: RecordKey): Held {
    return this.#rows.held.of(customer);
  }
}

/** Secrets for payloads. They are wiped when nothing needs them. */
export class SecretRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, secretTexts);
  }

  readonly writes = {
    "secrets-wiped": ({ ref, version }, at) => {
      this.#statements.wipe.run(at, ref, version);
    },
  } satisfies Writes;
}

const secretTexts = {
  wipe: sql`update private_value set sealed = null, wiped_at = ? where ref = +? and version <= ?
    and sealed is not null`,
};

export class LicenceTypeRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, licenceTypeTexts);
  }

  isShown(type: string): boolean {
    return this.#statements.shown.get(type) !== undefined;
  }

  readonly writes = {
    "licence-types-shown": ({ types }, at) => {
      for (const type of types) this.#statements.keep.run(type, at);
    },
  } satisfies Writes;
}

const licenceTypeTexts = {
  shown: sql<[string], Pick<ShownLicenceTypeTable, "shown_at">>`
    select shown_at from shown_licence_type where shown_by = 'asset' and license_type = +?`,
  keep: sql`insert into shown_licence_type (license_type, shown_by, shown_at) values (?, 'asset', ?)
    on conflict do nothing`,
};

export class ByHandRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, byHandTexts);
  }

  readonly writes = {
    "done-by-hand": ({ stream, key: { namespace, id }, bodyHash, by, reason, unseen }, at) => {
      this.#statements.end.run(at, stream, namespace, id);
      this.#statements.begin.run(namespace, id, stream, bodyHash, at, by, reason, JSON.stringify(unseen));
    },
  } satisfies Writes;
}

const byHandTexts = {
  end: sql`update by_hand set ended_at = ? where stream = +? and namespace = +? and id = +?
    and ended_at is null`,
  begin: sql`insert into by_hand (namespace, id, stream, body_hash, at, by, reason, unseen)
    values (?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (stream, namespace, id, at) do update set ended_at = null, body_hash = excluded.body_hash,
      by = excluded.by, reason = excluded.reason, unseen = excluded.unseen`,
};
