import { copyFileSync } from "node:fs";
import { expect } from "vitest";
import type { Json } from "../../src/base/canonical-json.ts";
import { Problem } from "../../src/base/errors.ts";
import { TransportFailure } from "../../src/http/transport.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { isPrivateMarker } from "../../src/engine/model/references.ts";
import { failure } from "../../src/sandbox/answers.ts";
import type { Seams } from "../simulation/engine.ts";
import { privateText } from "../support/world/crm.ts";
import { replace, type Breaks } from "./break.ts";
import { BreakWorld, oneCustomer } from "./world.ts";

/** What can be seen of a private text or a token, in the log or in the ledger beside the table of private values. */
function shown(w: BreakWorld): string[] {
  const secret = /sandbox-app-token|sandbox-user-token/u;
  const inLedger = w.look((view) => [...view.texts(["private_value"])]);
  const inLog = w.log.map((text) => ({ place: "log", text }));
  const seen = [...inLedger, ...inLog].filter(({ text }) => privateText.test(text) || secret.test(text));
  return [...new Set(seen.map(({ place }) => place))];
}

async function nothingPrivateIsShown(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams);
  w.services.refuses = (operation) => (operation === "M9" ? failure("60023", "Zqcanary Person S1 may not") : undefined);
  await w.run();
  expect(shown(w), "something private is shown").toEqual([]);
}

async function failuresShowNoToken(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams);
  w.services.plan({ operation: "M5", fault: "resetBefore", times: 3 });
  await w.run();
  expect(shown(w), "a token is shown").toEqual([]);
}

async function passwordsAreWiped(seams: Seams): Promise<void> {
  const crm = oneCustomer();
  for (const order of crm.orders) order.assets = [{ id: "A1" }];
  for (const order of crm.orders) order.products = [{ id: "A1-P", parent: "A1", passwords: ["zqcanary-licence"] }];
  const w = new BreakWorld(seams, crm);
  const { ledger } = await w.program();
  await w.run();
  const { values } = await ledger.private.latestSealed("orders/crm/O1");
  expect(w.states("E5"), "the order is placed").toEqual({ done: 1 });
  expect(values, "a licence password is kept after it did its work").toBeUndefined();
}

async function adoptionIsOnRecord(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams);
  w.services.byHand("E2", [], { crmCustomerId: "C1", customerName: "There", branchName: "Old" });
  await w.run();
  const kinds = w.look((view) => view.auditEntries().map((entry) => entry.kind));
  expect(kinds, "no entry says what a look at an enterprise taught").toContain("examined");
}

async function olderLedgerIsRefused(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams);
  await w.run();
  w.leave();
  copyFileSync(w.path, `${w.path}.copy`);
  w.crm.orders.push({ id: "O2", customer: "C1", assets: ["B1"] });
  await w.run();
  w.leave();
  copyFileSync(`${w.path}.copy`, w.path);
  const refused = await w.run().catch((error: unknown) => error);
  expect(refused, "an older ledger is worked with").toMatchObject({ code: "ledger.behind" });
}

async function oneRunAtATime(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams);
  const [one, other] = [await w.program(), await w.another()];
  one.ledger.runs.takeLock();
  let second: unknown;
  try {
    other.ledger.runs.takeLock();
  } catch (error) {
    second = error;
  }
  expect(second instanceof Problem ? second.code : second, "two runs are on at once").toBe("run.active");
}

async function runBalances(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams);
  const summary = await w.run();
  expect(summary?.balance.adds, "the run does not balance").toBe(true);
  expect(summary?.open, "what is done is told of as not done").toEqual([]);
}

async function refusalIsTold(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams);
  w.services.refuses = (operation) => (operation === "E5" ? failure("13004", "no") : undefined);
  const summary = await w.run();
  const told = summary?.open.flatMap((group) => group.examples.map((one) => one.record));
  expect(told, "nobody is told which order was refused").toContain("crm/O1");
}

async function openIsTold(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams, oneCustomer(), { ordersUnseen: "ask" });
  w.services.plan({ operation: "E5", fault: "resetBefore" });
  const summary = await w.run();
  expect(summary?.exitCode, "a run ends well although the outcome of an order is not known").toBe(5);
}

async function putOffIsDone(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams);
  w.services.plan({ operation: "E9", fault: "code500", times: 3 });
  await w.run();
  await w.pass(60_000);
  await w.run();
  expect(w.states("E5")["done"], "what could not be done in one run is forgotten").toBe(1);
}

async function slotFiresOnce(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams);
  const [one, other] = [await w.program(), await w.another()];
  const slot = new Date(Date.UTC(2026, 2, 29)).toISOString();
  const fires = [
    await one.ledger.schedule.claim("everything", slot),
    await other.ledger.schedule.claim("everything", slot),
  ];
  expect(fires, "one fire time has two runs").toEqual([true, false]);
}

async function toldOnce(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams);
  w.services.refuses = (operation) => (operation === "E5" ? failure("13004", "no") : undefined);
  for (let run = 0; run < 2; run += 1) {
    const summary = await w.run();
    if (summary !== undefined) await (await w.program()).tell(summary);
  }
  const told = w.log.filter((line) => line.includes("rejected.13004") && line.includes('"alert"'));
  expect(told.length, "people are told of one thing by each run").toBe(1);
}

/** The same with the private values behind its markers. */
function revealed(ledger: Ledger, value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => revealed(ledger, item));
  if (typeof value !== "object" || value === null) return value;
  if (isPrivateMarker(value)) return ledger.private.valueOf(value) ?? null;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, revealed(ledger, item ?? null)]));
}

export const keeping: Breaks = {
  "words of a service are told as they are": {
    seam: "ledger.journal.conclude is given the answer of the service as what is told of it",
    seams: {
      ledger: (ledger) =>
        replace(
          ledger.journal,
          "conclude",
          (real) => async (id, end) => await real(id, { ...end, message: end.answer ?? end.message }),
        ),
    },
    check: nothingPrivateIsShown,
    says: "something private is shown",
    quick: true,
  },
  "the journal keeps what is sent in clear": {
    seam: "ledger.journal.intend is given the payload with its private values beside what is kept of it",
    seams: {
      ledger: (ledger) =>
        replace(ledger.journal, "intend", (real) => (entry) => {
          const sent = JSON.stringify(revealed(ledger, entry.operation.payload));
          return real({ ...entry, context: { ...entry.context, sent } });
        }),
    },
    check: nothingPrivateIsShown,
    says: "something private is shown",
    simulated: { seed: 1, says: "holds something private" },
  },
  "a failure quotes its request": {
    seam: "transport.send gives the headers as the reason of a failure",
    seams: {
      transport: (real) => ({
        ...real,
        send: (request) =>
          real.send(request).catch(() => {
            throw new TransportFailure({ written: true, reason: request.headers.join(" ") });
          }),
      }),
    },
    check: failuresShowNoToken,
    says: "a token is shown",
  },
  "passwords are kept after they did their work": {
    seam: "ledger.journal.conclude and concludeAhead are not told to wipe secrets",
    seams: {
      ledger: ({ journal }) => {
        const kept = <Conclusion extends { changes: readonly { type: string }[] }>(
          conclusion: Conclusion,
        ): Conclusion => ({
          ...conclusion,
          changes: conclusion.changes.filter(({ type }) => type !== "secrets-wiped"),
        });
        replace(journal, "conclude", (real) => (id, conclusion) => real(id, kept(conclusion)));
        replace(journal, "concludeAhead", (real) => (id, conclusion, sequence) => real(id, kept(conclusion), sequence));
      },
    },
    check: passwordsAreWiped,
    says: "a licence password is kept",
  },
  "a change by a reading has no audit entry": {
    seam: "ledger.state.record is not given its entry",
    seams: {
      ledger: ({ state }) => replace(state, "record", (real) => (customer, changes) => real(customer, changes)),
    },
    check: adoptionIsOnRecord,
    says: "no entry says what a look at an enterprise taught",
  },
  "an older ledger is worked with": {
    seam: "the ledger is opened as a rebuild opens it (fillsGap)",
    seams: { opened: (options) => ({ ...options, fillsGap: true }) },
    check: olderLedgerIsRefused,
    says: "an older ledger is worked with",
  },
  "the run lock is not taken": {
    seam: "ledger.runs.takeLock does nothing",
    seams: { ledger: ({ runs }) => replace(runs, "takeLock", () => () => {}) },
    check: oneRunAtATime,
    says: "two runs are on at once",
    quick: true,
  },
  "a record has no outcome": {
    seam: "ledger.records.setOutcomes and setOutcomesAhead leave the first record out",
    seams: {
      ledger: ({ records }) => {
        replace(
          records,
          "setOutcomes",
          (real) =>
            (run, outcomes, ...others) =>
              real(run, [...outcomes].slice(1), ...others),
        );
        replace(
          records,
          "setOutcomesAhead",
          (real) => (run, outcomes, sequence) => real(run, outcomes.slice(1), sequence),
        );
      },
    },
    check: runBalances,
    says: "what is done is told of as not done",
  },
  "the balance leaves a record out": {
    seam: "ledger.runs.countsOf counts one record less as worked on",
    seams: {
      ledger: ({ runs }) =>
        replace(runs, "countsOf", (real) => async (run) => {
          const counts = await real(run);
          return { ...counts, records: counts.records.map((one) => ({ ...one, workedOn: one.workedOn - 1 })) };
        }),
    },
    check: runBalances,
    says: "the run does not balance",
  },
  "what is not done is told of nowhere": {
    seam: "ledger.records.open gives nothing",
    seams: { ledger: ({ records }) => replace(records, "open", () => () => Promise.resolve([])) },
    check: refusalIsTold,
    says: "nobody is told which order was refused",
    simulated: { seed: 1, says: "is not in the status" },
  },
  "an outcome that is not known is told of nowhere": {
    seam: "ledger.journal.open gives nothing",
    seams: { ledger: ({ journal }) => replace(journal, "open", () => () => Promise.resolve([])) },
    check: openIsTold,
    says: "although the outcome of an order is not known",
  },
  "what was put off is forgotten": {
    seam: "ledger.records.setOutcomes says planned in the place of deferred",
    seams: {
      ledger: ({ records }) =>
        replace(
          records,
          "setOutcomes",
          (real) => (run, outcomes) =>
            real(
              run,
              [...outcomes].map(({ stream, key }) => ({ stream, key, outcome: "planned" })),
            ),
        ),
    },
    check: putOffIsDone,
    says: "what could not be done in one run is forgotten",
    simulated: { seed: 1, says: "lost: order" },
  },
  "a fire time is claimed twice": {
    seam: "ledger.schedule.claim says yes",
    seams: { ledger: ({ schedule }) => replace(schedule, "claim", () => () => Promise.resolve(true)) },
    check: slotFiresOnce,
    says: "one fire time has two runs",
  },
  "what people were told is forgotten": {
    seam: "ledger.schedule.tellAlerts keeps nothing",
    seams: { ledger: ({ schedule }) => replace(schedule, "tellAlerts", () => () => Promise.resolve()) },
    check: toldOnce,
    says: "people are told of one thing by each run",
  },
};
