/** @module-tag long */
import { rmSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { Cells, type Cell } from "../support/cells.ts";
import type { Wished } from "../support/full-check.ts";
import { earlierKill, killAt } from "../support/killed-at.ts";
import { killPoints, type KillPoint } from "../support/kill-points-names.ts";
import { goodRunOf, runResultOf } from "../support/program.ts";
import { isFull } from "../support/sizes.ts";
import type { GivenOrder } from "../support/world/crm.ts";
import { ledgerOf, orderOf, writeWorld, type SmallWorld } from "../support/world/small.ts";

/**
 * What takes two calls of E5, killed at each point of either: an order that moves to another customer, and a renewal
 * whose earlier order ends. Afterwards each call was made once, and at no moment was something missing or there twice
 * that must not be.
 */

const placed: SmallWorld = {
  customers: [{ id: "C1" }, { id: "C2" }],
  orders: [orderOf("O1", { A1: "cloud_account" }), orderOf("O2", { A2: "cloud_account" }, "C2")],
  staff: [{ id: "S2", customer: "C2", holds: ["A2"] }],
};

/** S1 holds what is renewed. */
const held: SmallWorld = { ...placed, staff: [...placed.staff, { id: "S1", customer: "C1", holds: ["A1"] }] };

/** An order of C1 whose asset renews A1; with two units, one of them has a number of its own. */
function renewal(quantity: number): GivenOrder {
  return {
    id: "O3",
    customer: "C1",
    assets: [{ id: "B3", quantity, continues: { order: "O1", instance: "A1" } }],
    products: [{ id: "R3", parent: "B3", pid: "PID-R3" }],
  };
}

function amended(world: SmallWorld, id: string, more: Partial<GivenOrder>): SmallWorld {
  return { ...world, orders: world.orders.map((order) => (order.id === id ? { ...order, ...more } : order)) };
}

const renewing = (quantity: number): SmallWorld => ({ ...held, orders: [...held.orders, renewal(quantity)] });

interface Story {
  before: SmallWorld;
  /** What is carried out between the two, by a run of its own. */
  between?: SmallWorld;
  after: SmallWorld;
  /** The ledger is lost in between: the orders are adopted. */
  adopts?: true;
  policies: Record<string, string>;
  /** The two calls, in their order. */
  calls: readonly string[];
  wished: Wished;
  /** What is so after the kill and after each run. */
  always: (cell: Cell) => void;
}

const seatsStay = (cell: Cell): void => expect(cell.sandbox.state().assignments, "everybody keeps a seat").toBe(2);

const stories: Readonly<Record<string, Story>> = {
  "an order that moves": {
    policies: { orders__moved: "apply" },
    before: placed,
    after: amended(placed, "O1", { customer: "C2" }),
    calls: ["delete-assets", "amend-order"],
    wished: { enterprises: 2, orders: 3, deletions: 1, products: 2, addedStaff: 1, assignments: 1 },
    always: (cell) => expect(cell.sandbox.state().products, "it is at both places").toBeLessThanOrEqual(2),
  },
  "a renewal of one unit and one more, whose earlier order ends": {
    before: held,
    after: amended(renewing(2), "O1", { cancelled: true }),
    policies: { orders__cancelled: "apply", orders__added: "apply" },
    calls: ["place-order", "delete-products"],
    wished: { enterprises: 2, orders: 3, deletions: 1, products: 3, addedStaff: 2, assignments: 2 },
    always: seatsStay,
  },
  "a renewal that moves to another customer": {
    before: held,
    between: renewing(1),
    after: amended(renewing(1), "O3", { customer: "C2" }),
    policies: { orders__moved: "apply", orders__added: "apply" },
    calls: ["delete-products", "amend-order"],
    wished: { enterprises: 2, orders: 4, deletions: 1, products: 3, addedStaff: 2, assignments: 2 },
    always: seatsStay,
  },
  "a renewal of what an adopted order has": {
    before: held,
    after: renewing(1),
    adopts: true,
    policies: { orders__added: "apply" },
    calls: ["place-order"],
    wished: { enterprises: 2, orders: 3, products: 3, addedStaff: 2, assignments: 2 },
    always: seatsStay,
  },
};

type StoryCell = [story: string, call: string, point: KillPoint];

/** Each call of each story at each point for a release; else one point of each, another for each. */
function matrix(): StoryCell[] {
  const calls = Object.entries(stories).flatMap(([name, story]) => story.calls.map((call) => [name, call] as const));
  // A deletion that was not done is planned anew, and not sent again by settling.
  const points = killPoints.filter((point) => point !== "in settling, after a resend");
  return calls.flatMap(([name, call], row) =>
    points
      .filter((_, column) => isFull || column === (5 * row + 2) % points.length)
      .map((point): StoryCell => [name, call, point]),
  );
}

const cells = new Cells();
afterAll(() => cells.remove());

async function begun(name: string, { before, between, adopts }: Story, environment: Record<string, string>) {
  const folder = cells.place(name);
  writeWorld(folder, before);
  await cells.open(folder, environment, async (cell) => {
    goodRunOf(await cell.run());
    if (adopts === true) {
      for (const end of ["", "-wal", "-shm", ".lock", ".heads"]) rmSync(`${ledgerOf(folder)}${end}`, { force: true });
      await cell.run();
    }
    if (between !== undefined) {
      writeWorld(folder, between);
      goodRunOf(await cell.run());
    }
  });
  return folder;
}

/** What is wrong in the end. A renewal is in the asset of another order, and of what was adopted less is known. */
async function differences(cell: Cell, { wished, adopts }: Story): Promise<string[]> {
  const wrong = await cell.wrong(wished);
  if (adopts === true) return wrong.filter((text) => text.startsWith("the platform"));
  expect((await cell.carryOut("run", "verify")).exitCode).toBe(0);
  return wrong.filter((text) => !text.endsWith("holds a product of O3"));
}

const made = new Map<string, Promise<string>>();

describe("two calls of one change, of which one is killed", () => {
  it.each(matrix())("are each made once: %s, its %s, killed %s", async (name, call, point) => {
    const story = stories[name];
    if (story === undefined) throw new Error(`there is no story "${name}"`);
    const environment = Object.fromEntries(
      Object.entries(story.policies).map(([policy, word]) => [`CRM_SYNC__policies__${policy}`, word]),
    );
    const from = made.get(name) ?? begun(name, story, environment);
    made.set(name, from);
    await cells.within(
      await from,
      environment,
      async (cell) => {
        const had = cell.done("E5");
        const kill = async (at: KillPoint): Promise<void> => {
          const nth = story.calls.indexOf(call) + 1 - (cell.done("E5") - had);
          await killAt(cell, at, { kind: call, endpoint: "E5", nth: Math.max(1, nth) }, { processes: 5 });
          story.always(cell);
        };
        const earlier = earlierKill[point];
        if (earlier !== undefined) await kill(earlier);
        await kill(point);
        for (let run = 0; run < 5 && cell.done("E5") - had < story.calls.length; run += 1) {
          await cell.run();
          story.always(cell);
        }
        await cell.run();
        const last = runResultOf(await cell.run());
        // Who holds something of an adopted order is not known.
        expect([last.exit, last.writingCalls]).toEqual([story.adopts === true ? 3 : 0, 0]);
        expect(cell.done("E5") - had).toBe(story.calls.length);
        expect(await differences(cell, story)).toEqual([]);
      },
      (folder) => writeWorld(folder, story.after),
    );
  });
});
