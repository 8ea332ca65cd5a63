import { describe, expect, it } from "vitest";
import { exitCodes } from "../../src/base/errors.ts";
import { formatKey } from "../../src/crm/keys.ts";
import { nameOf } from "../../src/engine/carry-out.ts";
import { factsOf } from "../../src/engine/plan/facts.ts";
import type { RunRequest } from "../../src/engine/run/request.ts";
import { limitsSettingsSchema } from "../../src/engine/run/run-settings.ts";
import type { RunSummary } from "../../src/engine/run/run.ts";
import { ApplyWorld, customer } from "../support/world/apply-world.ts";
import { customerRecord, orderRecord, staffRecord } from "../support/world/records.ts";
import { standardPolicies } from "../support/world/rules.ts";
import { runWorld } from "../support/world/run.ts";

/** Whatever is taken away needs a person's word. */
const limits = limitsSettingsSchema.parse({ removals: { enterprise: { floor: 0, share: 0 } } });

async function run(world: ApplyWorld, request: Partial<RunRequest> = {}): Promise<RunSummary> {
  return await runWorld(world, { limits, ...request });
}

const asked = ["asked the customer", "anna"] as const;

/**
 * A customer whose one revoke waits for a person, and a change beside it that makes the next run look again. `more`:
 * the change is another revoke.
 */
async function held({ more = false } = {}): Promise<{ world: ApplyWorld; hold: string }> {
  const world = await ApplyWorld.start();
  const holder = (n: number) => staffRecord(`S${n}`, "C1", { assets: [{ instanceId: `A-O${n}` }] });
  await world.take("customers", customerRecord("C1"));
  await world.take("orders", orderRecord("O1", "C1"), ...(more ? [orderRecord("O2", "C1")] : []));
  await world.take("staff", holder(1), ...(more ? [holder(2)] : []));
  expect((await run(world)).exitCode).toBe(exitCodes.ok);
  expect(world.sandbox.state().assignments).toBe(more ? 2 : 1);
  await world.take("staff", staffRecord("S1", "C1"));
  const summary = await run(world);
  expect(summary.exitCode).toBe(exitCodes.held);
  await world.take("staff", staffRecord("S2", "C1"));
  return { world, hold: summary.held[0]?.hold ?? "" };
}

/** A customer whose other name is held by policy, and was not looked at yet. */
async function otherName(): Promise<ApplyWorld> {
  const world = await ApplyWorld.start();
  await world.take("customers", customerRecord("C1"));
  expect((await run(world)).exitCode).toBe(exitCodes.ok);
  const { enterprises } = standardPolicies;
  world.deps.policies = { ...standardPolicies, enterprises: { ...enterprises, update: "ask" } };
  await world.take("customers", customerRecord("C1", { name: "Another Name" }));
  return world;
}

/** Lets something happen once, right before the ledger does what `method` does, with an operation of this kind. */
function before(
  world: ApplyWorld,
  method: "ask" | "recordOutcomes" | "intend",
  act: () => Promise<unknown>,
  kind = "revoke-assets",
): void {
  const { ledger } = world;
  let acted = false;
  const once = async (): Promise<void> => {
    if (acted) return;
    acted = true;
    await act();
  };
  if (method === "ask") {
    const real = ledger.decisions.ask.bind(ledger.decisions);
    ledger.decisions.ask = async (...parameters) => {
      await once();
      return await real(...parameters);
    };
  } else if (method === "intend") {
    const real = ledger.journal.intend.bind(ledger.journal);
    ledger.journal.intend = async (entry) => {
      if (entry.operation.kind === kind) await once();
      return await real(entry);
    };
  } else {
    const real = ledger.records.setOutcomes.bind(ledger.records);
    ledger.records.setOutcomes = async (...parameters) => {
      await once();
      await real(...parameters);
    };
  }
}

/** The questions that wait for an answer. */
async function open(world: ApplyWorld): Promise<string[]> {
  return (await world.ledger.decisions.questions()).map(({ id }) => id);
}

describe("a person who decides on a hold while a run is on", () => {
  it("is heard: approved right before the outcomes are recorded", async () => {
    const { world, hold } = await held();
    before(world, "recordOutcomes", () => world.ledger.decisions.decide(hold, "approve", ...asked));
    await run(world);
    const last = await run(world);
    expect(world.sandbox.state().assignments).toBe(0);
    expect(last).toMatchObject({ exitCode: exitCodes.ok, held: [] });
    expect(await open(world)).toEqual([]);
  });

  it("is heard of a change of the customer itself: approved by the run that holds it, before its outcomes", async () => {
    const world = await otherName();
    before(world, "recordOutcomes", async () => {
      const [hold = ""] = await open(world);
      await world.ledger.decisions.decide(hold, "approve", ...asked);
    });
    await run(world);
    expect(world.sandbox.counts().calls["E4"]).toBeUndefined();
    const last = await run(world);
    expect([world.sandbox.counts().calls["E4"], last.exitCode]).toEqual([1, exitCodes.ok]);
  });

  it.each(["ask", "recordOutcomes"] as const)(
    "is heard: rejected right before %s, also while more is held",
    async (method) => {
      const { world, hold } = await held({ more: true });
      before(world, method, () => world.ledger.decisions.decide(hold, "reject", "a mistake in the CRM", "anna"));
      expect((await run(world)).held).toHaveLength(1);
      const last = await run(world);
      expect(world.sandbox.state().assignments).toBe(2);
      expect(last.held.map((one) => one.hold)).not.toContain(hold);
      expect(await open(world)).toHaveLength(1);
    },
  );
});

describe("a person who rejects what was approved before", () => {
  it("is heard right before it is sent", async () => {
    const { world, hold } = await held();
    const { decisions } = world.ledger;
    await decisions.decide(hold, "approve", ...asked);
    before(world, "intend", () => decisions.decide(hold, "reject", "the wrong customer", "anna"));
    await run(world);
    expect(world.sandbox.state().assignments).toBe(1);
    expect(await run(world)).toMatchObject({ exitCode: exitCodes.ok, held: [] });
    expect(world.sandbox.state().assignments).toBe(1);
  });

  it("is heard of a purchase that has not begun, and another customer's goes on", async () => {
    const world = await ApplyWorld.start();
    await world.take("customers", customerRecord("C1"), customerRecord("C2"));
    expect((await run(world)).exitCode).toBe(exitCodes.ok);
    world.deps.policies = { ...standardPolicies, orders: { ...standardPolicies.orders, added: "ask" } };
    await world.take("orders", orderRecord("O1", "C1"), orderRecord("O2", "C2"));
    const { held } = await run(world);
    const { decisions } = world.ledger;
    for (const { hold } of held) await decisions.decide(hold, "approve", "they pay", "anna");
    const [first] = held.filter((hold) => hold.customer === "crm/C1");
    const reject = () => decisions.decide(first?.hold ?? "", "reject", "they do not pay", "anna");
    before(world, "intend", reject, "place-order");
    await run(world);
    expect(await run(world)).toMatchObject({ exitCode: exitCodes.ok, held: [] });
    expect([world.sandbox.counts().calls["E5"], Object.keys(world.sandbox.state().orders)]).toEqual([1, ["O2"]]);
  });
});

describe("a hold that the CRM has made needless", () => {
  it("is moot, and asks nobody any more", async () => {
    const { world, hold } = await held();
    await world.take("staff", staffRecord("S1", "C1", { assets: [{ instanceId: "A-O1" }] }));
    expect(await run(world)).toMatchObject({ exitCode: exitCodes.ok, held: [] });
    await expect(world.ledger.decisions.decide(hold, "approve", "late", "anna")).rejects.toMatchObject({
      code: "hold.decided",
    });
  });

  it("stays where what it is about has changed and its customer waits in quarantine", async () => {
    const world = await otherName();
    const { held } = await run(world);
    await world.take("staff", staffRecord("S2", "C1"));
    world
      .sqlite()
      .exec("update record set state = 'quarantined', changed_at = '2999-01-01T00:00:00.000Z' where id = 'C1'");
    await run(world);
    expect(await open(world)).toEqual([held[0]?.hold]);
  });

  it("stays where its revokes are only blocked for now", async () => {
    const { world, hold } = await held();
    world.sqlite().exec(
      `insert into quarantine (id, source, stream, customer_namespace, customer_id, place, field, code, message, raw_ref, raw_hash, first_seen,
         last_seen, last_read, state) values ('q', 'erp', 'staff', 'crm', 'C1', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 1, 'open')`,
    );
    await run(world);
    expect(await open(world)).toEqual([hold]);
  });

  it("stays where its customer waits in quarantine, and whoever is looked at again has nothing left to do", async () => {
    const { world, hold } = await held();
    await run(world);
    world
      .sqlite()
      .exec(
        `update record set state = 'quarantined' where stream = 'customers'; update record set pending = 1 where id = 'S2'`,
      );
    await run(world);
    expect(world.sqlite().prepare("select outcome, pending from record where id = 'S2'").get()).toEqual({
      outcome: "planned",
      pending: 0,
    });
    expect(await open(world)).toEqual([hold]);
  });
});

describe("a saved plan of which one answer was lost", () => {
  const untouched = { operation: "E5", fault: "resetBefore", times: 1 } as const;

  /** A customer with one placed order, whose lost answers are settled at once. */
  async function started(): Promise<ApplyWorld> {
    const world = await ApplyWorld.start({ ordersUnseen: "resend" });
    Object.assign(world.deps.settle, { timeMs: 100, readings: 1 });
    await world.take("customers", customerRecord("C1"));
    await world.take("orders", orderRecord("O1", "C1"));
    expect((await run(world)).exitCode).toBe(exitCodes.ok);
    return world;
  }

  async function saved(world: ApplyWorld): Promise<NonNullable<RunRequest["expected"]>> {
    const operations = new Map((await world.plan()).map((operation) => [operation.hash, nameOf(operation)]));
    const facts = factsOf(world.ledger.state.load(customer));
    const chosen = new Set(operations.keys());
    return new Map([[formatKey(customer), { customer, plan: "run_saved", facts, operations, chosen, applied: false }]]);
  }

  it("is carried out to its end once that is settled", { tags: "long" }, async () => {
    const world = await started();
    await world.take("orders", orderRecord("O2", "C1"), orderRecord("O3", "C1"));
    const expected = await saved(world);
    world.sandbox.faults.add(untouched);
    expect(await run(world, { expected })).toMatchObject({ exitCode: exitCodes.ok, customers: { stale: 0 } });
    expect(world.effects("E5")).toBe(3);
  });

  it(
    "is refused where the customer changed since: nothing is done that does not stand in it",
    { tags: "long" },
    async () => {
      const world = await started();
      await world.take("orders", orderRecord("O2", "C1"));
      const expected = await saved(world);
      await world.take("orders", orderRecord("O3", "C1"));
      world.sandbox.faults.add(untouched);
      const second = (await world.plan()).find((operation) => operation.subject === "order:crm/O2");
      if (second === undefined) throw new Error("O2 is not planned");
      expect((await world.deliver(second)).kind).toBe("unknown");
      const summary = await run(world, { expected });
      expect(summary).toMatchObject({
        exitCode: exitCodes.recordsRejected,
        customers: { stale: 1 },
        openOperations: 0,
      });
      expect(world.effects("E5")).toBe(2);
      expect((await run(world)).exitCode).toBe(exitCodes.ok);
      expect(world.effects("E5")).toBe(3);
    },
  );
});
