import type { CrmBooks, ToldRun } from "./crm-books.ts";
import type { Trouble } from "./exceptions.ts";
import type { Balance } from "./runs.ts";
import { edit, small } from "./story.ts";

/** What people decided in February: as they typed it. */
export interface Decision {
  at: string;
  who: string;
  reason: string;
  /** The operation or the hold that they named. */
  id: string;
}

/**
 * A month in which things do not go their way: of C1 an order is refused, one cannot be read any more and two wait for
 * the refused one; of C2 a seat is held back and nobody knows what became of an order. In February people decide.
 */
export async function january(books: CrmBooks): Promise<{ settled: Decision; approved: Decision }> {
  const { policies } = books.extra;
  const settle = { maxWaitMs: 1 };
  books.extra = {
    policies: { ...Object(policies), assignments: { revoked: "ask" } },
    orders: { unseen: "ask" },
    settle,
  };
  for (const person of books.staff) if (person.id === "S3") person.holds = ["A2"];
  const dated = { date: "2027-01-04", placedAt: "2027-01-04T10:00:00Z" };
  books.orders.push(small("O9", "C1", { ...dated, total: "90.90" }));
  books.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004" });
  await books.runs("2027-01-05T10:00:00.000Z", "everything", 3);
  books.sandbox.faults.clear();

  edit(books, "O1", (order) => (order.placedAt = "never"));
  const renewal = {
    id: "A",
    type: "cloud_account",
    quantity: 1,
    continues: { order: "O9", instance: "A-O9" },
  } as const;
  for (const [id, total] of [
    ["O11", "11.11"],
    ["O12", "22.22"],
  ] as const)
    books.orders.push(small(id, "C1", { ...dated, total, assets: [{ ...renewal, id: `A-${id}` }] }));
  books.staff = structuredClone(books.staff);
  for (const person of books.staff) if (person.id === "S3") person.holds = [];
  await books.runs("2027-01-10T16:00:00.000Z", "everything", 4);

  books.orders.push(small("O10", "C2", { ...dated, total: "100.10", currency: "USD" }));
  books.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
  await books.runs("2027-01-26T10:00:00.000Z", "everything", 5);
  books.sandbox.faults.clear();
  for (const minute of ["00", "20"]) await books.runs(`2027-01-30T10:${minute}:00.000Z`, "everything", 5);

  const [open] = books.rows<{ id: string }>("select id from operation where state = 'parked'");
  const [hold] = books.rows<{ id: string }>("select id from question where state = 'open'");
  const settled = { at: "2027-02-02T09:00:00.000Z", who: "anna", reason: "not there", id: open?.id ?? "" };
  const approved = { at: "2027-02-03T09:00:00.000Z", who: "boris", reason: "asked for", id: hold?.id ?? "" };
  const why = ({ who, reason }: Decision) => ["--reason", reason, "--by", who];
  books.at(settled.at);
  const decided = [await books.does("settle", settled.id, "--not-applied", ...why(settled))];
  books.at(approved.at);
  decided.push(await books.does("approve", approved.id, ...why(approved)));
  for (const { exitCode, stderr } of decided) if (exitCode !== 0) throw new Error(stderr);
  return { settled, approved };
}

/** What waits since, and for whom: as the story above brought it about. */
export function januaryTroubles({ told }: CrmBooks, { settled, approved }: Record<"settled" | "approved", Decision>) {
  const runAt = (day: string): ToldRun => {
    const run = told.find(({ at }) => at.startsWith(`2027-01-${day}`));
    if (run === undefined) throw new Error(`nothing ran on ${day} January`);
    return run;
  };
  const [refused, broken, lost, parked] = [runAt("05").at, runAt("10").at, runAt("26").at, runAt("30").at];
  const of = (kind: string, owner: string, customer: string, more: Partial<Trouble>): Trouble => {
    const since = more.since ?? "";
    return { ended: null, record: null, code: null, orders: [], ...more, kind, owner, customer, since };
  };
  const place = { source: "crm", place: "orders.ndjson:1", field: "placedAt" };
  const waits = "operation.open";
  return [
    of("quarantined", "crm", "C1", {
      since: broken,
      record: "order crm/O1",
      code: "not-an-instant",
      orders: ["O1"],
      place,
    }),
    of("deferred", "crm", "C1", { since: refused, record: "order crm/O9", code: "rejected.13004", orders: ["O9"] }),
    ...["O11", "O12"].map((id) =>
      of("deferred", "program", "C1", {
        since: broken,
        record: `order crm/${id}`,
        code: "order.earlier-not-placed",
        orders: [id],
      }),
    ),
    of("deferred", "platform", "C2", { since: parked, record: "order crm/O10", code: waits, orders: ["O10"] }),
    of("deferred", "platform", "C2", { since: parked, record: "staff crm/S3", code: waits }),
    of("rejected", "crm", "C1", {
      since: refused,
      record: "order:crm/O9",
      code: "13004",
      orders: ["O9"],
      sentBy: runAt("05"),
    }),
    of("parked", "operator", "C2", {
      since: lost,
      ended: { at: settled.at, kind: "settled", code: null },
      record: "order:crm/O10",
      orders: ["O10"],
      sentBy: runAt("26"),
    }),
    of("held", "operator", "C2", {
      since: broken,
      ended: { at: approved.at, kind: "held", code: "approved" },
      code: "open",
      count: 1,
    }),
  ];
}

/** What of the runs of January was not simply done: by the day of the run. */
export function januaryBalance({ at }: ToldRun): Balance {
  const of: Record<string, Balance> = {
    "05": { operations: { done: 1, rejected: 1 }, orders: { worked_on: 0, rejected: 1 } },
    "10": { operations: { planned: 1, held: 1 }, orders: { worked_on: 0, quarantined: 1, deferred: 2 } },
    // The broken row is read again, and is no row that is unchanged.
    "26": {
      operations: { carried_in: 1, planned: 1, done: 0, unknown: 1, held: 1 },
      orders: { carried_in: 2, unchanged: 8, worked_on: 1, quarantined: 1, deferred: 2 },
      staff: { carried_in: 1, worked_on: 1 },
    },
    "30": {
      operations: { carried_in: 2, unknown: 1, held: 1 },
      orders: { carried_in: 3, unchanged: 9, worked_on: 0, quarantined: 1, deferred: 3 },
      staff: { carried_in: 1, deferred: 1 },
    },
  };
  return of[at.slice(8, 10)] ?? {};
}
