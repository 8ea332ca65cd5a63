/** @module-tag sized */
import { describe, expect, it } from "vitest";
import { policySettingsSchema } from "../../../src/engine/model/policy-settings.ts";
import { numberOf, openHold, openHolds, waitsFor } from "../../support/asking.ts";
import type { World } from "../../support/cli.ts";
import { isSample, spread } from "../../support/sizes.ts";
import type { GivenOrder, GivenStaff } from "../../support/world/crm.ts";
import { outcome, personOf } from "../../support/world/members.ts";
import { amend, line, orderOf, placedOrders, rule } from "../../support/world/placed-orders.ts";

/** Each policy with each word that it may have, while another customer gets a person whatever the word is. */
interface Case {
  first?: Partial<GivenOrder>;
  staff?: GivenStaff[];
  /** What is done before the word counts. */
  before?: (w: World) => Promise<void> | void;
  edit: (w: World) => Promise<void> | void;
  /** The record that the change is told of. */
  about: [kind: "customer" | "order" | "staff", id: string];
  /** Writing calls that the change takes, and what the platform has more or less of after them. */
  done?: Record<string, number>;
  leaves?: Partial<Standing>;
  /** What the platform has more of whatever the word is. */
  leavesAnyway?: Partial<Standing>;
  /** How often a person is asked when it is held; once by default. */
  steps?: number;
  /** Writing calls before the removal, unless the word is `report` or `ignore`, and what they leave. */
  bought?: Record<string, number>;
  leavesBought?: Partial<Standing>;
}

interface Standing {
  enterprises: number;
  products: number;
  assets: number;
  assignments: number;
  addedStaff: number;
  lockedAssets: number;
  lentAssets: number;
}

const standingOf = (w: World): Standing => {
  const { enterprises, products, assets, assignments, addedStaff, lockedAssets, lentAssets } = w.sandbox.state();
  return { enterprises, products, assets, assignments, addedStaff, lockedAssets, lentAssets };
};

function sum<Key extends string>(...all: Partial<Record<Key, number>>[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const one of all)
    for (const [key, count] of Object.entries<number | undefined>(one)) total[key] = (total[key] ?? 0) + (count ?? 0);
  return total;
}

/** Nobody holds anything of the first order. */
const idle: GivenStaff[] = [
  { id: "S1", customer: "C1" },
  { id: "S2", customer: "C2", holds: ["A2"] },
];
const lock = (locked?: boolean): Partial<GivenOrder> => ({
  assets: [{ id: "A1", type: "normal_recover_usbkey", forLending: true, locked }],
});

const gone = { products: -2, assets: -1 };
const cases: Record<string, Case> = {
  "enterprises.update": {
    edit: (w) => void (w.customers = [{ id: "C1", name: "Another name" }, { id: "C2" }]),
    about: ["customer", "C1"],
    done: { E4: 1 },
  },
  "enterprises.deleted": {
    before: async (w) => {
      w.customers.push({ id: "C3" });
      w.write();
      expect((await w.does("run", "everything")).calls).toEqual({ E2: 1 });
    },
    edit: (w) => void w.customers.pop(),
    about: ["customer", "C3"],
  },
  "enterprises.renumbered": {
    edit: async (w) => {
      w.environment["CRM_SYNC__assumptions__channelCustomerIdTemplate"] = "X{id}";
      expect((await w.does("resync", "--customer", "C1")).calls).toEqual({});
    },
    about: ["customer", "C1"],
  },
  "orders.added": {
    edit: (w) => void w.orders.push(orderOf("3", "C1")),
    about: ["order", "3"],
    done: { E5: 1 },
    leaves: { products: 2, assets: 1 },
  },
  "orders.ended": {
    edit: (w) => amend(w, "1", { products: [line("P1", "A1")] }),
    about: ["order", "1"],
    done: { E5: 1 },
    leaves: { products: -1 },
  },
  "orders.cancelled": {
    staff: idle,
    edit: (w) => amend(w, "1", { cancelled: true }),
    about: ["order", "1"],
    done: { E5: 1 },
    leaves: gone,
  },
  "orders.deleted": {
    staff: idle,
    edit: (w) => void (w.orders = w.orders.filter(({ id }) => id !== "1")),
    about: ["order", "1"],
    done: { E5: 1 },
    leaves: gone,
  },
  "orders.replaced": {
    edit: (w) => amend(w, "1", { products: [line("P1", "A1", { nodes: 9 }), line("Q1", "A1")] }),
    about: ["order", "1"],
    bought: { E5: 1 },
    leavesBought: { products: 1 },
    done: { E5: 1 },
    leaves: { products: -1 },
  },
  "orders.assetChanged": {
    staff: idle,
    edit: (w) => amend(w, "1", { assets: [{ id: "A1", limitEnd: "2031-01-01T00:00:00Z" }] }),
    about: ["order", "1"],
    // The replacement waits with it, and is bought before a person is asked about the removal.
    steps: 2,
    done: { E5: 2 },
  },
  "orders.moved": {
    staff: idle,
    edit: (w) => amend(w, "1", { customer: "C2" }),
    about: ["order", "1"],
    // It is removed at the old customer and bought at the new one.
    done: { E5: 2 },
  },
  "orders.wording": {
    edit: (w) => amend(w, "1", { products: [line("P1", "A1", { name: "Another word" }), line("Q1", "A1")] }),
    about: ["order", "1"],
  },
  "orders.price": {
    first: { products: [line("P1", "A1", { price: "10.00" }), line("Q1", "A1")] },
    edit: (w) => amend(w, "1", { products: [line("P1", "A1", { price: "12.00" }), line("Q1", "A1")] }),
    about: ["order", "1"],
  },
  "staff.edited": {
    edit: (w) => void (personOf(w, "S1").name = "Another name"),
    about: ["staff", "S1"],
    done: { M2: 1 },
  },
  "staff.left": {
    staff: [...idle, { id: "S3", customer: "C1" }],
    edit: (w) => void (w.staff = w.staff.filter(({ id }) => id !== "S3")),
    about: ["staff", "S3"],
    done: { M4: 1 },
    leaves: { addedStaff: -1 },
  },
  "staff.moved": {
    staff: [...idle, { id: "S3", customer: "C1" }],
    edit: (w) => void (personOf(w, "S3").customer = "C2"),
    // The record belongs to another customer now; the one with the account tells of it.
    about: ["customer", "C1"],
    leavesAnyway: { addedStaff: 1 },
    done: { M4: 1 },
    leaves: { addedStaff: -1 },
  },
  "assignments.revoked": {
    edit: (w) => void (personOf(w, "S1").holds = []),
    about: ["staff", "S1"],
    done: { M9: 1 },
    leaves: { assignments: -1 },
  },
  "locks.locked": {
    first: lock(),
    edit: (w) => amend(w, "1", lock(true)),
    about: ["order", "1"],
    done: { E6: 1 },
    leaves: { lockedAssets: 1 },
  },
  "locks.unlocked": {
    first: lock(),
    before: async (w) => {
      rule(w, "locks.locked", "apply");
      amend(w, "1", lock(true));
      expect((await w.does("run", "everything")).calls).toEqual({ E6: 1 });
    },
    edit: (w) => amend(w, "1", lock(false)),
    about: ["order", "1"],
    done: { E7: 1 },
    leaves: { lockedAssets: -1 },
  },
  "loans.lent": {
    first: {
      assets: [{ id: "A1" }, { id: "L1", type: "normal_recover_usbkey", forLending: true }],
      products: [line("P1", "A1"), line("Q1", "L1")],
    },
    edit: (w) => void (personOf(w, "S1").borrows = [{ lock: numberOf(w, "L1"), assets: ["A1"] }]),
    about: ["staff", "S1"],
    done: { M10: 1 },
    leaves: { lentAssets: 1 },
  },
};

type Word = "ignore" | "report" | "ask" | "apply" | "apply-after-approvals";
const words: readonly Word[] = ["ignore", "report", "ask", "apply", "apply-after-approvals"];

/** The words that a policy may have. */
function wordsOf(name: string): Word[] {
  const [area = "", key = ""] = name.split(".");
  return words.filter((word) => policySettingsSchema.safeParse({ [area]: { [key]: word } }).success);
}

async function under(name: string, word: Word, { first, staff, before }: Case): Promise<World> {
  const w = await placedOrders(structuredClone({ ...(first && { first }), ...(staff && { staff }) }));
  Object.assign(w.environment, {
    CRM_SYNC__limits__absenceReads: "1",
    CRM_SYNC__limits__absenceTime: "0s",
    CRM_SYNC__limits__removals__enterprise__floor: "100",
    CRM_SYNC__limits__removals__run__floor: "100",
  });
  await before?.(w);
  rule(w, name, word);
  return w;
}

/** Approves all that is held, as often as something new is; the writing calls that this takes. */
async function approvedOf(w: World, steps = 1): Promise<Record<string, number>> {
  let calls: Record<string, number> = {};
  for (let step = 1; step <= steps; step += 1) {
    expect((await w.run("approve", await openHold(w), "--reason", "asked the customer")).exitCode).toBe(0);
    const ran = await w.does("run", "everything");
    expect(ran.exitCode, ran.stdout).toBe(step < steps ? 4 : 0);
    calls = sum(calls, ran.calls);
  }
  return calls;
}

const cells = Object.entries(cases).flatMap(([name, item]) =>
  wordsOf(name).map((word): [string, Word, Case] => [name, word, item]),
);

describe("a change of the CRM", () => {
  it.each(spread(cells, isSample ? 24 : 40))("%s: %s", { tags: "long" }, async (name, word, item) => {
    const { edit, about, done = {}, leaves = {}, leavesAnyway = {} } = item;
    const w = await under(name, word, item);
    const before = standingOf(w);
    await edit(w);
    w.staff.push({ id: "S9", customer: "C2" });
    w.write();
    const isLeft = word === "ignore" || word === "report";
    const isHeld = word === "ask" || word === "apply-after-approvals";
    const calls = sum(isLeft ? {} : (item.bought ?? {}), { M1: 1 });
    const left = sum(before, { addedStaff: 1 }, leavesAnyway, isLeft ? {} : (item.leavesBought ?? {}));

    expect(outcome(await w.does("run", "everything"))).toEqual([
      isHeld ? 4 : 0,
      word === "apply" ? sum(calls, done) : calls,
    ]);
    if (isHeld) {
      expect(standingOf(w)).toEqual(left);
      expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
      expect(await openHolds(w)).toMatchObject([{ scope: "policy" }]);
      expect(await approvedOf(w, item.steps)).toEqual(done);
    }
    const [kind, id] = about;
    expect(await waitsFor(w, id, kind)).toBe(word === "report" ? "policy.reported" : undefined);
    expect(await openHolds(w)).toEqual([]);
    expect(standingOf(w)).toEqual(isLeft ? left : sum(left, leaves));
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  });
});

it("has a case for each policy of the configuration", () => {
  const names = Object.entries(policySettingsSchema.parse(undefined)).flatMap(([area, rules]) =>
    typeof rules === "object" ? Object.keys(rules).map((key) => `${area}.${key}`) : [],
  );
  expect(Object.keys(cases).sort()).toEqual(names.sort());
});
