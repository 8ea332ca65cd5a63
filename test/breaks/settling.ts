import { expect } from "vitest";
import { z } from "zod";
import type { Clock } from "../../src/base/clock.ts";
import { ReadFailure } from "../../src/http/call.ts";
import type { Configuration, Seams } from "../simulation/engine.ts";
import { memberCenter, orderService, replace, type Breaks } from "./break.ts";
import { staffRow } from "../support/world/crm.ts";
import { BreakWorld, oneCustomer, oneOrder } from "./world.ts";

const hour = 3_600_000;
/** A run does not wait for settle times. */
const impatient: Partial<Configuration> = {
  settle: { timeMs: 4_000, readings: 2, maxWaitMs: 0, asyncDeadlineMs: 20_000, asyncPauseMs: 500 },
};

/** What a reading that gave nothing shows, where somebody takes that for "none". */
async function orNone<T>(reading: Promise<T>, none: T): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ReadFailure) return none;
    throw error;
  }
}

async function lateOrderIsSentOnce(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams, oneOrder());
  w.services.plan({ operation: "E5", fault: "appliedLate", delayMs: 3_500 });
  w.services.onLeave = () => {
    if (w.offset === 0 && w.states("E5")["unknown"] === 1) w.offset = hour;
  };
  await w.run();
  await w.pass(10_000);
  await w.run();
  expect(w.calls("E5"), "an order that landed within the settle time is sent twice").toBe(1);
}

async function laterProgramWaitsToo(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams, oneCustomer(), impatient);
  w.services.plan({ operation: "E5", fault: "appliedLate", delayMs: 3_900 });
  await w.run();
  await w.restart();
  w.offset += hour;
  for (let run = 0; run < 4; run += 1) await w.run();
  await w.pass(10_000);
  await w.run();
  expect(w.calls("E5"), "an order that landed within the settle time is sent twice").toBe(1);
}

async function killedOrderIsFoundOut(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams, oneOrder());
  w.dies("E5");
  await w.run();
  await w.pass(100);
  await w.restart();
  await w.run();
  expect(w.calls("E5"), "an order that left before the kill is sent twice").toBe(1);
  expect(w.states("E5"), "nobody finds out what became of the order").toEqual({ done: 1 });
}

async function somebodyIsAsked(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams, oneOrder(), { ordersUnseen: "ask" });
  w.services.plan({ operation: "E5", fault: "resetBefore" });
  for (let run = 0; run < 3; run += 1) {
    await w.run();
    await w.pass(10_000);
  }
  expect(w.states("E5"), "nobody is asked about an order that is never shown").toEqual({ parked: 1 });
}

async function sentThreeTimesAtMost(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams, oneOrder());
  w.services.plan({ operation: "E5", fault: "resetBefore", times: 20 });
  for (let run = 0; run < 6; run += 1) {
    await w.run();
    await w.pass(10_000);
  }
  expect(w.calls("E5"), "an order is sent over and over, and nobody is asked").toBe(3);
}

async function failedReadingsSayNothing(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams, oneOrder());
  w.services.plan({ operation: "E5", fault: "appliedNoReply" });
  w.services.onLeave = (left) => {
    if (left !== "E5") return;
    for (const operation of ["M6", "E8"] as const) w.services.plan({ operation, fault: "wrongShape", times: 20 });
  };
  for (let run = 0; run < 6; run += 1) {
    await w.run();
    await w.pass(10_000);
  }
  expect(w.calls("E5"), "an order is sent twice because nobody could look for it").toBe(1);
}

async function cloudAssetsAreSeen(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams, oneOrder());
  w.services.plan({ operation: "E5", fault: "appliedNoReply" });
  w.services.plan({ operation: "M6", fault: "oddData", value: [], times: 20 });
  for (let run = 0; run < 3; run += 1) {
    await w.run();
    await w.pass(10_000);
  }
  expect(w.calls("E5"), "an order is sent twice although E8 shows it").toBe(1);
}

async function nobodyIsAddedUnseen(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams);
  await w.run();
  w.crm.staff.push({ id: "S2", customer: "C1" });
  w.services.plan({ operation: "M5", fault: "code500", times: 20 });
  await w.run();
  expect(w.calls("M1"), "somebody is added although nobody could look who is there").toBe(1);
}

async function whoIsThereIsNotAdded(seams: Seams): Promise<void> {
  const crm = oneCustomer();
  for (const id of ["S2", "S3", "S4", "S5"]) crm.staff.push({ id, customer: "C1" });
  const w = new BreakWorld(seams, crm);
  const made = w.services.byHand("E2", [], { crmCustomerId: "C1", customerName: "There", branchName: "Old" });
  const { enterpriseGlobalId } = z.looseObject({ enterpriseGlobalId: z.string() }).parse(made.data);
  const userList = crm.staff
    .map(staffRow)
    .map(({ login: userName, name }) => ({ userName, name, password: "Pass1234" }));
  w.services.byHand("M1", [enterpriseGlobalId], { userList });
  await w.run();
  expect(w.calls("M1"), "people are added who stand on the second page").toBe(0);
}

async function noSecondEnterprise(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams);
  w.services.byHand("E2", [], { crmCustomerId: "C1", customerName: "There", branchName: "Old" });
  w.services.plan({ operation: "E3", fault: "code500", times: 20 });
  await w.run();
  expect(w.calls("E2"), "an enterprise is made although nobody could look for it").toBe(0);
}

async function unconfirmedEnterpriseIsMadeOnce(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams);
  w.services.plan({ operation: "E2", fault: "appliedNoReply" });
  w.services.plan({ operation: "E3", fault: "oddData", value: [], times: 60 });
  for (let run = 0; run < 4; run += 1) {
    await w.run();
    await w.pass(10_000);
  }
  expect(w.calls("E2"), "an enterprise is made twice because E3 does not show it").toBe(1);
}

async function newestNameStands(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams, oneCustomer(), impatient);
  await w.run();
  w.services.plan({ operation: "E4", fault: "appliedLate", delayMs: 2_500 });
  w.crm.customers = [{ id: "C1", name: "Zqcanary Second" }];
  await w.run();
  w.crm.customers = [{ id: "C1", name: "Zqcanary Third" }];
  await w.restart();
  for (let run = 0; run < 3; run += 1) {
    await w.run();
    await w.pass(10_000);
  }
  const name = w.services.store.prepare<[], string>("select name from customers where is_default = 1").pluck().get();
  expect(name, "an earlier name landed over a newer one").toBe("Zqcanary Third");
}

export const settling: Breaks = {
  "settle times are counted on the wall clock": {
    seam: "clock.monotonic gives what the wall clock says",
    seams: { clock: (real: Clock) => ({ ...real, monotonic: () => real.now() }) },
    check: lateOrderIsSentOnce,
    says: "is sent twice",
    quick: true,
  },
  "the attempts of an operation are forgotten": {
    seam: "ledger.journal.attempts gives none",
    seams: { ledger: ({ journal }) => replace(journal, "attempts", () => () => Promise.resolve([])) },
    check: lateOrderIsSentOnce,
    says: "is sent twice",
  },
  "a clock that was set forward ends what an earlier program waited for": {
    seam: "ledger.journal.surelyNow gives what the wall clock says",
    seams: {
      ledger: ({ journal }) => {
        const day = 24 * hour;
        Object.defineProperty(journal, "surelyNow", { get: () => Date.UTC(2026, 2, 28, 22) + day });
      },
    },
    check: laterProgramWaitsToo,
    says: "is sent twice",
  },
  "what a killed program was sending counts as never sent": {
    seam: "ledger.journal.conclude is told dropped in the place of unknown",
    seams: {
      ledger: ({ journal }) =>
        replace(
          journal,
          "conclude",
          (real) => (id, conclusion) =>
            real(id, conclusion.state === "unknown" ? { ...conclusion, state: "dropped" } : conclusion),
        ),
    },
    check: killedOrderIsFoundOut,
    says: "is sent twice",
    simulated: { seed: 4, says: "twice: orders" },
    quick: true,
  },
  "what a killed program was sending is overlooked": {
    seam: "ledger.journal.open and openOf give nothing, and ledger.state.begin nothing open",
    seams: {
      ledger: ({ journal, state }) => {
        replace(journal, "open", () => () => Promise.resolve([]));
        replace(journal, "openOf", () => () => Promise.resolve([]));
        replace(state, "begin", (real) => async (customer) => ({ ...(await real(customer)), open: false }));
      },
    },
    check: killedOrderIsFoundOut,
    says: "nobody finds out",
  },
  "readings of an earlier run are forgotten": {
    seam: "ledger.journal.noteEvidence keeps nothing",
    seams: { ledger: ({ journal }) => replace(journal, "noteEvidence", () => () => Promise.resolve()) },
    check: somebodyIsAsked,
    says: "nobody is asked",
  },
  "how often an order was sent is forgotten": {
    seam: "ledger.journal.sendingsInDoubt gives 0",
    seams: { ledger: ({ journal }) => replace(journal, "sendingsInDoubt", () => () => Promise.resolve(0)) },
    check: sentThreeTimesAtMost,
    says: "over and over",
  },
  "a reading of assets that failed counts as none": {
    seam: "platform.memberCenter.listAssetNumbers and orderService.listVirtualAssets give [] where they fail",
    seams: {
      platform: (real) => ({
        ...real,
        orderService: {
          ...real.orderService,
          listVirtualAssets: (...asked) => orNone(real.orderService.listVirtualAssets(...asked), []),
        },
        memberCenter: {
          ...real.memberCenter,
          listAssetNumbers: (...asked) => orNone(real.memberCenter.listAssetNumbers(...asked), []),
        },
      }),
    },
    check: failedReadingsSayNothing,
    says: "because nobody could look for it",
  },
  "M6 is read without E8": {
    seam: "platform.orderService.listVirtualAssets gives []",
    seams: orderService(() => ({ listVirtualAssets: () => Promise.resolve([]) })),
    check: cloudAssetsAreSeen,
    says: "although E8 shows it",
  },
  "a list of staff that could not be read counts as none": {
    seam: "platform.memberCenter.listStaff gives nobody where it fails",
    seams: memberCenter((real) => ({
      listStaff: (...asked) => orNone(real.listStaff(...asked), []),
    })),
    check: nobodyIsAddedUnseen,
    says: "although nobody could look who is there",
  },
  "the first page of a list counts as the whole of it": {
    seam: "platform.memberCenter.listStaff gives the rows of its first page",
    seams: memberCenter((real) => ({
      listStaff: async (...asked) => (await real.listStaff(...asked)).slice(0, 3),
    })),
    check: whoIsThereIsNotAdded,
    says: "who stand on the second page",
  },
  "enterprises that could not be asked for count as none": {
    seam: "platform.orderService.findCustomers gives [] where it fails",
    seams: orderService((real) => ({ findCustomers: (...asked) => orNone(real.findCustomers(...asked), []) })),
    check: noSecondEnterprise,
    says: "although nobody could look for it",
  },
  "E3 is believed not to show an enterprise before it ever showed one": {
    seam: "ledger.state.correlationConfirmed says yes",
    seams: { ledger: ({ state }) => replace(state, "correlationConfirmed", () => () => Promise.resolve(true)) },
    check: unconfirmedEnterpriseIsMadeOnce,
    says: "because E3 does not show it",
  },
  "a newer value is sent while an earlier one may still land": {
    seam: "ledger.journal.lastUncertain gives 0",
    seams: { ledger: ({ journal }) => replace(journal, "lastUncertain", () => () => Promise.resolve(0)) },
    check: newestNameStands,
    says: "landed over a newer one",
  },
};
