import { expect, it } from "vitest";
import { systemClock, toInstant } from "../../src/base/clock.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { operation, type Operation } from "../../src/engine/model/operation.ts";
import { ask } from "../support/world/asked.ts";
import { key } from "../support/world/records.ts";
import { openLedger, sqlite } from "../support/world/start.ts";
import { doneWith, intend } from "./opened.ts";

const hour = 60 * 60 * 1000;

/** An M9 that takes so many seats from a member of staff. */
function revoke(name: string, seats: number): Operation {
  const numbers = Array.from({ length: seats }, (_, index) => `8${index}`);
  return operation("revoke-assets", {
    customer: key("1"),
    subject: `seats:${name}`,
    records: [{ stream: "staff", ...key(name) }],
    target: { memberGlobalId: `M-${name}` },
    payload: { deleteAssets: numbers, addAssets: [] },
    reason: "no longer claimed",
    before: Object.fromEntries(numbers.map((number) => [number, `M-${name}`])),
    after: null,
  });
}

async function ends(
  ledger: Ledger,
  planned: Operation,
  state: "done" | "unknown" | "rejected" | "parked",
  stored?: string,
): Promise<void> {
  const id = await intend(ledger, planned, {}, stored);
  const how = state === "done" || state === "rejected" ? state : ("unknown" as const);
  await ledger.journal.conclude(id, { ...doneWith(), state, attempt: { outcome: how } });
}

const taken = async ({ journal }: Ledger, ms: number): ReturnType<Ledger["journal"]["takenSince"]> =>
  await journal.takenSince(toInstant(journal.surelyNow - ms), toInstant(journal.surelyNow));

const within = async (ledger: Ledger, hours: number): Promise<number> => (await taken(ledger, hours * hour)).seats;

it("what was taken away, or may have been, counts for as long as it is in the window, over runs and processes", async () => {
  const { ledger, path, time } = await openLedger();
  await ends(ledger, revoke("a", 2), "done");
  await ends(ledger, revoke("b", 3), "unknown");
  await ends(ledger, revoke("c", 5), "parked");
  await intend(ledger, revoke("d", 7));
  await ends(ledger, revoke("e", 11), "rejected");
  await ledger.journal.plan({ runId: "r", operations: [revoke("f", 13)] });
  expect(await taken(ledger, ledger.journal.surelyNow)).toEqual({ seats: 17, products: 0, accounts: 0, locks: 0 });

  time.at += 23 * hour;
  await ends(ledger, revoke("g", 1), "done");
  expect([await within(ledger, 24), await within(ledger, 7 * 24)]).toEqual([18, 18]);
  time.at += hour;
  expect(await within(ledger, 24), "the last instant of it").toBe(18);
  time.at += 1;
  ledger.close();
  const { ledger: next } = await openLedger({ path, time });
  expect([await within(next, 24), await within(next, 7 * 24)]).toEqual([1, 18]);
});

it("what a person approved is not counted, and the same once more is", async () => {
  const { ledger } = await openLedger();
  const operations = [revoke("a", 2), revoke("b", 3)];
  const { hold, ids } = await ask(ledger, "1", { operations });
  await ledger.decisions.decide(hold, "approve", "asked", "anna.lee");
  for (const [index, planned] of operations.entries()) await ends(ledger, planned, "done", ids[index]);
  expect(await within(ledger, 24)).toBe(0);
  await ends(ledger, revoke("a", 2), "done");
  expect(await within(ledger, 24), "once more, and nobody was asked").toBe(2);
});

it("a clock that is set forward ends no window, and what it dates into the future counts when it is set back", async () => {
  let [forward, passed] = [0, 0];
  const clock = {
    ...systemClock,
    now: () => Date.UTC(2026, 9, 1, 8) + passed + forward,
    monotonic: () => passed,
  };
  const { ledger } = await openLedger({ clock });
  await ends(ledger, revoke("a", 2), "done");
  forward = 30 * 24 * hour;
  passed = hour;
  expect([await within(ledger, 24), await within(ledger, 7 * 24)]).toEqual([2, 2]);
  await ends(ledger, revoke("b", 3), "done");
  forward = 0;
  expect(await within(ledger, 24)).toBe(5);
});

it("how much stands is what the rows say, for one customer and for all", async () => {
  const { ledger, path } = await openLedger();
  const database = sqlite(path);
  const at = "2026-10-01T08:00:00.000Z";
  const instances = JSON.stringify([
    { kind: "asset", id: "A", quantity: 2, licenseType: "normal_recover_usbkey" },
    { kind: "asset", id: "B", quantity: 1, licenseType: "cloud_account" },
  ]);
  for (const [customer, products] of [
    ["1", 4],
    ["2", 3],
  ] as const)
    database.exec(
      `insert into record_version (stream, namespace, id, version, from_at, source, place, body)
         values ('orders', 'crm', 'O${customer}', 1, '${at}', 's', 'p', '{"instances":${instances}}');
       insert into placed_order (namespace, order_id, from_at, customer_namespace, customer_id, channel_order_id,
         body_hash, version, origin, products)
         values ('crm', 'O${customer}', '${at}', 'crm', '${customer}', 'CO-${customer}', 'h', 1, 'placed', ${products});
       insert into asset_number (number, origin, taken_at, fixed_at, wire_number, namespace, order_id, instance_id, unit,
         customer_namespace, customer_id, ended_at)
         select value || '-${customer}', 'crm', '', '', value || '-${customer}', 'crm', 'O${customer}',
           substr(value, 1, 1), substr(value, 2), 'crm', '${customer}', iif(value = 'A9', '${at}', null)
         from json_each('["A0", "A1", "A9", "B0"]');
       insert into staff_link (namespace, staff_id, from_at, customer_namespace, customer_id, enterprise_global_id,
         member_global_id, origin, profile)
         select 'crm', value || '${customer}', '${at}', 'crm', '${customer}', 'E', value || '${customer}', value, '{}'
         from json_each('["created", "adopted"]');
       insert into assignment (asset_number, from_at, namespace, staff_id, customer_namespace, customer_id,
         member_global_id, origin)
         values ('A0-${customer}', '${at}', 'crm', 'S', 'crm', '${customer}', 'M', 'granted')`,
    );
  expect(await ledger.state.live(key("1"))).toEqual({ seats: 1, products: 4, accounts: 1, locks: 2 });
  expect(await ledger.state.live()).toEqual({ seats: 2, products: 7, accounts: 2, locks: 4 });
});
