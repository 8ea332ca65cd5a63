import { expect } from "vitest";
import { z } from "zod";
import { TransportFailure } from "../../src/http/transport.ts";
import type { StateChange } from "../../src/engine/model/state.ts";
import { routes } from "../../src/sandbox/endpoints.ts";
import { failure } from "../../src/sandbox/answers.ts";
import type { Crm } from "../support/world/crm.ts";
import { memberCenter, orderService, replace, type Breaks } from "./break.ts";
import type { Seams } from "../simulation/engine.ts";
import { BreakWorld, oneCustomer, oneOrder } from "./world.ts";

const c1 = { namespace: "crm", id: "C1" };

/** Some turns of the event loop. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** So many customers with an order each. */
function orders(count: number): Crm {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  return {
    customers: numbers.map((n) => ({ id: `C${n}` })),
    orders: numbers.map((n) => ({ id: `O${n}`, customer: `C${n}`, assets: [`A${n}`] })),
    staff: [],
  };
}

async function intentIsOnDiskFirst(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams, oneOrder());
  const early: string[] = [];
  w.services.onLeave = (operation) => {
    if (routes[operation].writes && w.states(operation)["sending"] !== 1) early.push(operation);
  };
  await w.run();
  expect(early, "left before its intent was on the disk").toEqual([]);
}

async function fewAreInDoubt(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams, orders(3), { callsAtOnce: 1, concurrency: 3 });
  const inDoubt: number[] = [];
  w.services.onLeave = (operation) => {
    if (operation === "E5") inDoubt.push(w.states("E5")["sending"] ?? 0);
  };
  await w.run();
  expect(inDoubt, "more calls are in doubt than may be out at once").toEqual([1, 1, 1]);
}

async function lostAnswerIsSentOnce(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams, oneOrder());
  w.services.plan({ operation: "E5", fault: "appliedNoReply" });
  await w.run();
  await w.restart();
  await w.run();
  expect(w.calls("E5"), "an order whose answer was lost is sent twice").toBe(1);
  expect(w.states("E5"), "an order whose answer was lost is not known to be done").toEqual({ done: 1 });
}

async function whatIsDoneIsKnown(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams);
  await w.run();
  const { ledger } = await w.restart();
  expect(w.states("E5"), "the outcome of an answered call is not in the ledger").toEqual({ done: 1 });
  const { placedOrders, assignments } = await ledger.state.known(c1);
  expect([...placedOrders.keys()], "an order was placed, and the ledger does not know it").toEqual(["crm/O1"]);
  expect(assignments, "a seat was given, and the ledger does not know it").toHaveLength(1);
}

async function doneIsPlaced(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams);
  const placed = "select order_id as id from placed_order where to_at is null";
  const unknown: string[] = [];
  w.services.onLeave = (operation) => {
    const orders = w.look((view) => view.rows(z.object({ id: z.string() }), placed));
    if (orders.length !== (w.states("E5")["done"] ?? 0)) unknown.push(operation);
  };
  await w.run();
  expect(unknown, "an order is done in the ledger and not placed while a call leaves").toEqual([]);
}

async function refusalIsTold(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams);
  w.services.plan({ operation: "M9", fault: "status299", code: "60026", times: 5 });
  const summary = await w.run();
  const { assignments } = await (await w.program()).ledger.state.known(c1);
  expect(assignments, "a seat that was refused counts as given").toEqual([]);
  expect(summary?.exitCode, "a refusal ends with exit 3").toBe(3);
}

async function refusedPersonIsTold(seams: Seams): Promise<void> {
  const crm = oneCustomer();
  crm.staff.push({ id: "S2", customer: "C1" });
  const w = new BreakWorld(seams, crm);
  w.services.plan({ operation: "M1", fault: "partialM1" });
  const summary = await w.run();
  const open = summary?.open.flatMap((group) => group.examples.map((one) => one.record));
  expect(open, "nobody is told of a person whom the service refused").toEqual(["crm/S2"]);
}

async function refusedOnce(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams);
  w.services.refuses = (operation) => (operation === "M9" ? failure("60023", "no") : undefined);
  await w.run();
  w.crm.staff.push({ id: "S2", customer: "C1" });
  await w.run();
  expect(w.calls("M9"), "what was refused is sent again as it was").toBe(1);
}

async function sentPasswordIsKept(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams);
  w.dies("M1");
  await w.run();
  const { ledger } = await w.restart();
  await w.run();
  const sent = z.object({ userList: z.array(z.object({ password: z.string() })) });
  const { userList } = sent.parse(JSON.parse(w.services.calls.find((call) => call.operation === "M1")?.body ?? ""));
  const { values } = await ledger.private.latestSealed("initial-password/crm/S1 at crm/C1");
  expect(values?.["password"], "nobody can be told the password that the service has").toBe(userList[0]?.password);
}

async function stopsWhenTold(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams, orders(3), { callsAtOnce: 1, concurrency: 3 });
  const stop = new AbortController();
  w.services.onAnswered = (operation) => {
    if (operation === "E5") stop.abort(new Error("asked to stop"));
  };
  await w.run({ signal: stop.signal });
  expect(w.calls("E5"), "calls leave after the run was told to stop").toBe(1);
}

async function noncesAreNew(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams);
  const refused: string[] = [];
  w.services.onRefused = (operation) => void refused.push(operation);
  await w.run();
  expect(refused, "a call was refused for a nonce that was used before").toEqual([]);
}

async function numbersAreGivenOnce(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams, orders(2), { concurrency: 1 });
  await w.run();
  const sent = w.services.calls.flatMap(({ operation, body }) =>
    operation === "E5" ? [...(body ?? "").matchAll(/"assetNos":\["(\d+)"/gu)].map((found) => found[1]) : [],
  );
  expect(sent, "an asset number stands in two orders").toEqual([...new Set(sent)]);
  expect(sent.length, "each order names its asset numbers").toBeGreaterThanOrEqual(2);
}

async function amendmentKeepsItsNumber(seams: Seams): Promise<void> {
  const w = new BreakWorld(seams);
  await w.run();
  w.crm.orders = [{ id: "O1", customer: "C1", assets: ["A1", "A2", "A3"] }];
  w.services.refuses = (operation) => (operation === "E5" ? failure("13004", "no") : undefined);
  await w.run();
  w.services.refuses = () => undefined;
  const { ledger } = await w.program();
  await w.pass(60_000);
  await ledger.journal.retryRejected({ customer: c1 });
  await ledger.records.markPending({ customer: c1 });
  await w.run();
  const row = z.object({ number: z.string() });
  const numbers = w.look((view) => view.rows(row, "select channel_order_id as number from amendment_number"));
  expect(numbers, "what is added to an order has two channel order numbers").toHaveLength(1);
  expect(Object.keys(w.services.observation.state().orders), "it was bought").toHaveLength(2);
}

export const sending: Breaks = {
  "a call leaves before its intent is committed": {
    seam: "platform.orderService.placeOrders commits the intent after the call",
    seams: orderService((real) => ({
      placeOrders: async (body, call) => {
        const outcome = await real.placeOrders(body, { ...call, beforeSending: undefined });
        await call.beforeSending?.();
        return outcome;
      },
    })),
    check: intentIsOnDiskFirst,
    says: "left before its intent was on the disk",
    quick: true,
  },
  "an intent is committed before its call has a permit": {
    seam: "platform.orderService.placeOrders commits the intent and then asks for the permit",
    seams: orderService((real) => ({
      placeOrders: async (body, call) => {
        await call.beforeSending?.();
        return await real.placeOrders(body, { ...call, beforeSending: undefined });
      },
    })),
    check: fewAreInDoubt,
    says: "more calls are in doubt",
  },
  "a permit is given on before the outcome is written": {
    seam: "platform.orderService.placeOrders does not pass on when the outcome is recorded, and is slow to give it",
    seams: orderService((real) => ({
      placeOrders: async (body, call) => {
        const outcome = await real.placeOrders(body, { ...call, recorded: undefined });
        await turns();
        return outcome;
      },
    })),
    check: fewAreInDoubt,
    says: "more calls are in doubt",
  },
  "a call that took too long is sent again": {
    seam: "transport.send sends a request again whose answer did not come",
    seams: {
      transport: (real) => ({
        ...real,
        send: (request) => real.send(request).catch(() => real.send(request)),
      }),
    },
    check: lostAnswerIsSentOnce,
    says: "is sent twice",
    simulated: { seed: 5, says: "twice: orders" },
    quick: true,
  },
  "an unknown outcome is sent again without a look": {
    seam: "platform.orderService.placeOrders calls again where the outcome is unknown",
    seams: orderService((real) => ({
      placeOrders: async (body, call) => {
        const outcome = await real.placeOrders(body, call);
        return outcome.kind === "unknown"
          ? await real.placeOrders(body, { ...call, beforeSending: undefined })
          : outcome;
      },
    })),
    check: lostAnswerIsSentOnce,
    says: "is sent twice",
  },
  "a call that was cut off counts as one that never left": {
    seam: "transport.send says that nothing was written, whatever failed",
    seams: {
      transport: (real) => ({
        ...real,
        send: (request) =>
          real.send(request).catch((error: Error) => {
            throw new TransportFailure({ written: false, reason: error.message });
          }),
      }),
    },
    check: lostAnswerIsSentOnce,
    says: "is sent twice",
  },
  "an unknown outcome counts as a refusal": {
    seam: "platform.orderService.placeOrders says rejected where the outcome is unknown",
    seams: orderService((real) => ({
      placeOrders: async (body, call) => {
        const outcome = await real.placeOrders(body, call);
        return outcome.kind === "unknown" ? { kind: "rejected", code: "13004", status: 200, raw: null } : outcome;
      },
    })),
    check: lostAnswerIsSentOnce,
    says: "is not known to be done",
  },
  "the outcome of an answered call is lost": {
    seam: "ledger.journal.conclude and concludeAhead write nothing of what is done",
    seams: {
      ledger: ({ journal }) => {
        replace(
          journal,
          "conclude",
          (real) => async (id, conclusion) =>
            conclusion.state === "done" ? new Date(0).toISOString() : await real(id, conclusion),
        );
        replace(
          journal,
          "concludeAhead",
          (real) => (id, conclusion, sequence) =>
            conclusion.state === "done"
              ? { at: new Date(0).toISOString(), committed: Promise.resolve() }
              : real(id, conclusion, sequence),
        );
      },
    },
    check: whatIsDoneIsKnown,
    says: "the outcome of an answered call is not in the ledger",
  },
  "an outcome is written without what it changed": {
    seam: "ledger.journal.concludeAhead is not given that an order was placed",
    seams: {
      ledger: ({ journal }) =>
        replace(journal, "concludeAhead", (real) => (id, conclusion, sequence) => {
          const changes = conclusion.changes.filter(({ type }) => type !== "order-placed");
          return real(id, { ...conclusion, changes }, sequence);
        }),
    },
    check: whatIsDoneIsKnown,
    says: "the ledger does not know it",
    simulated: { seed: 1, says: "on the platform but not in the ledger" },
    quick: true,
  },
  "an outcome and what it changed are two transactions": {
    seam: "ledger.journal.concludeAhead writes the outcome, and ledger.state.record its changes with the next one",
    seams: {
      ledger: ({ journal, state }) => {
        let left: StateChange[] = [];
        replace(journal, "concludeAhead", (real) => (id, conclusion, sequence) => {
          void state.record(c1, left);
          left = [...conclusion.changes];
          return real(id, { ...conclusion, changes: [] }, sequence);
        });
      },
    },
    check: doneIsPlaced,
    says: "an order is done in the ledger and not placed",
  },
  "HTTP 299 counts as a success": {
    seam: "transport.send makes HTTP 200 and code 0 of HTTP 299",
    seams: {
      transport: (real) => ({
        ...real,
        send: async (request) => {
          const answer = await real.send(request);
          const text = '{"code":0,"message":"ok","data":null}';
          return answer.status === 299 ? { ...answer, status: 200, text } : answer;
        },
      }),
    },
    check: refusalIsTold,
    says: "a seat that was refused counts as given",
    quick: true,
  },
  "the failed list of 60027 is not read": {
    seam: "platform.memberCenter.addStaff leaves out whom the service refused",
    seams: memberCenter((real) => ({
      addStaff: async (enterprise, body, call) => {
        const outcome = await real.addStaff(enterprise, body, call);
        return "data" in outcome ? { ...outcome, data: { ...outcome.data, failed: [] } } : outcome;
      },
    })),
    check: refusedPersonIsTold,
    says: "nobody is told of a person whom the service refused",
  },
  "what a service refused is not kept": {
    seam: "ledger.journal.conclude is given no rejections",
    seams: {
      ledger: ({ journal }) =>
        replace(journal, "conclude", (real) => (id, conclusion) => real(id, { ...conclusion, rejections: undefined })),
    },
    check: refusedOnce,
    says: "is sent again as it was",
    simulated: { seed: 4, says: "was refused and is sent again" },
  },
  "a generated password leaves before it is sealed": {
    seam: "ledger.journal.intend is given nothing to seal",
    seams: {
      ledger: ({ journal }) => replace(journal, "intend", (real) => (entry) => real({ ...entry, sealed: undefined })),
    },
    check: sentPasswordIsKept,
    says: "nobody can be told the password",
  },
  "calls do not hear that the run is stopped": {
    seam: "platform.orderService.placeOrders does not pass the signal on",
    seams: orderService((real) => ({
      placeOrders: (body, call) => real.placeOrders(body, { ...call, signal: undefined }),
    })),
    check: stopsWhenTold,
    says: "calls leave after the run was told to stop",
  },
  "randomness repeats": {
    seam: "random.hex gives one text for every nonce",
    seams: {
      random: (real) => ({
        fraction: () => real.fraction(),
        hex: (length) => (length === 16 ? "0".repeat(32) : real.hex(length)),
      }),
    },
    check: noncesAreNew,
    says: "for a nonce that was used before",
  },
  "an asset number is handed out twice": {
    seam: "the rows of asset numbers give the numbers of the first order for every other one",
    seams: {
      ledger: ({ state }) => {
        let first: string[] | undefined;
        void state.read(({ order: { numbers } }) =>
          replace(numbers, "fixNumbers", (real) => (order, customer, wanted, now) => {
            const result = real(order, customer, wanted, now);
            if (result.fixed.length > 0) first ??= result.fixed.map(({ number }) => number);
            return { ...result, fixed: result.fixed.map((one, at) => ({ ...one, number: first?.[at] ?? one.number })) };
          }),
        );
      },
    },
    check: numbersAreGivenOnce,
    says: "an asset number stands in two orders",
  },
  "an amendment gets a new number each time": {
    seam: "the rows of order steps are given another hash each time",
    seams: {
      ledger: ({ state }) => {
        let times = 0;
        void state.read(({ order: { steps } }) =>
          replace(steps, "fixNumber", (real) => (order, hash, make, at) => {
            times += 1;
            return real(order, `${hash} ${times}`, make, at);
          }),
        );
      },
    },
    check: amendmentKeepsItsNumber,
    says: "two channel order numbers",
  },
};
