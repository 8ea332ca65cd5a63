import { expect } from "vitest";
import { limitsSettingsSchema, type LimitsSettings } from "../../src/engine/run/run-settings.ts";
import type { Reading } from "../../src/ledger/records/reading.ts";
import type { Seams } from "../simulation/engine.ts";
import type { Crm } from "../support/world/crm.ts";
import { replace, type Breaks } from "./break.ts";
import { BreakWorld } from "./world.ts";

/** One customer of whom so many people hold an asset each. */
function seats(count: number): Crm {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  return {
    customers: [{ id: "C1" }],
    orders: [{ id: "O1", customer: "C1", assets: numbers.map((n) => `A${n}`) }],
    staff: numbers.map((n) => ({ id: `S${n}`, customer: "C1", holds: [`A${n}`] })),
  };
}

const none = { floor: 0, share: 0 };
const many = { floor: 100, share: 1 };
const open = { enterprise: many, run: many, day: many, week: many };

function limits(holdable: Partial<typeof open>, absenceReads: number): { limits: LimitsSettings } {
  return {
    limits: limitsSettingsSchema.parse({ removals: { ...open, ...holdable }, absenceReads, absenceTime: "0s" }),
  };
}

/** Seats were given; from now on `taken` counts those that are taken away. */
async function given(
  seams: Seams,
  settings: Partial<typeof open>,
  { people = 2, absenceReads = 1 } = {},
): Promise<{ w: BreakWorld; taken: () => number; loses: (...people: string[]) => void }> {
  const w = new BreakWorld(seams, seats(people), limits(settings, absenceReads));
  await w.run();
  const before = w.services.observation.state().assignments;
  expect(before, "everybody got a seat").toBe(people);
  return {
    w,
    taken: () => before - w.services.observation.state().assignments,
    loses: (...names) => {
      for (const person of w.crm.staff) if (names.includes(person.id)) person.holds = [];
    },
  };
}

/** A ledger of which each reading that begins is changed. */
function everyReading(change: (reading: Reading) => void): NonNullable<Seams["ledger"]> {
  return ({ records }) =>
    replace(records, "startRead", (real) => async (...asked) => {
      const reading = await real(...asked);
      change(reading);
      return reading;
    });
}

async function heldStays(seams: Seams): Promise<void> {
  const { w, taken, loses } = await given(seams, { run: none }, { people: 1 });
  loses("S1");
  const summary = await w.run();
  expect(taken(), "a seat is taken away that was held").toBe(0);
  expect(summary?.exitCode, "nobody is told that something is held").toBe(4);
}

async function onlyWhatWasApprovedGoes(seams: Seams): Promise<void> {
  const { w, taken, loses } = await given(seams, { run: none });
  loses("S1", "S2");
  await w.run();
  const { ledger } = await w.program();
  const [held] = await ledger.decisions.standing({ customer: { namespace: "crm", id: "C1" }, ofUndo: false });
  await ledger.decisions.approveOperation(held?.operation ?? "", "it is meant", "tester");
  await w.run();
  expect(taken(), "an approval of one operation releases another").toBe(1);
}

async function askedAnew(seams: Seams): Promise<void> {
  const { w, taken, loses } = await given(seams, { run: none });
  loses("S1");
  await w.run();
  const { ledger } = await w.program();
  const [hold] = await ledger.decisions.questions();
  await ledger.decisions.decide(hold?.id ?? "", "approve", "it is meant", "tester");
  w.crm.staff = seats(2).staff;
  await w.run();
  loses("S1");
  await w.run();
  expect(taken(), "an approval outlives what was approved").toBe(0);
}

async function dayIsCounted(seams: Seams): Promise<void> {
  const { w, taken, loses } = await given(seams, { day: { floor: 1, share: 0 } });
  loses("S1");
  await w.run();
  loses("S2");
  await w.run();
  expect(taken(), "more is taken away in a day than is allowed").toBe(1);
}

async function shareIsOfWhatLives(seams: Seams): Promise<void> {
  const { w, taken, loses } = await given(seams, { enterprise: { floor: 0, share: 0.5 } });
  loses("S1", "S2");
  await w.run();
  expect(taken(), "more than the share of an enterprise is taken away").toBe(0);
}

async function missingOnceIsNotGone(seams: Seams): Promise<void> {
  const { w, taken } = await given(seams, {}, { absenceReads: 3 });
  w.crm.staff = w.crm.staff.slice(0, 1);
  await w.run();
  expect(taken(), "a seat is taken away at the first reading without its person").toBe(0);
}

async function cutListTakesNothing(seams: Seams): Promise<void> {
  const { w, taken } = await given(seams, {});
  w.cut.set("staff", 1);
  await w.run();
  expect(taken(), "a seat is taken away because a list broke off").toBe(0);
}

async function halfAnOrderListKeepsSeats(seams: Seams): Promise<void> {
  const { w, taken, loses } = await given(seams, {});
  w.cut.set("orders", 0);
  loses("S1");
  await w.run();
  expect(taken(), "something is taken away while a list that may want it kept was read half").toBe(0);
}

async function emptiedListTakesNothing(seams: Seams): Promise<void> {
  const { w, taken } = await given(seams, {}, { people: 3 });
  w.crm.staff = [];
  await w.run();
  expect(taken(), "seats are taken away because a list is empty").toBe(0);
}

async function unreadableKeepsSeats(seams: Seams): Promise<void> {
  const { w, taken } = await given(seams, {});
  w.crm.staff = w.crm.staff.map((person) => (person.id === "S1" ? { ...person, login: "" } : person));
  await w.run();
  expect(taken(), "a seat is taken from somebody whose row cannot be read").toBe(0);
}

async function cancellationWaits(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams, { ...seats(1), staff: [] }, limits({}, 1));
  await w.run();
  for (const order of w.crm.orders) order.cancelled = true;
  await w.run();
  expect(w.calls("E5"), "a cancelled order is deleted before its policy is earned").toBe(1);
}

async function rejectedStays(seams: Seams): Promise<void> {
  const { w, taken, loses } = await given(seams, { run: none });
  loses("S1");
  await w.run();
  const { ledger } = await w.program();
  const [hold] = await ledger.decisions.questions();
  await ledger.decisions.decide(hold?.id ?? "", "reject", "it is not meant", "tester");
  const summary = await w.run();
  expect(taken(), "what a person rejected is taken away").toBe(0);
  expect(summary?.held, "a person is asked again about what they rejected").toEqual([]);
}

export const removing: Breaks = {
  "what is held is carried out": {
    seam: "ledger.decisions.ask approves what it asks about",
    seams: {
      ledger: ({ decisions }) =>
        replace(decisions, "ask", (real) => async (whose, questions) => {
          const asked = await real(whose, questions);
          for (const { id } of asked) await decisions.decide(id, "approve", "nobody said so", "nobody");
          return asked;
        }),
    },
    check: heldStays,
    says: "a seat is taken away that was held",
    quick: true,
  },
  "nobody is told what is held": {
    seam: "ledger.decisions.questions gives none",
    seams: { ledger: ({ decisions }) => replace(decisions, "questions", () => () => Promise.resolve([])) },
    check: heldStays,
    says: "nobody is told that something is held",
  },
  "an approval is used for another operation": {
    seam: "ledger.decisions.approveOperation approves everything of its question",
    seams: {
      ledger: ({ decisions }) =>
        replace(decisions, "approveOperation", (real) => async (id, reason, by) => {
          const question = await real(id, reason, by);
          await decisions.decide(question.id, "approve", reason, by);
          return question;
        }),
    },
    check: onlyWhatWasApprovedGoes,
    says: "an approval of one operation releases another",
  },
  "an approval outlives what was approved": {
    seam: "ledger.decisions.end ends nothing, and standing says that nothing changed since it was shown",
    seams: {
      ledger: ({ decisions }) => {
        replace(decisions, "end", () => () => Promise.resolve());
        replace(decisions, "standing", (real) => async (whose) => {
          const holds = await real(whose);
          return holds.map((hold) => ({ ...hold, changed: false }));
        });
      },
    },
    check: askedAnew,
    says: "an approval outlives what was approved",
  },
  "limits count the run alone": {
    seam: "ledger.journal.takenSince gives nothing",
    seams: {
      ledger: ({ journal }) =>
        replace(journal, "takenSince", (real) => async () => {
          const never = new Date(Date.UTC(9999, 0)).toISOString();
          return await real(never, never);
        }),
    },
    check: dayIsCounted,
    says: "more is taken away in a day",
  },
  "a share is one of what was never there": {
    seam: "ledger.state.live gives a hundred times as much",
    seams: {
      ledger: ({ state }) =>
        replace(state, "live", (real) => async (customer, things) => {
          const live = await real(customer, things);
          return { ...live, seats: live.seats * 100 };
        }),
    },
    check: shareIsOfWhatLives,
    says: "more than the share of an enterprise",
  },
  "a record is gone at the first reading without it": {
    seam: "a reading of the ledger is told to believe one reading when it is closed",
    seams: {
      ledger: everyReading((reading) =>
        replace(reading, "closeWhole", (real) => (rule) => real(rule && { ...rule, reads: 1, ms: 0 })),
      ),
    },
    check: missingOnceIsNotGone,
    says: "at the first reading without its person",
  },
  "a list that broke off counts as whole": {
    seam: "source.read says that it reached the end",
    seams: {
      source: (real) => ({
        ...real,
        async *read(...asked) {
          const outcome = yield* real.read(...asked);
          return { ...outcome, complete: true };
        },
      }),
    },
    check: cutListTakesNothing,
    says: "because a list broke off",
    quick: true,
  },
  "things are taken away while a list was read half": {
    seam: "ledger.records.lastRead says that it was complete",
    seams: {
      ledger: ({ records }) =>
        replace(records, "lastRead", (real) => async (source, stream) => {
          const read = await real(source, stream);
          return read && { ...read, complete: 1 };
        }),
    },
    check: halfAnOrderListKeepsSeats,
    says: "while a list that may want it kept was read half",
  },
  "a list that lost its rows is believed": {
    seam: "ledger.records.readsToCompare gives no earlier reading",
    seams: { ledger: ({ records }) => replace(records, "readsToCompare", () => () => Promise.resolve([])) },
    check: emptiedListTakesNothing,
    says: "because a list is empty",
  },
  "a row that cannot be read is left out": {
    seam: "a reading of the ledger takes no rejections up",
    seams: {
      ledger: everyReading((reading) =>
        replace(reading, "ingest", (real) => (items) => real(items.filter((item) => "record" in item))),
      ),
    },
    check: unreadableKeepsSeats,
    says: "from somebody whose row cannot be read",
  },
  "a policy is earned from the beginning": {
    seam: "ledger.decisions.earned says that a hundred operations of the policy were approved",
    seams: {
      ledger: ({ decisions }) =>
        replace(decisions, "earned", () => () => Promise.resolve(new Map([["orders.cancelled", 100]]))),
    },
    check: cancellationWaits,
    says: "before its policy is earned",
  },
  "a rejection is forgotten": {
    seam: "ledger.decisions.decide takes a rejection back at once",
    seams: {
      ledger: ({ decisions }) =>
        replace(decisions, "decide", (real) => async (id, verdict, reason, by, shown) => {
          const question = await real(id, verdict, reason, by, shown);
          return verdict === "reject" ? { ...question, ...(await decisions.withdraw(id, reason, by)) } : question;
        }),
    },
    check: rejectedStays,
    says: "a person is asked again",
  },
};
