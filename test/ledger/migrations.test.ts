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

it("facts that stood as texts in `meta`, and what has another name now, are where they are looked for", async () => {
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
  expect((await ledger.runs.last(9)).map(({ id, state }) => [id, state])).toEqual([
    ["r2", "done"],
    ["r1", "interrupted"],
  ]);
  ledger.close();
  const now = await openDatabase(path, { migrate: false });
  expect(now.prepare("select key from meta where key not in ('commits', 'epoch')").pluck().all()).toEqual([
    "ledger",
    "retention rawForms",
  ]);
  expect(now.prepare("select license_type, shown_by from shown_licence_type order by 1").raw().all()).toEqual([
    ["dongle", "product"],
    ["softkey", "asset"],
  ]);
  now.close();
});

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

it("an operation says itself which records it is for, and whom nobody takes away is found by the enterprise", async () => {
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
});

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

  const now = await openDatabase(path, { migrate: true });
  const claimed = new Map(claims.map(([id, , , claim]) => [id, claim]));
  expect(rows(now)).toEqual(before.map((row) => ({ ...row, claim: claimed.get(row.id) ?? null })));
  now.close();
});
