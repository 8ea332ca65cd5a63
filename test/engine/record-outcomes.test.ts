import { expect, it } from "vitest";
import { advance, leftIn, newAttempt, triedIn } from "../../src/engine/attempt.ts";
import type { AttemptState } from "../../src/engine/attempt.ts";
import { deferredUnsent, noOutcomes, noted, unfinishedIn } from "../../src/engine/outcomes.ts";
import type { Operation } from "../../src/engine/model/operation.ts";
import { operation } from "../../src/engine/model/operation.ts";
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

function deferredOf(many: number): ReturnType<typeof deferredUnsent>["all"] {
  const ids = Array.from({ length: many }, (_, index) => `S${index}`);
  const operations = ids.map(grant);
  const planned = noted(
    noOutcomes,
    ids.slice(1).map((id) => ({ stream: "staff", key: key(id), outcome: "planned" })),
  );
  return deferredUnsent(planned, [...operations, ...operations.slice(0, 2)], why).all;
}

it(
  "what a service keeps from being sent is deferred once for each record, and costs the same however much it is",
  { tags: "long" },
  async () => {
    const all = deferredOf(1000);
    const deferred = { outcome: "deferred", code: why.code, reason: `M9: ${why.reason}`, again: true };
    expect(all.size).toBe(1000);
    // Of somebody of whom this attempt decides nothing it is the customer's matter.
    expect([...all.keys()]).not.toContain("staff crm/S0");
    expect(all.get("customers crm/C1")).toEqual({ stream: "customers", key: customer, ...deferred });
    expect(all.get("staff crm/S999")).toEqual({ stream: "staff", key: key("S999"), ...deferred });
    expect(await growth(2500, (many) => void deferredOf(many))).toBeLessThan(notQuadratic);
  },
);

const told = { code: "policy.reported", reason: "it is gone from the CRM", again: false };
const refused = { code: "service.refused", reason: "the service refuses this application", again: false };

it("what is not sent of a record that belongs elsewhere is looked at again, whatever the customer waits for", () => {
  for (const waits of [told, refused]) {
    const before = noted(noOutcomes, [{ stream: "customers", key: customer, outcome: "deferred", ...waits }]);
    const after = deferredUnsent(before, [grant("S0")], why).all.get("customers crm/C1");
    expect(after).toMatchObject({ outcome: "deferred", code: why.code, again: true });
    expect(unfinishedIn(before, [grant("S0")])).toEqual([{ stream: "customers", key: customer }]);
  }
  const waits = { code: "enterprise.customers-not-shown", reason: "not shown yet", again: true };
  const again = noted(noOutcomes, [{ stream: "customers", key: customer, outcome: "deferred", ...waits }]);
  expect(deferredUnsent(again, [grant("S0")], why).all.get("customers crm/C1")).toMatchObject(waits);
});

it("what a stopped attempt did not send is looked at again, whatever is told of its records", () => {
  const said = (id: string, waits: typeof told) =>
    ({ stream: "staff", key: key(id), outcome: "deferred", ...waits }) as const;
  const outcomes = noted(noOutcomes, [said("S1", told), said("S2", refused)]);
  expect(unfinishedIn(outcomes, [grant("S1"), grant("S2")])).toEqual([{ stream: "staff", key: key("S1") }]);
  const { all } = deferredUnsent(outcomes, [grant("S1"), grant("S2")], why);
  expect([all.get("staff crm/S1"), all.get("staff crm/S2")]).toMatchObject([{ code: why.code, again: true }, refused]);
});

/** An attempt in which so many operations were planned, and were put off or carried out one by one. */
function attempted(many: number): AttemptState {
  const operations = Array.from({ length: many }, (_, index) => grant(`S${index}`));
  const records = operations.flatMap(({ records: own }) =>
    own.map(({ stream, ...id }) => ({ stream, key: id, outcome: "planned" as const })),
  );
  const planned = advance(newAttempt, { type: "planned", operations, records });
  return operations.reduce((state, item, index) => {
    if (index % 2 === 0) return advance(state, { type: "done", operation: item, refused: [] });
    return advance(state, { type: "put-off", operation: item, why: { ...why, again: true } });
  }, planned);
}

it(
  "an operation that is put off or carried out costs the same however many the attempt has",
  { tags: "long" },
  async () => {
    const state = attempted(1000);
    expect({ done: state.done, left: leftIn(state).length, delivered: state.delivered.size }).toEqual({
      done: 500,
      left: 0,
      delivered: 1000,
    });
    const outcomes = [...state.outcomes.all.values()].map(({ outcome }) => outcome);
    expect(outcomes).toEqual(Array.from({ length: 1000 }, (_, index) => (index % 2 === 0 ? "planned" : "deferred")));

    expect(await growth(2000, (many) => void attempted(many))).toBeLessThan(notQuadratic);
  },
);

it("what an attempt came to before stays as it was, whatever follows it", () => {
  const operations = ["S1", "S2"].map(grant);
  const [one, two] = operations;
  if (one === undefined || two === undefined) throw new Error("two operations");
  const planned = advance(newAttempt, { type: "planned", operations, records: [] });
  const putOff = (state: AttemptState, item: Operation): AttemptState =>
    advance(state, { type: "put-off", operation: item, why: { ...why, again: true } });
  const [first, second] = [putOff(planned, one), putOff(planned, two)];
  putOff(first, two);
  expect(leftIn(planned)).toEqual(operations);
  expect(leftIn(first)).toEqual([two]);
  expect(leftIn(second)).toEqual([one]);
  expect([...planned.outcomes.all]).toEqual([]);
  expect([...first.outcomes.all.keys()]).toEqual(["customers crm/C1"]);
});

it("an attempt forgets what goes in parts once the parts are planned, and knows what was refused, tried and left", () => {
  const [one, other] = [grant("S1"), grant("S2")];
  const planned = advance(newAttempt, { type: "planned", operations: [one, other], records: [] });
  const why = { code: "rejected.10004", reason: "no" };
  const inParts = advance(planned, { type: "refused", operation: one, why, shared: true });
  expect([inParts.inParts, [...inParts.short], leftIn(inParts)]).toEqual([[one], [], [other]]);
  expect([...triedIn(inParts)]).toEqual([one.subject]);
  const parts = advance(inParts, { type: "planned", operations: [grant("S3")], records: [] });
  expect([parts.inParts, leftIn(parts).length]).toEqual([[], 2]);
  const done = advance(parts, { type: "done", operation: other, refused: [{ key: key("S2"), message: "no" }] });
  expect([done.done, [...done.short], leftIn(done)]).toEqual([1, ["refused"], [grant("S3")]]);
  expect(done.outcomes.all.get("staff crm/S2")).toMatchObject({ outcome: "rejected", code: "staff.refused" });
  const [left] = leftIn(done);
  if (left === undefined) throw new Error("one is left");
  const unsent = advance(done, { type: "unsent", operations: [left], why, unreached: "member-center" });
  expect([[...unsent.short], [...unsent.unreached], leftIn(unsent)]).toEqual([
    ["refused", "unreached"],
    ["member-center"],
    [],
  ]);
});
