import { expect, it } from "vitest";
import { placesBeside, placesOfPersonal } from "../../src/ledger/private/places.ts";
import { openLedger, sqlite } from "../support/world/start.ts";

/** Columns that never hold a personal value, by why and by table; instants (`…_at`, `at`, `since`) are left out. */
const impersonal: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "ids; `check` asks for hashed ones where they look like an address or a phone number, or are a login": {
    private_value: "ref",
    source_read: "run_id",
    record: "namespace id customer_namespace customer_id changed_run outcome_run",
    record_version: "namespace id",
    record_stood: "namespace id",
    quarantine: "id namespace record_id customer_namespace customer_id raw_ref twin_namespace twin_id",
    quarantine_stood: "id customer_namespace customer_id",
    link: "namespace customer_id enterprise_global_id channel_customer_id",
    unlinked: "namespace customer_id enterprise_global_id",
    platform_customer: "enterprise_global_id customer_id channel_customer_id",
    enterprise_code: "enterprise_global_id code",
    protected_member: "enterprise_global_id member_global_id",
    acknowledged: "namespace customer_id",
    confirmed_correlation: "correlation",
    unread_customer: "namespace id",
    placed_order:
      "namespace order_id customer_namespace customer_id channel_order_id operation_id placed_for_namespace placed_for_id",
    licence_order: "namespace order_id platform_customer_id license_order_id",
    order_step: "namespace order_id customer_namespace customer_id channel_order_id operation_id",
    moved_order: "namespace order_id customer_namespace customer_id",
    amendment_number: "channel_order_id namespace order_id",
    asset_number: "number operation_id wire_number namespace order_id instance_id customer_namespace customer_id",
    earlier_number: "wire_number namespace order_id instance_id customer_namespace customer_id",
    staff_link: "namespace staff_id customer_namespace customer_id enterprise_global_id member_global_id",
    assignment: "asset_number namespace staff_id customer_namespace customer_id member_global_id operation_id",
    manual_request: "about customer_namespace customer_id operation_id",
    by_hand: "namespace id",
    run: "id",
    operation: "id run_id plan_id customer_namespace customer_id subject question_id answer_ref records claim",
    operation_record: "namespace record_id operation_id",
    operation_stood: "operation_id run_id answer_ref",
    attempt: "operation_id nonce holder",
    rejection: "namespace record_id customer_namespace customer_id operation_id",
    rejection_stood: "operation_id namespace record_id",
    applied_plan: "plan run_id",
    question: "id customer_namespace customer_id",
    hold: "question_id operation_id customer_namespace customer_id subject records",
    decision: "customer_namespace customer_id",
    assumption_met: "operation_id",
    observation: "customer_namespace customer_id subject",
    observation_read: "customer_namespace customer_id",
    customer_reading: "customer_namespace customer_id",
    difference: "namespace customer_id subject",
    alert: "key",
    alert_told: "key",
    clock_note: "subject",
    audit: "subject",
  },
  "words of the program or of its configuration: states, kinds, codes, names of streams, jobs and settings": {
    meta: "key",
    source_read: "source stream absence",
    source_stream: "source stream job",
    read_checkpoint: "source stream",
    read_checkpoint_seen: "source stream",
    record: "stream source state deferred_code outcome",
    record_version: "stream source date_zones",
    record_stood: "stream state deferred_code",
    record_tally: "stream state",
    quarantine: "source stream field code state resolution",
    quarantine_stood: "field code state",
    link: "channel_code origin",
    platform_customer: "channel_code",
    protected_member: "reason",
    placed_order: "origin",
    licence_order: "license_type",
    order_step: "kind origin",
    asset_number: "origin",
    shown_licence_type: "license_type shown_by",
    staff_link: "origin ended_by",
    assignment: "origin ended_by",
    manual_request: "of wanted",
    by_hand: "stream unseen",
    run: "job kind trigger state",
    operation: "kind endpoint stage state verdict outcome_code",
    operation_record: "stream",
    operation_stood: "state verdict outcome_code",
    attempt: "outcome code",
    rejection: "stream kind code",
    rejection_stood: "stream kind",
    question: "scope policy state",
    hold: "kind policy scope state",
    decision: "verdict policy",
    assumption_met: "row",
    observation: "kind",
    difference: "level class",
    open_circuit: "service",
    last_fire_time: "job",
    fired_time: "job",
    alert_told: "channel",
    delivery: "kind name",
    audit: "kind",
    head_place: "place",
    closed_period: "period zone program configuration as_of",
    closed_file: "period name kind format",
    sign_off: "period blocker facts",
    tally: "name",
  },
  "sentences of the program, or what it counts and compares: ids, terms, figures and hashes, no values": {
    source_read: "shape",
    order_step: "items licence_orders",
    run: "scope balance header",
    operation: "reason weight",
    hold: "reason removes ended_why",
  },
  "hashes of nothing private": {
    source_read: "question mapping",
    read_checkpoint: "question",
    read_checkpoint_seen: "hashes",
    placed_order: "body_hash agreed_hash",
    amendment_number: "hash",
    by_hand: "body_hash",
    rejection: "settings",
    rejection_stood: "hash",
    observation: "body_hash",
    observation_read: "shown_hash",
    audit: "previous hash salt",
    audit_tile: "root",
    audit_tree: "roots",
    closed_period: "entry_hash tree_root",
    closed_file: "sha256",
  },
  "who decided, as they call themselves": {
    unlinked: "by",
    manual_request: "asked_by",
    by_hand: "by",
    question: "decided_by",
    decision: "by who",
    assumption_met: "by",
  },
};

/** `table.column` of every column that is impersonal. */
const unnamed = Object.values(impersonal).flatMap((tables) =>
  Object.entries(tables).flatMap(([table, columns]) => columns.split(" ").map((column) => `${table}.${column}`)),
);
const isInstant = (name: string): boolean => /[._](?:at|since|until|after|seen|fire_time)$/u.test(name);

it("somebody has said of each column that holds text whether it can hold a personal value", async () => {
  const { ledger, path } = await openLedger();
  ledger.close();
  const columns = sqlite(path)
    .prepare<[], string>(
      `select t.name || '.' || c.name from sqlite_schema t, pragma_table_info(t.name) c
       where t.type = 'table' and c.type in ('TEXT', 'BLOB', 'text', 'blob')`,
    )
    .pluck()
    .all();
  expect(columns.length).toBeGreaterThan(200);
  const listed = placesOfPersonal.flatMap(({ table, columns: own }) => own.map((column) => `${table}.${column}`));
  const said = [...listed, ...unnamed];
  expect(columns.filter((one) => !said.includes(one) && !isInstant(one))).toEqual([]);
  expect(said.filter((one) => !columns.includes(one))).toEqual([]);
  expect(said.filter((one, index) => said.indexOf(one) !== index)).toEqual([]);
  for (const { what, erasing } of placesBeside) expect([what, erasing]).not.toContain("");
});
