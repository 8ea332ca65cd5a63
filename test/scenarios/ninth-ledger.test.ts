import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, expect, it, vi } from "vitest";
import { z } from "zod";
import { canary } from "../support/world/crm.ts";
import type { Crm } from "../support/world/crm.ts";
import { folder as newFolder } from "../support/world/start.ts";
import { world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { expectStated } from "./ninth-reports.ts";

/**
 * A ledger with the sandbox it belongs to, as the version of the ninth migration left them when it was killed, and what
 * that version printed about it at 05:00. Two calls in progress (E5 for C4, which
 * the sandbox has carried out since, and M1 for C5, which it has not), two of unknown outcome that never arrived (E5
 * for C3, E2 for C10), by a clock that was set back since; an E5 parked for a person (C2), a revoke planned (C8), six
 * held (C6) and six approved (C7), a person whom M1 rejected (C9), an order and a person in quarantine and a person who
 * waits for that order (C1), an order of a customer nobody knows (O12), the circuit of the member-center open, one run
 * interrupted and found, one still to be found, by a fire time that is not finished.
 */
const kept = join(import.meta.dirname, "../ledger/ninth");

function unpacked(name: string): Buffer {
  return gunzipSync(readFileSync(join(kept, `${name}.gz`)));
}

const printed = z
  .array(z.object({ words: z.array(z.string()), printed: z.string() }))
  .parse(JSON.parse(unpacked("printed.json").toString()));

/** Words that stand for the same fact in the program of now. */
const renamed: [then: RegExp | string, now: string][] = [
  ["service   member-center: left alone since", "circuit   member-center: open since"],
  ["cut-off", "interrupted"],
  ['"servicesLeft":', '"openCircuits":'],
  ["member-center is left alone since", "the circuit of member-center is open since"],
  ["taken up  by run", "ingested  by run"],
  ["taken up and waits", "ingested and waits"],
  ["  again", "  carried in"],
  [/the audit record is good: (?=75 )/gu, "integrity  good: "],
  [", and 37 kept head(s) fit", ", and the tree is theirs"],
  [
    "\nhead: entry",
    "\ncompleteness  good: nothing that 37 kept head(s) outside the database name is missing" +
      "\nfreshness  good: the last entry is 6 min old\nhead  entry",
  ],
];

const treeOfNow = /(audit head: 75 \w+), tree 1 \w+/gu;
/** What stands of the audit head beside what stood there then. */
const headOfNow = /"auditHead":\{("hash":"\w+"),"root":"\w+",("sequence":\d+),"size":1\}/gu;

function inWordsOfNow(text: string): string {
  return renamed.reduce((said, [then, now]) => said.replaceAll(then, now), text);
}

/** Lines; a column is as wide as its longest word, which may be another one now. */
function inColumns(text: string): string[] {
  return text.split("\n").map((line) => line.replaceAll(/(?<=\S) {2,}/gu, "  "));
}

afterEach(() => void vi.restoreAllMocks());

/** Lets the clock of the machine, and so of the program and the sandbox in this process, begin at this time. */
function beginAt(time: string, goesOn: boolean): void {
  const now = Date.now.bind(Date);
  const [began, from] = [now(), Date.parse(time)];
  vi.spyOn(Date, "now").mockImplementation(() => (goesOn ? from + now() - began : from));
}

async function keptWorld(): Promise<World> {
  const store = join(newFolder(), "sandbox.db");
  writeFileSync(store, unpacked("sandbox.db"));
  const records: Crm = JSON.parse(readFileSync(join(kept, "records.json"), "utf8"));
  const w = await world({ records, sandbox: { store }, isNew: true });
  w.extra = `orders: { unseen: ask }
jobs:
  customers-and-orders: { enabled: false }
  staff: { enabled: false }
  monthly-report: { enabled: false }
  everything: { kind: sync, streams: [customers, orders, staff], schedule: "* * * * *" }
`;
  w.write();
  writeFileSync(w.path("ledger.db"), unpacked("ledger.db"));
  copyFileSync(join(kept, "heads.ndjson"), w.path("ledger.db.heads"));
  return w;
}

const entries =
  "select sequence, format, at, kind, subject, body, previous, hash from audit order by sequence limit 75";

it("a ledger of the ninth migration says after the newest what it said before, in the words of now", async () => {
  const w = await keptWorld();
  beginAt("2026-11-22T05:00:00Z", false);
  const before = w.rows(entries);
  expect(before).toHaveLength(75);
  const notes = w.rows(
    "select substr(key, length('clock-set-back ') + 1) as subject, value from meta where key like 'clock-set-back %' order by 1",
  );
  expect(notes).toHaveLength(2);
  expect((await w.run("migrate")).exitCode).toBe(0);
  expect(w.rows(entries)).toEqual(before);
  // Since when the settle times of what met a clock that was set back are counted.
  expect(w.rows("select subject, future || ' ' || met_at as value from clock_note order by 1")).toEqual(notes);
  const folder = /\/[\w/.-]*\/crm-sync-\w+-\w+\//gu;
  for (const { words, printed: then } of printed) {
    if (words[0] === "report") {
      await expectStated(w, words, inWordsOfNow(then));
      continue;
    }
    const { stdout } = await w.run(...words);
    const now = stdout
      .replaceAll(folder, "FOLDER/")
      .replaceAll(headOfNow, '"auditHead":{$1,$2}')
      .replaceAll(treeOfNow, "$1");
    if (words.includes("--json"))
      expect.soft(JSON.parse(now), words.join(" ")).toMatchObject(JSON.parse(inWordsOfNow(then)));
    else expect.soft(inColumns(now), words.join(" ")).toEqual(inColumns(inWordsOfNow(then)));
  }
});

it("what a ledger of the ninth migration holds in doubt, held, planned and rejected goes on, and nothing is sent twice", async () => {
  const w = await keptWorld();
  beginAt("2026-11-22T06:00:00Z", true);
  const before = w.rows(entries);
  const does = async (exit: number, ...words: string[]): Promise<Record<string, number>> => {
    const { result, calls } = await w.writes(() => w.run(...words));
    expect(result.exitCode, `${words.join(" ")}\n${result.stdout}${result.stderr}`).toBe(exit);
    return calls;
  };
  await does(0, "migrate");

  // The order that came after all is found and not placed again; the person is added, the enterprise is made, the
  // approved revokes and the planned one go out. The person whom M1 refused is tried once more, because the contract's
  // settings are more now. Two orders that are not shown wait for a person.
  expect(await does(5, "run", "everything")).toEqual({ E2: 1, E5: 1, M1: 3, M9: 8 });
  expect(w.sandbox.state()).toMatchObject({ enterprises: 11, licenseOrders: 12, addedStaff: 29, assignments: 18 });
  const parked = w.rows<{ id: string; subject: string; why: string }>(
    "select id, subject, outcome_message as why from operation where state = 'parked' order by subject",
  );
  const why = "the platform does not show the order, which proves nothing; a person decides (orders.unseen: ask)";
  expect(parked).toMatchObject([
    { subject: "order:crm/O2b", why },
    { subject: "order:crm/O3b", why },
  ]);
  const held = w.rows<{ count: number }>("select count(*) as count from operation where state = 'held'");
  expect(held).toEqual([{ count: 6 }]);

  await does(0, "settle", ...parked.map((row) => row.id), "--not-applied", "--reason", "none there", "--by", "anna");
  const [hold] = w.rows<{ id: string }>("select id from hold where state = 'open'");
  await does(0, "approve", hold?.id ?? "", "--reason", "asked the customer", "--by", "anna");
  for (const person of w.staff) if (person.id === "S1-2" || person.id === "S9-2") person.name = canary.person;
  for (const order of w.orders) if (order.id === "O1b") delete order.products;
  w.customers.push({ id: "C12", name: `${canary.name} 12` });
  w.write();
  expect(await does(0, "run", "everything")).toEqual({ E2: 1, E5: 4, M1: 1, M2: 1, M9: 7 });
  expect(await does(0, "run", "everything")).toEqual({});
  expect(Object.values(w.sandbox.duplicates()).flat()).toEqual([]);
  const { orders, ...state } = w.sandbox.state();
  expect(state).toMatchObject({ enterprises: 12, licenseOrders: 16, addedStaff: 30, assignments: 13 });
  expect(Object.values(orders).filter(({ calls }) => calls !== 1)).toEqual([]);
  expect(w.rows(entries)).toEqual(before);
  await does(0, "audit", "verify");
});
