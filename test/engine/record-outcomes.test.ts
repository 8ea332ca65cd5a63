import { expect, it } from "vitest";
import { Progress, RecordOutcomes } from "../../src/engine/attempt.ts";
import type { RecordOutcome } from "../../src/engine/plan/blocks.ts";
import { type Operation, operation } from "../../src/engine/model/operation.ts";
import { growth, notQuadratic } from "../support/growth.ts";
import { key } from "../support/world/records.ts";

const customer = key("C1");
const why = { code: "service.not-sent", reason: "the service could not be reached" };

function grant(id: string): Operation {
  return operation("grant-assets", {
    customer,
    subject: `staff:crm/${id}`,
    records: [{ stream: "staff", ...key(id) }],
    target: { memberGlobalId: `M-${id}` },
    payload: { deleteAssets: [], addAssets: ["A"] },
    reason: "the CRM gives it",
    before: null,
    after: ["A"],
  });
}

function outcomesOf(...noted: readonly RecordOutcome[]): RecordOutcomes {
  const outcomes = new RecordOutcomes();
  outcomes.note(noted);
  return outcomes;
}

function named(outcomes: RecordOutcomes): Map<string, RecordOutcome> {
  return new Map(outcomes.all.map((outcome) => [subjectOf(outcome.stream, outcome.key), outcome]));
}

const subjectOf = (stream: string, { namespace, id }: { namespace: string; id: string }): string =>
  `${stream} ${namespace}/${id}`;

/** What is left of so many grants that are not sent. */
function unsentOf(many: number): Map<string, RecordOutcome> {
  const ids = Array.from({ length: many }, (_, index) => `S${index}`);
  const operations = ids.map(grant);
  const outcomes = outcomesOf(
    ...ids.slice(1).map((id) => ({ stream: "staff", key: key(id), outcome: "planned" }) as const),
  );
  outcomes.unsent([...operations, ...operations.slice(0, 2)], why);
  return named(outcomes);
}

it(
  "what a service keeps from being sent is deferred once for each record, and costs the same however much it is",
  { tags: "long" },
  async () => {
    const all = unsentOf(1000);
    const deferred = { outcome: "deferred", code: why.code, reason: `M9: ${why.reason}`, again: true };
    expect(all.size).toBe(1000);
    // Of somebody of whom this attempt decides nothing it is the customer's matter.
    expect([...all.keys()]).not.toContain("staff crm/S0");
    expect(all.get("customers crm/C1")).toEqual({ stream: "customers", key: customer, ...deferred });
    expect(all.get("staff crm/S999")).toEqual({ stream: "staff", key: key("S999"), ...deferred });
    expect(await growth(2500, (many) => void unsentOf(many))).toBeLessThan(notQuadratic);
  },
);

const told = { code: "policy.reported", reason: "it is gone from the CRM", again: false };
const refused = { code: "service.refused", reason: "the service refuses this application", again: false };

it("what is not sent of a record that belongs elsewhere is looked at again, whatever the customer waits for", () => {
  for (const waits of [told, refused]) {
    const outcomes = outcomesOf({ stream: "customers", key: customer, outcome: "deferred", ...waits });
    expect(outcomes.unfinished([grant("S0")])).toEqual([{ stream: "customers", key: customer }]);
    outcomes.unsent([grant("S0")], why);
    expect(outcomes.all).toMatchObject([{ outcome: "deferred", code: why.code, again: true }]);
  }
  const waits = { code: "enterprise.customers-not-shown", reason: "not shown yet", again: true };
  const again = outcomesOf({ stream: "customers", key: customer, outcome: "deferred", ...waits });
  again.unsent([grant("S0")], why);
  expect(again.all).toMatchObject([waits]);
});

it("what a stopped attempt did not send is looked at again, whatever is told of its records", () => {
  const said = (id: string, waits: typeof told) =>
    ({ stream: "staff", key: key(id), outcome: "deferred", ...waits }) as const;
  const outcomes = outcomesOf(said("S1", told), said("S2", refused));
  expect(outcomes.unfinished([grant("S1"), grant("S2")])).toEqual([{ stream: "staff", key: key("S1") }]);
  outcomes.unsent([grant("S1"), grant("S2")], why);
  expect(outcomes.all).toMatchObject([{ code: why.code, again: true }, refused]);
});

/** A pass in which so many operations were planned, and were put off or carried out one by one. */
function attempted(many: number): Progress {
  const operations = Array.from({ length: many }, (_, index) => grant(`S${index}`));
  const records = operations.flatMap(({ records: own }) =>
    own.map(({ stream, ...id }) => ({ stream, key: id, outcome: "planned" as const })),
  );
  const progress = new Progress();
  progress.plan(operations, records);
  for (const [index, item] of operations.entries())
    if (index % 2 === 0) progress.carriedOut(item);
    else progress.putOff(item, { ...why, again: true });
  return progress;
}

it(
  "an operation that is put off or carried out costs the same however many the attempt has",
  { tags: "long" },
  async () => {
    const { done, left, delivered, outcomes: kept } = attempted(1000);
    expect({ done, left: left.length, delivered: delivered.size }).toEqual({
      done: 500,
      left: 0,
      delivered: 1000,
    });
    const outcomes = kept.all.map(({ outcome }) => outcome);
    expect(outcomes).toEqual(Array.from({ length: 1000 }, (_, index) => (index % 2 === 0 ? "planned" : "deferred")));

    expect(await growth(2000, (many) => void attempted(many))).toBeLessThan(notQuadratic);
  },
);

it("a later plan does not replace that a record waits, and does replace that it was rejected", () => {
  const outcomes = outcomesOf();
  outcomes.wait([{ stream: "staff", ...key("S1") }], { ...why, again: true });
  outcomes.reject([{ stream: "staff", ...key("S2") }], why);
  outcomes.note(["S1", "S2"].map((id) => ({ stream: "staff", key: key(id), outcome: "planned" })));
  expect(outcomes.all.map(({ outcome }) => outcome)).toEqual(["deferred", "planned"]);
});

it("a pass forgets what goes in parts once the parts are planned, and knows what was refused, tried and left", () => {
  const [one, other, third] = [grant("S1"), grant("S2"), grant("S3")];
  const progress = new Progress();
  progress.plan([one, other], []);
  const why = { code: "rejected.10004", reason: "no" };
  progress.refused(one, why, true);
  expect([progress.inParts, [...progress.short], progress.left]).toEqual([[one], [], [other]]);
  expect([...progress.tried]).toEqual([one.subject]);
  progress.plan([third], []);
  expect([progress.inParts, progress.left.length]).toEqual([[], 2]);
  progress.carriedOut(other, [{ key: key("S2"), message: "no" }]);
  expect([progress.done, [...progress.short], progress.left]).toEqual([1, ["refused"], [third]]);
  expect(named(progress.outcomes).get("staff crm/S2")).toMatchObject({ outcome: "rejected", code: "staff.refused" });
  progress.notReached(third, why);
  expect([[...progress.short], [...progress.unreached], progress.left]).toEqual([
    ["refused", "unreached"],
    ["member-center"],
    [],
  ]);
});

it("what was not sent stays open, also if the reason that its record had before is gone in a later plan of the pass", () => {
  const record = { stream: "staff", key: key("S1") } as const;
  const unread = { code: "service.unreadable", reason: "M5 returned an incomplete list", again: true };
  const outcomes = outcomesOf({ ...record, outcome: "deferred", ...unread });
  outcomes.unsent([grant("S1")], why);
  outcomes.note([{ ...record, outcome: "planned" }]);
  expect(outcomes.all).toEqual([{ ...record, outcome: "deferred", ...unread }]);
});
