import { join } from "node:path";
import { expect, it } from "vitest";
import { parseJson } from "../../src/base/canonical-json.ts";
import {
  appliedMigrations,
  knownMigrations,
  migrate,
  migrations,
  openDatabase,
} from "../../src/ledger/database/database.ts";
import type { Sqlite } from "../../src/ledger/database/database.ts";
import * as first from "../../migrations/0001_ledger.ts";
import { folder, openLedger } from "../support/world/start.ts";

it("a ledger of an earlier version is brought to this one with everything it holds", async () => {
  const path = join(folder(), "ledger.db");
  const earlier = await openDatabase(path, { migrate: false });
  await migrate(earlier, path, { getMigrations: async () => ({ "0001_ledger": first }) });
  earlier
    .prepare(
      "insert into source_read (source, stream, started_at, rows) values ('crm', 'orders', '2026-10-01T00:00:00.000Z', 7)",
    )
    .run();
  earlier
    .prepare(
      `insert into quarantine (id, source, stream, place, field, code, message, raw_ref, raw_hash, first_seen, last_seen, last_read, state)
       values ('q-1', 'hr', 'staff', 'staff.csv:2', 'name', 'missing', 'no name', '', '', '', '', 1, 'open')`,
    )
    .run();
  earlier.close();

  const now = await openDatabase(path, { migrate: true });
  expect(appliedMigrations(now)).toEqual(knownMigrations);
  expect(now.prepare("select source, rows, details from source_read").all()).toEqual([
    { source: "crm", rows: 7, details: null },
  ]);
  expect(now.prepare("select count(*) as count from open_circuit").get()).toEqual({ count: 0 });
  // Whose the row is was not read then: it is mapped anew.
  expect(now.prepare("select id, state from quarantine").all()).toEqual([{ id: "q-1", state: "retry" }]);
  now.close();
});

it(
  "a new ledger begins as the migrations make it, with the same tables, indexes, triggers and rows",
  { tags: "long" },
  async () => {
    const made = await openDatabase(join(folder(), "ledger.db"), { migrate: true });
    const path = join(folder(), "ledger.db");
    const migrated = await openDatabase(path, { migrate: false });
    await migrate(migrated, path, { getMigrations: async () => migrations });
    const whole = (ledger: Sqlite): unknown => {
      const objects = ledger
        .prepare<[], { type: string; name: string; text: string | null }>(
          "select type, name, sql as text from sqlite_schema order by rowid",
        )
        .all()
        .map(({ text, ...named }) => ({ ...named, text: text?.replaceAll(/\s+/gu, " ") }));
      const tables = objects.filter(({ type }) => type === "table");
      const rows = tables.map(({ name }) => ledger.prepare<[], object>(`select * from "${name}"`).all());
      return { objects, rows: rows.map((of) => of.map((row) => ({ ...row, timestamp: undefined }))) };
    };
    expect(whole(made)).toEqual(whole(migrated));
    expect(appliedMigrations(made)).toEqual(knownMigrations);
    made.close();
    migrated.close();
  },
);

it(
  "facts that stood as texts in `meta`, and what has another name now, are where they are looked for",
  { tags: "long" },
  async () => {
    const path = join(folder(), "ledger.db");
    const earlier = await openDatabase(path, { migrate: false });
    const ninth = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0010"));
    await migrate(earlier, path, { getMigrations: async () => ninth });
    const at = "2026-10-01T08:00:00.000Z";
    const later = Date.parse("2026-10-02T08:00:00.000Z");
    earlier.exec(
      `insert into meta (key, value) values ('ledger', 'ledger_1'), ('retention rawForms', '[]'), ('correlation a {id} b', '${at}'),
       ('licence-type-shown softkey', '${at}'), ('licence-type-observed dongle', '${at}'), ('clock-set-back order:crm/O1', '${later} 5');
     insert into service_left values ('order-service', '${at}', 'down', '${at}');
     insert into notice values ('hold:h-1', '${at}', '{"kind":"hold"}', '${at}');
     insert into slot values ('everything', '${at}', '${at}');
     insert into fired_slot values ('everything', '${at}', '${at}', null);
     insert into run (id, job, kind, trigger, started_at, state, header) values ('r1', 'everything', 'run', 'hand', '${at}', 'cut-off', '{}'),
       ('r2', 'everything', 'run', 'hand', '${at}', 'done', '{}');`,
    );
    earlier.close();

    const { ledger } = await openLedger({ path });
    expect(await ledger.identity.name()).toBe("ledger_1");
    expect(await ledger.state.correlationConfirmed("a {id} b")).toBe(true);
    expect(await ledger.state.correlationConfirmed("another")).toBe(false);
    expect(await ledger.state.licenceTypeShown("softkey")).toBe(true);
    expect(await ledger.state.licenceTypeShown("dongle"), "an observed product is not a shown asset").toBe(false);
    expect(await ledger.journal.countedFrom("order:crm/O1", later)).toBe(5);
    expect(await ledger.schedule.last("everything")).toBe(at);
    expect(await ledger.schedule.unfinished("everything")).toEqual([at]);
    expect(await ledger.schedule.openCircuits()).toMatchObject([{ service: "order-service", reason: "down" }]);
    expect([...(await ledger.schedule.alerts())]).toMatchObject([["hold:h-1", { since: at, sent: true }]]);
    expect(await ledger.schedule.toldAlerts(), "by the only way that there was").toMatchObject([
      { way: "", key: "hold:h-1", since: at },
    ]);
    expect((await ledger.runs.lastOf("everything", 9)).map(({ id, state }) => [id, state])).toEqual([
      ["r2", "done"],
      ["r1", "interrupted"],
    ]);
    ledger.close();
    const now = await openDatabase(path, { migrate: false });
    expect(now.prepare("select key from meta where key not in ('commits', 'epoch')").pluck().all()).toEqual([
      "ledger",
      "retention rawForms",
      "stood since",
    ]);
    expect(now.prepare("select license_type, shown_by from shown_licence_type order by 1").raw().all()).toEqual([
      ["dongle", "product"],
      ["softkey", "asset"],
    ]);
    now.close();
  },
);

it("what is sent for a customer and what the CRM says of it stand in pages that others share", async () => {
  const path = join(folder(), "ledger.db");
  const earlier = await openDatabase(path, { migrate: false });
  const eleventh = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0012"));
  await migrate(earlier, path, { getMigrations: async () => eleventh });
  const at = "2026-10-01T08:00:00.000Z";
  const long = JSON.stringify({ name: "x".repeat(1_200) });
  const operation = earlier.prepare(
    `insert into operation (id, customer_namespace, customer_id, kind, endpoint, stage, subject, hash, state, target,
       payload, context, reason, before, after, created_at, updated_at, answer_ref)
     values (?, 'crm', ?, 'create-enterprise', 'E2', 'enterprise', ?, 'h', ?, '{}', ?, '{}', 'r', 'null', 'null', ?, ?, 'a')`,
  );
  const version = earlier.prepare(
    `insert into record_version (stream, namespace, id, version, from_at, to_at, source, place, body)
     values ('customers', 'crm', ?, 1, ?, ?, 's', 'p', ?)`,
  );
  for (let index = 20; index > 0; index -= 1) {
    const id = String(index).padStart(3, "0");
    operation.run(`op_${id}`, id, id, index % 2 === 0 ? "done" : "unknown", long, at, at);
    version.run(id, at, index % 2 === 0 ? at : null, long);
  }
  const rows = (database: typeof earlier): unknown[] =>
    ["operation", "record_version"].map((name) => database.prepare(`select * from ${name} order by id`).all());
  const overflow = (database: typeof earlier): unknown =>
    database.prepare("select count(*) from dbstat where pagetype = 'overflow'").pluck().get();
  const before = rows(earlier);
  expect(overflow(earlier)).toBe(40);
  earlier.close();

  const now = await openDatabase(path, { migrate: false });
  const twelfth = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0013"));
  await migrate(now, path, { getMigrations: async () => twelfth });
  expect(rows(now)).toEqual(before);
  expect(overflow(now)).toBe(0);
  expect(() => now.exec("insert into operation select * from operation where id = 'op_002'")).toThrow(
    "UNIQUE constraint failed: operation.id",
  );
  now.close();
});

it(
  "an operation says itself which records it is for, and whom nobody takes away is found by the enterprise",
  { tags: "long" },
  async () => {
    const path = join(folder(), "ledger.db");
    const earlier = await openDatabase(path, { migrate: false });
    const twelfth = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0013"));
    await migrate(earlier, path, { getMigrations: async () => twelfth });
    const at = "2026-10-01T08:00:00.000Z";
    for (const id of ["op_1", "op_2"])
      earlier.exec(
        `insert into operation (id, customer_namespace, customer_id, kind, endpoint, stage, subject, hash, state, target, payload,
         context, reason, before, after, created_at, updated_at)
       values ('${id}', 'crm', 'C', 'create-members', 'M1', 'staff', '${id}', 'h', 'done', '{}', '{}', '{}', 'r', 'null', 'null',
         '${at}', '${at}')`,
      );
    earlier.exec(
      `insert into operation_record values ('staff', 'crm', 'S2', 'op_1'), ('staff', 'crm', 'S1', 'op_1');
     insert into protected_member values ('M-1', 'E-1', 'why', '${at}'), ('M-2', 'E-1', 'why', '${at}');
     insert into record (stream, namespace, id, source, raw_hash, body_hash, version, customer_namespace, customer_id, state,
       last_read, pending, first_seen, changed_at) values ('customers', 'crm', 'C', 's', 'h', 'h', 1, 'crm', 'C', 'current', 1, 1, '', '')`,
    );
    earlier.close();

    const now = await openDatabase(path, { migrate: true });
    const named = (id: string): unknown => ({ stream: "staff", namespace: "crm", id });
    expect(now.prepare<[], string>("select records from operation order by id").pluck().all().map(parseJson)).toEqual([
      [named("S1"), named("S2")],
      [],
    ]);
    expect(
      now.prepare("select enterprise_global_id, member_global_id, reason, seen_at from protected_member").raw().all(),
    ).toEqual([
      ["E-1", "M-1", "why", at],
      ["E-1", "M-2", "why", at],
    ]);
    now.exec("update record set pending = 0");
    expect(now.prepare("select state, count, pending from record_tally").raw().all()).toEqual([["current", 1, 0]]);
    now.exec("update record set state = 'absent', pending = 1");
    expect(now.prepare("select state, count, pending from record_tally where count > 0").raw().all()).toEqual([
      ["absent", 1, 1],
    ]);
    now.close();
  },
);

it("what an operation claims for itself alone is known by its number, also where it was open before", async () => {
  const path = join(folder(), "ledger.db");
  const earlier = await openDatabase(path, { migrate: false });
  const fourteenth = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0015"));
  await migrate(earlier, path, { getMigrations: async () => fourteenth });
  const at = "2026-10-01T08:00:00.000Z";
  const insert = earlier.prepare(
    `insert into operation (id, customer_namespace, customer_id, kind, endpoint, stage, subject, hash, state, target,
       payload, context, reason, before, after, created_at, updated_at)
     values (?, 'crm', ?, ?, 'E2', 'orders', ?, 'h', ?, ?, ?, '{}', 'r', 'null', 'null', '${at}', '${at}')`,
  );
  const claims: [id: string, kind: string, state: string, claim: string | null][] = [
    ["op_1", "create-enterprise", "sending", "K-1"],
    ["op_2", "bind-enterprise", "unknown", "K-2"],
    ["op_3", "place-order", "parked", "O-3"],
    ["op_4", "place-order", "planned", "O-4"],
    ["op_5", "place-order", "held", "O-5"],
    ["op_6", "place-order", "rejected", "O-6"],
    ["op_7", "place-order", "done", null],
    ["op_8", "add-staff", "unknown", null],
  ];
  for (const [id, kind, state, claim] of claims) {
    const number = claim ?? "N";
    const payload = JSON.stringify({ channelOrderId: number });
    insert.run(id, id, kind, id, state, JSON.stringify({ channelCustomerId: number }), payload);
  }
  insert.run("op_9", "op_9", "place-order", "op_9", "rejected", "{}", "cut off");
  const rows = (database: typeof earlier) =>
    database.prepare<[], { id: string; claim?: string }>("select * from operation order by id").all();
  const before = rows(earlier);
  earlier.close();

  const now = await openDatabase(path, { migrate: false });
  const fifteenth = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0016"));
  await migrate(now, path, { getMigrations: async () => fifteenth });
  const claimed = new Map(claims.map(([id, , , claim]) => [id, claim]));
  expect(rows(now)).toEqual(before.map((row) => ({ ...row, claim: claimed.get(row.id) ?? null })));
  now.close();
});

/** A ledger of the fifteenth migration with old rows in every table that a later one changes. */
async function fifteenthLedger(): Promise<string> {
  const path = join(folder(), "ledger.db");
  const earlier = await openDatabase(path, { migrate: false });
  const fifteenth = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0016"));
  await migrate(earlier, path, { getMigrations: async () => fifteenth });
  const at = "2026-10-01T08:00:00.000Z";
  const asset = (id: string, quantity: number) => ({ kind: "asset", id, quantity });
  const part = (kind: string, id: string, parentId: string) => ({ kind, id, parentId });
  const orders: [id: string, instances: unknown[]][] = [
    ["O1", [asset("A", 3), part("product", "P1", "A"), part("product", "P2", "A"), part("feature", "F", "P1")]],
    [
      "O2",
      [asset("A", 2), asset("B", 1), part("package", "K", "A"), part("package", "L", "K"), part("product", "P", "L")],
    ],
    ["O3", []],
  ];
  const version = earlier.prepare(
    `insert into record_version (stream, namespace, id, version, from_at, source, place, body)
     values ('orders', 'crm', ?, 1, '${at}', 's', 'p', ?)`,
  );
  for (const [id, instances] of orders) version.run(id, JSON.stringify({ id, instances }));
  version.run("O4", "cut off {");
  const record = earlier.prepare(
    `insert into record (stream, namespace, id, source, raw_hash, body_hash, version, customer_namespace, customer_id,
       state, last_read, pending, first_seen, changed_at)
     values ('orders', 'crm', ?, 's', 'h', 'h', 1, 'crm', ?, 'current', 1, 0, '', '')`,
  );
  const placed = earlier.prepare(
    `insert into placed_order (namespace, order_id, from_at, to_at, customer_namespace, customer_id, channel_order_id,
       body_hash, version, origin) values ('crm', ?, ?, ?, 'crm', ?, ?, 'h', 1, 'placed')`,
  );
  for (const id of ["O1", "O2", "O3", "O4"]) placed.run(id, at, null, "C1", `CO-${id}`);
  placed.run("O1", "2026-09-01T08:00:00.000Z", at, "C9", "CO-O1");
  // The CRM has given O1 to another customer since, and O5 was never placed.
  record.run("O1", "C2");
  record.run("O5", "C2");
  const number = earlier.prepare(
    `insert into asset_number (number, origin, taken_at, fixed_at, wire_number, namespace, order_id, instance_id, unit)
     values (?, 'pool', '${at}', ?, ?, ?, ?, ?, ?)`,
  );
  number.run("81", at, "A-81", "crm", "O1", "A", 0);
  number.run("82", at, "A-82", "crm", "O5", "A", 0);
  number.run("83", null, null, null, null, null, null);
  number.run("84", at, null, null, null, null, null);
  number.run("85", at, "A-85", "crm", "O6", "A", 0);
  earlier.exec(
    `insert into operation (id, customer_namespace, customer_id, kind, endpoint, stage, subject, hash, state, target,
       payload, context, reason, before, after, takes_away, created_at, updated_at)
     values ('op_1', 'crm', 'C1', 'revoke-assets', 'M9', 'revokes', 's', 'h', 'done', '{}', '{}', '{}', 'r', 'null',
       'null', 2, '${at}', '${at}');
     insert into operation (id, customer_namespace, customer_id, kind, endpoint, stage, subject, hash, state, target,
       payload, context, reason, before, after, takes_away, created_at, updated_at, hold_id)
       select 'op_' || h.value, 'crm', h.value, 'revoke-assets', 'M9', 'revokes', 's', 'h-of-' || h.value, 'held', '{}',
         '{}', '{}', 'r', 'null', 'null', 1, '${at}', '${at}', h.value from json_each('["open", "approved", "used"]') h;
     insert into hold (id, scope, customer_namespace, customer_id, count, allowed, total, set_hash, state, explanation,
       created_at, decided_at, decided_by)
       select h.value, 'run', 'crm', h.value, 1, 1, 1, 'set', h.value, 'too many', '${at}',
         iif(h.value = 'open', null, '${at}'), iif(h.value = 'open', null, 'anna.lee')
       from json_each('["open", "approved", "used"]') h;
     insert into staff_link (namespace, staff_id, from_at, to_at, customer_namespace, customer_id, enterprise_global_id,
       member_global_id, origin, profile) values
       ('crm', 'S1', '${at}', null, 'crm', 'C1', 'E', 'M1', 'created', '{}'),
       ('crm', 'S2', '${at}', null, 'crm', 'C1', 'E', 'M2', 'adopted', '{}'),
       ('crm', 'S3', '${at}', '${at}', 'crm', 'C1', 'E', 'M3', 'adopted', '{}');`,
  );
  earlier.close();
  return path;
}

it(
  "orders say how many products stand of them, and numbers whose they are, also in a ledger from before",
  { tags: "long" },
  async () => {
    const path = await fifteenthLedger();
    const now = await openDatabase(path, { migrate: true });
    const all = (sql: string): unknown[] => now.prepare(sql).raw().all();
    expect(all("select order_id, products, agreed_hash from placed_order where to_at is null order by 1")).toEqual([
      ["O1", 6, null],
      ["O2", 2, null],
      ["O3", 0, null],
      ["O4", 0, null],
    ]);
    const tally = (name: string): unknown => now.prepare("select count from tally where name = ?").pluck().get(name);
    expect([tally("product"), tally("staff_link"), tally("staff_link adopted")]).toEqual([8, 2, 1]);
    now.exec("update placed_order set products = 5 where order_id = 'O1' and to_at is null");
    now.exec("update placed_order set to_at = '2026-11-01' where order_id = 'O2'");
    expect(tally("product")).toBe(5);
    now.exec("delete from placed_order where order_id = 'O1'");
    now.exec("update staff_link set to_at = null where staff_id = 'S3'");
    expect([tally("product"), tally("staff_link adopted")]).toEqual([0, 2]);

    // For whom it was placed, not whom the CRM names now; what was spent or never fixed is nobody's.
    expect(all("select number, customer_id from asset_number order by 1")).toEqual([
      ["81", "C1"],
      ["82", "C2"],
      ["83", null],
      ["84", null],
      ["85", null],
    ]);
    const fix = (unit: number, customer: string, wire: string): unknown =>
      now.exec(
        `insert into asset_number (number, origin, taken_at, fixed_at, wire_number, namespace, order_id, instance_id,
         unit, customer_namespace, customer_id)
       values ('${wire}', 'crm', '', '', '${wire}', 'crm', 'O1', 'A', ${unit}, 'crm', '${customer}')`,
      );
    expect(() => fix(0, "C1", "A-1")).toThrow("UNIQUE");
    fix(0, "C2", "A-2");
    now.exec("update asset_number set ended_at = '2026-11-01' where number = '81'");
    fix(0, "C1", "A-3");
    expect(() => fix(0, "C1", "A-4")).toThrow("UNIQUE");
    now.close();
  },
);

it("what stands under a hold is known by name, also where a person approved it before", { tags: "long" }, async () => {
  const now = await openDatabase(await fifteenthLedger(), { migrate: true });
  expect(now.prepare("select hold_id, hash, kind, scope, reason from hold_operation").raw().all()).toEqual([
    ["approved", "h-of-approved", "revoke-assets", "run", "too many"],
    ["open", "h-of-open", "revoke-assets", "run", "too many"],
  ]);
  expect(now.prepare("select kind, hash, hold_id, by from approved_operation").raw().all()).toEqual([
    ["revoke-assets", "h-of-approved", "approved", "anna.lee"],
  ]);
  now.close();
});

it(
  "what was approved or rejected before holds named their operations counts after it, by the operations of then",
  { tags: "long" },
  async () => {
    const path = await fifteenthLedger();
    const ninthOn = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0024"));
    const earlier = await openDatabase(path, { migrate: false });
    await migrate(earlier, path, { getMigrations: async () => ninthOn });
    const [at, then, later] = ["2026-10-02T08:00:00.000Z", "2026-10-02T09:00:00.000Z", "2026-10-03T08:00:00.000Z"];
    const hold = earlier.prepare(
      `insert into hold (id, scope, customer_namespace, customer_id, count, allowed, total, set_hash, state, explanation,
       created_at, decided_at, decided_by) values (?, 'run', 'crm', ?, 1, 1, 1, 'set', ?, 'too many', ?, ?, 'anna.lee')`,
    );
    const operation = earlier.prepare(
      `insert into operation (id, customer_namespace, customer_id, kind, endpoint, stage, subject, hash, state, target,
       payload, context, reason, before, after, takes_away, created_at, updated_at, hold_id, records)
     values (?, 'crm', ?, 'revoke-assets', 'M9', 'revokes', 's', ?, ?, '{}', '{}', '{}', 'r', 'null', 'null', 1, ?, ?,
       ?, '[{"stream":"staff","namespace":"crm","id":"S1"}]')`,
    );
    // Given up, "planned anew", by the last run before: each time the same set.
    for (const [state, customer] of [
      ["open", "D1"],
      ["approved", "D2"],
      ["rejected", "D3"],
      ["used", "D4"],
    ] as const) {
      hold.run(`h-${state}`, customer, state, at, later);
      for (const turn of [1, 2])
        operation.run(`op_${state}${turn}`, customer, `of ${state}`, "dropped", at, at, `h-${state}`);
    }
    operation.run("op_done", "D4", "of used", "done", then, then, null);
    operation.run("op_unasked", "D4", "of nobody", "done", then, then, null);
    operation.run("op_after", "D4", "of used", "done", "2026-10-04T08:00:00.000Z", "2026-10-04T08:00:00.000Z", null);
    earlier.close();

    const now = await openDatabase(path, { migrate: true });
    const all = (sql: string): unknown[] => now.prepare(sql).raw().all();
    const records = '[{"stream":"staff","namespace":"crm","id":"S1"}]';
    expect(
      all("select hold_id, hash, records, ended_at from hold_operation where hold_id like 'h-%' order by 1"),
    ).toEqual([
      ["h-approved", "of approved", records, null],
      ["h-open", "of open", records, null],
      ["h-rejected", "of rejected", records, null],
    ]);
    expect(all("select hash, by, used_at from approved_operation where hold_id like 'h-%'")).toEqual([
      ["of approved", "anna.lee", null],
    ]);
    expect(all("select id, approved from operation where customer_id = 'D4' and state = 'done' order by id")).toEqual([
      ["op_after", 0],
      ["op_done", 1],
      ["op_unasked", 0],
    ]);
    now.close();
  },
);

it("a person who moved has an account at either customer, and one at each", { tags: "long" }, async () => {
  const now = await openDatabase(await fifteenthLedger(), { migrate: true });
  const link = now.prepare(
    `insert into staff_link (namespace, staff_id, from_at, customer_namespace, customer_id, enterprise_global_id,
       member_global_id, origin, profile) values ('crm', 'moved', ?, 'crm', ?, 'E', ?, 'created', '{}')`,
  );
  link.run("2026-10-01", "C1", "M-1");
  link.run("2026-10-02", "C2", "M-2");
  expect(() => link.run("2026-10-03", "C2", "M-3")).toThrow("UNIQUE");
  now.close();
});

it(
  "operations and records from before were not approved, have no weight and came back to no form",
  { tags: "long" },
  async () => {
    const now = await openDatabase(await fifteenthLedger(), { migrate: true });
    expect(now.prepare("select weight, approved, takes_away from operation where state = 'done'").raw().all()).toEqual([
      [null, 0, 2],
    ]);
    expect(now.prepare("select distinct flips, previous_hash from record").raw().all()).toEqual([[0, null]]);
    const added = ["order_step", "amendment_number", "by_hand", "unlinked", "assumption_met", "applied_plan"];
    for (const table of [...added, "difference"])
      expect(now.prepare(`select count(*) from ${table}`).pluck().get(), table).toBe(0);
    now.close();
  },
);

it("what taking a run back held before it was told apart stands beside what runs hold", { tags: "long" }, async () => {
  const path = await fifteenthLedger();
  const before = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0027"));
  const earlier = await openDatabase(path, { migrate: false });
  await migrate(earlier, path, { getMigrations: async () => before });
  earlier.exec("update operation set plan_id = 'run_undo' where hold_id in ('approved', 'used')");
  earlier.close();

  const now = await openDatabase(path, { migrate: true });
  expect(now.prepare("select id, of_undo from hold order by id").raw().all()).toEqual([
    ["approved", 1],
    ["open", 0],
    ["used", 0],
  ]);
  const another = (id: string, customer: string, ofUndo: number): unknown =>
    now.exec(
      `insert into hold (id, scope, customer_namespace, customer_id, count, allowed, total, set_hash, state, explanation,
         created_at, of_undo) values ('${id}', 'run', 'crm', '${customer}', 1, 1, 1, 'set', 'open', '', '', ${ofUndo})`,
    );
  another("h-1", "approved", 0);
  expect(() => another("h-2", "approved", 1)).toThrow("UNIQUE");
  expect(() => another("h-3", "open", 0)).toThrow("UNIQUE");
  now.close();
});
