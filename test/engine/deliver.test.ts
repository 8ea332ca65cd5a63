import { describe, expect, it } from "vitest";
import { z } from "zod";
import { CustomerState } from "../../src/engine/customer.ts";
import { deliver } from "../../src/engine/deliver.ts";
import type { WriteOutcome } from "../../src/http/call.ts";
import type { FaultRule } from "../../src/sandbox/faults.ts";
import { ApplyWorld, customer } from "../support/world/apply-world.ts";
import { product } from "../support/world/instances.ts";
import { HeldClock } from "../support/world/start.ts";
import { canaries, customerRecord, key, orderRecord, staffRecord } from "../support/world/records.ts";
import { withMemberCenter, withOrderService } from "./services.ts";

async function withOrder(options: Parameters<typeof ApplyWorld.start>[0] = {}): Promise<ApplyWorld> {
  const world = await ApplyWorld.start(options);
  await world.makeEnterprise();
  await world.take("orders", orderRecord("O1", "C1", {}, ["cloud_account", "normal_recover_usbkey"]));
  return world;
}

describe("an operation that works", () => {
  it("E2 makes the enterprise, links it and protects the members it came with", async () => {
    const world = await ApplyWorld.start();
    const enterprise = await world.makeEnterprise();
    const known = await world.ledger.state.known(customer);
    expect(known.link).toMatchObject({ enterpriseGlobalId: enterprise, origin: "created", examined: true });
    expect(known.protectedMembers.size).toBe(2);
    expect(known.platformCustomers).toHaveLength(2);
    expect(known.acknowledged).toBeDefined();
    expect(world.effects("E2")).toBe(1);
  });

  it("E1 binds the customer where the settings say so", async () => {
    const world = await ApplyWorld.start({ assumptions: { enterpriseCreation: "E1" } });
    await world.take("customers", customerRecord("C1"));
    expect(await world.carryOut("bind-enterprise")).toMatchObject({ kind: "done" });
    expect((await world.ledger.state.known(customer)).link).toMatchObject({ origin: "bound", examined: false });
    expect(world.effects("E1")).toBe(1);
  });

  it("E4 sends what changed, and it counts as acknowledged", async () => {
    const world = await ApplyWorld.start();
    await world.makeEnterprise();
    await world.take("customers", customerRecord("C1", { branchName: "Other branch" }));
    expect(await world.carryOut("update-enterprise")).toMatchObject({ kind: "done" });
    expect(world.effects("E4")).toBe(1);
    expect((await world.plan()).filter((operation) => operation.kind === "update-enterprise")).toEqual([]);
  });

  it("E9 and E5 place the order with numbers of its own, keep its licence orders and wipe its passwords", async () => {
    const world = await withOrder();
    expect(await world.carryOut("place-order")).toMatchObject({ kind: "done" });
    const known = await world.ledger.state.known(customer);
    expect([...known.placedOrders.keys()]).toEqual(["crm/O1"]);
    expect(known.numbers).toHaveLength(3);
    const rows = world
      .sqlite()
      .prepare("select sequence, license_type, license_order_id <> '' as named from licence_order order by sequence")
      .all();
    expect(rows).toEqual([
      { sequence: 1, license_type: "cloud_account", named: 1 },
      { sequence: 2, license_type: "normal_recover_usbkey", named: 1 },
    ]);
    const sealed = world.sqlite().prepare("select count(*) from private_value where sealed is not null").pluck().get();
    expect(sealed).toBe(0);
    expect(world.sandbox.state()).toMatchObject({ assets: 3, shellNumbers: 5 });
    expect(await world.ledger.state.read((rows) => rows.order.numbers.poolSize())).toBe(2);
    expect(world.sandbox.batches("O1")).toHaveLength(1);
  });

  it("E5 sends the numbers that were fixed after the customer was looked at", async () => {
    const world = await withOrder();
    const order = await world.planned("place-order");
    const state = new CustomerState(world.deps, customer);
    expect(state.held.known.numbers).toEqual([]);
    const options = { runId: "run", state };
    expect(await deliver(world.deps, world.pool, order, options)).toMatchObject({ kind: "done" });
    expect(state.held.known.numbers).toHaveLength(3);
  });

  it("an order of 450 numbers gets them in one go, a hundred a call, and an E9 that gives nothing ends the asking", async () => {
    const world = await ApplyWorld.start();
    const asset = { id: "A1", licenseType: "cloud_account", quantity: 450, given: [] };
    expect(await world.pool.fix({ order: key("O1"), customer }, [asset], undefined)).toBeUndefined();
    expect(world.calls("E9")).toBe(5);
    expect(await world.ledger.state.read((rows) => rows.order.numbers.poolSize())).toBe(0);
    world.sandbox.faults.add({ operation: "E9", fault: "appliedNoReply" });
    const more = { ...asset, id: "A2", quantity: 51 };
    expect(await world.pool.fix({ order: key("O2"), customer }, [more], undefined)).toMatchObject({
      code: "pool.empty",
    });
    expect(world.calls("E9")).toBe(8);
  });

  it("twenty orders at once get their numbers, though E9 is asked for one at a time", async () => {
    const world = await ApplyWorld.start({ assumptions: { poolBatch: 1 } });
    const asset = { id: "A1", licenseType: "cloud_account", quantity: 1, given: [] };
    const orders = Array.from({ length: 20 }, (_, index) => key(`O${index + 1}`));
    const problems = await Promise.all(orders.map((order) => world.pool.fix({ order, customer }, [asset], undefined)));
    expect(problems).toEqual(orders.map(() => undefined));
    expect(world.calls("E9")).toBe(20);
  });

  it("M1 adds staff with generated passwords that are sealed, and learns the enterprise code", async () => {
    const world = await ApplyWorld.start();
    await world.makeEnterprise();
    // A department beyond 2^53: the sandbox takes a Long, and refuses digits that are text.
    await world.take("staff", staffRecord("S1", "C1", { departmentId: "9007199254740993" }), staffRecord("S2", "C1"));
    expect(await world.carryOut("add-staff")).toEqual({ kind: "done", refused: [] });
    const known = await world.ledger.state.known(customer);
    expect([...known.staffLinks.values()].map((link) => link.origin)).toEqual(["created", "created"]);
    expect(known.enterpriseCode).toBe("E00001");
    const { values } = await world.ledger.private.latestSealed("initial-password/crm/S1 at crm/C1");
    const password = JSON.stringify(values?.["password"]);
    expect(password).toMatch(/^"[A-Za-z2-9]{16}"$/u);
    expect(world.log.join("")).not.toContain(password);
    expect(world.effects("M1")).toBe(1);
  });

  it("M1 sends the password that the CRM gave, and the ledger keeps it no longer", async () => {
    const world = await ApplyWorld.start({ assumptions: { passwordSource: "crm" } });
    await world.makeEnterprise();
    await world.take("staff", staffRecord("S1", "C1", { password: "First-Password-1" }));
    await world.take("staff", staffRecord("S1", "C1", { password: "Second-Password-2" }));
    const sealed = () =>
      world.sqlite().prepare("select count(*) from private_value where sealed is not null").pluck().get();
    expect(sealed()).toBe(2);
    expect(await world.carryOut("add-staff")).toEqual({ kind: "done", refused: [] });
    expect(sealed()).toBe(0);
  });

  it("M9 grants, and revokes what it granted", async () => {
    const world = await withOrder();
    await world.carryOut("place-order");
    await world.take("staff", staffRecord("S1", "C1", { assets: [{ instanceId: "A-O1" }] }));
    await world.carryOut("add-staff");
    expect(await world.carryOut("grant-assets")).toMatchObject({ kind: "done" });
    expect((await world.ledger.state.known(customer)).assignments).toHaveLength(1);
    expect(world.sandbox.state().assignments).toBe(1);
    await world.take("staff", staffRecord("S1", "C1", { assets: [] }));
    expect(await world.carryOut("revoke-assets")).toMatchObject({ kind: "done" });
    expect((await world.ledger.state.known(customer)).assignments).toEqual([]);
    expect(world.sandbox.state().assignments).toBe(0);
  });

  it("leaves a whole chain of evidence, with no private value in it", async () => {
    const world = await withOrder();
    await world.carryOut("place-order");
    await world.take("staff", staffRecord("S1", "C1"));
    await world.carryOut("add-staff");
    expect(world.ledger.audit.verify()).toMatchObject({ good: true });
    const text = JSON.stringify(
      ["operation", "attempt", "audit", "staff_link", "record_version"].map((table) =>
        world.sqlite().prepare(`select * from ${table}`).all(),
      ),
    );
    expect(text).not.toMatch(canaries);
    expect(world.log.join("")).not.toMatch(canaries);
  });
});

describe("the order in which things are written", () => {
  it("has the intent on disk before the first byte leaves", async () => {
    const world = await withOrder();
    const seen: unknown[] = [];
    const real = world.deps.platform.orderService;
    const watched = world.with({
      orderService: {
        ...real,
        placeOrders: async (request, call) => {
          const kept = "select state, wire_hash is not null as hashed from operation where endpoint = 'E5'";
          seen.push(world.sqlite().prepare(kept).get());
          const beforeSending = async (): Promise<void> => {
            await call.beforeSending?.();
            seen.push(world.sqlite().prepare(kept).get());
            const nonce = "select nonce from attempt order by started_at desc limit 1";
            seen.push(world.sqlite().prepare(nonce).pluck().get() === call.nonce, world.calls("E5"));
          };
          return await real.placeOrders(request, { ...call, beforeSending });
        },
      },
    });
    await watched.carryOut("place-order");
    expect(seen).toEqual([undefined, { state: "sending", hashed: 1 }, true, 0]);
    expect(world.calls("E5")).toBe(1);
  });

  it("sends nothing once the ledger is broken", async () => {
    const world = await withOrder();
    const operation = await world.planned("place-order");
    await world.fixNumbers(operation);
    const before = world.sandbox.counts().writingCalls;
    world.sqlite().exec("update operation set payload = 'x'");
    const damaged = String(world.sqlite().prepare("select id from operation").pluck().get());
    await expect(world.ledger.journal.byId(damaged)).rejects.toThrow("damaged");
    await expect(deliver(world.deps, world.pool, operation, { runId: "run" })).rejects.toThrow("damaged");
    expect(world.sandbox.counts().writingCalls).toBe(before);
  });
});

describe("a call without a permit", () => {
  async function answering(outcome: WriteOutcome<never>): Promise<{ world: ApplyWorld; asked: ApplyWorld }> {
    const world = await ApplyWorld.start();
    await world.take("customers", customerRecord("C1"));
    return { world, asked: withOrderService(world, { createEnterprise: () => Promise.resolve(outcome) }) };
  }

  it("was not sent, and is no operation of the journal", async () => {
    const { world, asked } = await answering({ kind: "not-sent", reason: "there is no token" });
    const notSent = { kind: "not-sent", id: undefined, reason: "there is no token" };
    expect(await asked.carryOut("create-enterprise")).toEqual(notSent);
    expect(await world.states()).toEqual({});
  });

  it("that left all the same is a defect, and no outcome", async () => {
    const { world, asked } = await answering({ kind: "unknown", reason: "no answer" });
    await expect(asked.carryOut("create-enterprise")).rejects.toThrow("left without an intent");
    expect(await world.states()).toEqual({});
  });
});

describe("what becomes of a call", () => {
  /** Carries E2 out, and answers what the journal and the audit log say of it. */
  async function kept(fault: Omit<FaultRule, "operation"> | undefined): Promise<unknown> {
    const world = await ApplyWorld.start();
    await world.take("customers", customerRecord("C1"));
    const operation = await world.planned("create-enterprise");
    if (fault === undefined) await world.sandbox.refuseConnections();
    else world.sandbox.faults.add({ operation: "E2", ...fault });
    await deliver(world.deps, world.pool, operation, { runId: "run" });
    const sql = "select kind, body from audit where subject = ? order by sequence desc limit 1";
    const entry = world.sqlite().prepare<[string], { kind: string; body: string }>(sql).get(operation.subject);
    const body: unknown = JSON.parse(entry?.body ?? "null");
    const row = await world.row(z.object({ operation: z.string() }).parse(body).operation);
    return { kind: entry?.kind, body, state: row.state, verdict: row.verdict, message: row.outcomeMessage };
  }

  it.each<[string, Omit<FaultRule, "operation"> | undefined, object]>([
    [
      "not sent",
      undefined,
      {
        kind: "not-sent",
        body: { state: "dropped", reason: "ECONNREFUSED", run: "run" },
        state: "dropped",
        verdict: "not sent",
        message: "ECONNREFUSED",
      },
    ],
    [
      "no answer",
      { fault: "appliedNoReply" },
      {
        kind: "unknown",
        body: { state: "unknown", reason: expect.stringMatching(/./u) },
        state: "unknown",
        message: expect.stringMatching(/./u),
      },
    ],
    [
      "refused",
      { fault: "status299", code: "13004" },
      {
        kind: "rejected",
        body: { state: "rejected", code: "13004", meaning: expect.stringMatching(/./u) },
        state: "rejected",
        message: expect.stringMatching(/./u),
      },
    ],
    ["done", { fault: "slow", delayMs: 0 }, { kind: "create-enterprise", body: { state: "done" }, state: "done" }],
  ])("stands in the journal and the audit log: %s", async (_name, fault, expected) => {
    expect(await kept(fault)).toMatchObject(expected);
  });
});

describe("an operation that was planned before", () => {
  it("is the same in the journal when it is sent", async () => {
    const world = await ApplyWorld.start();
    await world.take("customers", customerRecord("C1"));
    const operation = await world.planned("create-enterprise");
    await world.ledger.journal.plan({ runId: "run", operations: [operation] });
    const [row] = await world.ledger.journal.plannedOf({ customer, ofUndo: false });
    const plannedId = row?.id ?? "";
    await deliver(world.deps, world.pool, operation, { runId: "run", plannedId });
    expect(await world.row(plannedId)).toMatchObject({ state: "done", attempts: 1 });
  });

  it("is sent by one run only where a saved plan holds it", async () => {
    const world = await ApplyWorld.start();
    await world.take("customers", customerRecord("C1"));
    const operation = await world.planned("create-enterprise");
    const by = (runId: string) => deliver(world.deps, world.pool, operation, { runId, plan: "plan_1" });
    await world.sandbox.refuseConnections();
    expect((await by("first")).kind).toBe("not-sent");
    await world.sandbox.acceptConnections();
    expect(await by("second")).toMatchObject({ kind: "blocked", code: "plan.applied-already" });
    expect(world.calls("E2")).toBe(0);
    expect((await by("first")).kind).toBe("done");
  });
});

describe("a refused order", () => {
  it("is known with its code, reason and answer, and is not placed again as it is", async () => {
    const world = await withOrder();
    world.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", times: 1 });
    const delivery = await world.carryOut("place-order");
    const reason = expect.stringMatching(/^E5 was rejected with 13004: /u);
    expect(delivery).toMatchObject({ kind: "rejected", answered: "13004", code: "rejected.13004", reason });
    const [id] = world.sqlite().prepare("select id from operation where endpoint = 'E5'").pluck().all();
    const row = await world.row(String(id));
    expect(row).toMatchObject({ state: "rejected", outcomeCode: "13004" });
    const [attempt] = await world.ledger.journal.attempts(row.id);
    expect(attempt).toMatchObject({ outcome: "rejected", httpStatus: 299, code: "13004" });
    const audited = world.sqlite().prepare("select body from audit where kind = 'rejected'").pluck().get();
    expect(JSON.parse(String(audited))).toMatchObject({
      operation: row.id,
      code: "13004",
      meaning: row.outcomeMessage,
    });
    expect(world.log.at(-1)).toMatch(/"code":"13004".*"msg":"operation rejected"/u);
    expect((await world.plan()).map(({ kind }) => kind)).not.toContain("place-order");
  });
});

describe("an answer that contradicts the ledger", () => {
  /** E2 that answers with an enterprise of somebody else. */
  async function contradicted(): Promise<{ world: ApplyWorld; asked: ApplyWorld }> {
    const world = await ApplyWorld.start();
    await world.take("customers", customerRecord("C1"));
    const link = { channelCode: "crm", channelCustomerId: "X", origin: "created" as const, examined: true };
    await world.ledger.state.record(customer, [
      { type: "linked", customer: { namespace: "crm", id: "X" }, link: { ...link, enterpriseGlobalId: "taken" } },
    ]);
    const real = world.deps.platform.orderService;
    const asked = world.with({
      orderService: {
        ...real,
        createEnterprise: async (request, call) => {
          const outcome = await real.createEnterprise(request, call);
          return outcome.kind === "done"
            ? { ...outcome, data: { ...outcome.data, enterpriseGlobalId: "taken" } }
            : outcome;
        },
      },
    });
    return { world, asked };
  }

  it("waits for a person, says why, and leaves nothing half-written", async () => {
    const { world, asked } = await contradicted();
    const delivery = await asked.carryOut("create-enterprise");
    expect(delivery).toMatchObject({
      kind: "parked",
      reason: expect.stringContaining("its enterprise belongs to another customer already"),
    });
    const [row] = await world.ledger.journal.open();
    expect(row).toMatchObject({ state: "parked", attempts: 1 });
    expect((await world.ledger.journal.attempts(row?.id ?? ""))[0]).toMatchObject({ outcome: "done" });
    expect((await world.ledger.state.known(customer)).acknowledged).toBeUndefined();
    expect(row?.outcomeMessage).toBe(delivery.kind === "parked" ? delivery.reason : "");
    const sql = "select body from audit where kind = 'parked'";
    expect(JSON.parse(String(world.sqlite().prepare(sql).pluck().get()))).toMatchObject({
      operation: row?.id,
      reason: row?.outcomeMessage,
      verdict: "waits for a person",
    });
    const answer = "select body from private_value where ref = ?";
    expect(world.sqlite().prepare(answer).pluck().get(`answer/${row?.id}`)).toContain('"enterpriseGlobalId"');
    expect(world.log.join("")).toContain("operation parked");
  });

  it("waits for a person too where the run went on before its commit", async () => {
    const { world, asked } = await contradicted();
    const operation = await asked.planned("create-enterprise");
    const state = new CustomerState(asked.deps, customer);
    expect(state.held.known).toBeDefined();
    const options = { runId: "run", state, ahead: true };
    expect(await deliver(asked.deps, asked.pool, operation, options)).toMatchObject({ kind: "done" });
    await expect(state.settled()).rejects.toMatchObject({ code: "ledger.contradiction" });
    const [row] = await world.ledger.journal.open();
    expect(row).toMatchObject({ state: "parked", outcomeMessage: expect.stringContaining("another customer already") });
  });

  it("is taken back by itself when the platform shows something that fits", async () => {
    const { world, asked } = await contradicted();
    await asked.carryOut("create-enterprise");
    const [row] = await world.ledger.journal.open();
    expect((await world.settle(row?.id ?? "")).kind).toBe("done");
    expect((await world.ledger.state.known(customer)).link?.enterpriseGlobalId).not.toBe("taken");
  });
});

describe("an answer of M1 that names the account of somebody else", () => {
  it("links nobody, and waits for a person", async () => {
    const world = await ApplyWorld.start();
    await world.makeEnterprise();
    await world.take("staff", staffRecord("S1", "C1"));
    await world.carryOut("add-staff");
    const [first] = (await world.ledger.state.known(customer)).staffLinks.values();
    await world.take("staff", staffRecord("S2", "C1"));
    const real = world.deps.platform.memberCenter;
    const mistaken = withMemberCenter(world, {
      addStaff: async (enterprise, request, call) => {
        const outcome = await real.addStaff(enterprise, request, call);
        if (outcome.kind !== "done") return outcome;
        const globalId = first?.memberGlobalId ?? "";
        const succeeded = outcome.data.succeeded.map((row) => ({ ...row, globalId }));
        return { ...outcome, data: { ...outcome.data, succeeded } };
      },
    });
    const reason = expect.stringContaining("is linked to crm/S1");
    expect(await mistaken.carryOut("add-staff")).toMatchObject({ kind: "parked", reason });
    expect([...(await world.ledger.state.known(customer)).staffLinks.keys()]).toEqual(["crm/S1"]);
  });
});

describe("an answer that contradicts what the contract is taken for", () => {
  it("is noted before its outcome: the next order is not sent (A17)", async () => {
    const world = await withOrder();
    const real = world.deps.platform.orderService;
    const renumbered = withOrderService(world, {
      placeOrders: async (request, call) => {
        const outcome = await real.placeOrders(request, call);
        if (outcome.kind !== "done") return outcome;
        return { ...outcome, data: outcome.data.map((row, index) => ({ ...row, sequence: 100 + index })) };
      },
    });
    const id = await renumbered.carryOutUnknown("place-order");
    expect(world.ledger.assumptions.contradictions.get("A17")).toMatchObject({
      evidence: "E5 answered with other sequences than were sent",
    });
    expect((await world.settle(id)).kind).toBe("done");
    await world.take("orders", orderRecord("O2", "C1"));
    expect(await world.carryOut("place-order")).toMatchObject({ kind: "blocked", code: "assumption.contradicted" });
    expect(world.calls("E5")).toBe(1);
  });
});

describe("an operation that rests on what the services contradicted", () => {
  const contradicted = { row: "A17", verdict: "contradicted", evidence: "an E5 was refused for its numbers" } as const;

  it("is not sent, says which row, and takes no asset numbers", async () => {
    const world = await withOrder();
    const order = await world.planned("place-order");
    await world.ledger.assumptions.met([contradicted]);
    const block = { kind: "blocked", code: "assumption.contradicted", reason: expect.stringContaining("A17") };
    expect(await world.deliver(order)).toMatchObject(block);
    expect([world.calls("E9"), world.calls("E5")]).toEqual([0, 0]);
    expect(await world.ledger.journal.open()).toEqual([]);
  });

  it("is not sent again either: it may have been applied, so it waits for a person", async () => {
    const world = await withOrder({ ordersUnseen: "resend" });
    world.sandbox.faults.add({ operation: "E5", fault: "resetBefore", times: 1 });
    const id = await world.carryOutUnknown("place-order");
    await world.ledger.assumptions.met([contradicted]);
    const reason = expect.stringMatching(
      /^it is not sent again: the services contradict the assumption A17 .*refused for its numbers/u,
    );
    expect(await world.settleInTime(id)).toMatchObject({ kind: "parked", reason });
    expect(await world.row(id)).toMatchObject({ state: "parked", outcomeMessage: reason, attempts: 1 });
    expect(world.calls("E5")).toBe(1);
  });
});

/** What a fault makes of a call: whether the service applied it, and what we know right after. */
const faults: [name: string, rule: Omit<FaultRule, "operation">, applied: boolean, outcome: string][] = [
  ["applied, the reply lost", { fault: "appliedNoReply" }, true, "unknown"],
  ["applied, half a reply", { fault: "resetMidReply" }, true, "unknown"],
  ["applied, JSON that stops in the middle", { fault: "wrongJson" }, true, "unknown"],
  ["applied, data that is not the operation's", { fault: "wrongShape" }, true, "unknown"],
  ["applied, too late for us", { fault: "slow", delayMs: 3_000 }, true, "unknown"],
  ["reset before anything was read", { fault: "refused" }, false, "unknown"],
  ["reset before anything happened", { fault: "resetBefore" }, false, "unknown"],
  ["no reply ever", { fault: "silence" }, false, "unknown"],
  ["business code 500", { fault: "code500" }, false, "unknown"],
  ["HTTP 502 with a page", { fault: "http502" }, false, "unknown"],
  ["HTTP 503", { fault: "http503" }, false, "unknown"],
  ["a code that nobody lists", { fault: "oddCode" }, false, "unknown"],
  ["HTTP 299 with a refusal", { fault: "status299", code: "13004" }, false, "rejected"],
];

describe("an order that meets a fault", () => {
  it.each(faults)(
    "%s: the journal says what is known, and the order is there once in the end",
    { tags: "long" },
    async (_name, rule, applied, outcome) => {
      const world = await withOrder();
      const operation = await world.planned("place-order");
      await world.fixNumbers(operation);
      world.sandbox.faults.add({ operation: "E5", times: 1, ...rule });
      const delivery = await world.deliver(operation, 1_000);
      expect(delivery.kind).toBe(outcome);
      if (outcome === "rejected") {
        expect((await world.states())["E5"]).toBe("rejected");
        expect(world.effects("E5")).toBe(0);
        return;
      }
      if (delivery.kind !== "unknown") return;
      const row = await world.row(delivery.id);
      expect(row.state).toBe("unknown");
      expect(row.settleAfter).not.toBeNull();
      await world.until(() => !applied || world.effects("E5") > 0);
      const settled = await world.settleInTime(delivery.id);
      expect(settled.kind).toBe(applied ? "done" : "parked");
      if (applied) {
        const licences = world.sqlite().prepare("select license_order_id from licence_order").pluck().all();
        expect(licences).toHaveLength(2);
        expect((await world.ledger.state.known(customer)).placedOrders.size).toBe(1);
      } else {
        expect((await world.row(delivery.id)).outcomeMessage).toContain("a person decides");
        expect((await world.ledger.state.known(customer)).placedOrders.size).toBe(0);
      }
      expect(world.effects("E5")).toBe(applied ? 1 : 0);
      expect(world.calls("E5")).toBe(1);
      expect(world.nothingTwice).toBe(true);
      expect(world.ledger.audit.verify()).toMatchObject({ good: true });
    },
  );

  it.each(["e5MissingSequence", "e5DuplicateSequence"] as const)(
    "%s: an answer that does not match what was sent proves nothing; reading does",
    async (fault) => {
      const world = await withOrder();
      world.sandbox.faults.add({ operation: "E5", fault, times: 1 });
      const id = await world.carryOutUnknown("place-order");
      expect((await world.row(id)).outcomeMessage).toMatch(/sequence/u);
      expect(await world.ledger.journal.attempts(id)).toMatchObject([{ outcome: "unknown", httpStatus: 200 }]);
      expect((await world.settle(id)).kind).toBe("done");
      expect(world.sqlite().prepare("select count(distinct license_order_id) from licence_order").pluck().get()).toBe(
        2,
      );
      expect(world.effects("E5")).toBe(1);
    },
  );

  it("that comes late is not taken for missing", { tags: "long" }, async () => {
    const platformClock = new HeldClock();
    const world = await withOrder({ platformClock, ordersUnseen: "resend" });
    const operation = await world.planned("place-order");
    await world.fixNumbers(operation);
    world.sandbox.faults.add({ operation: "E5", fault: "appliedLate", delayMs: 1_500, times: 1 });
    const delivery = await world.deliver(operation, 300);
    if (delivery.kind !== "unknown") throw new Error(`the order is ${JSON.stringify(delivery)}`);
    const { id } = delivery;
    await world.until(() => world.sandbox.state().deferred === 1);
    expect((await world.settle(id)).kind).toBe("waiting");
    platformClock.release();
    await world.until(() => world.effects("E5") > 0);
    expect((await world.settle(id)).kind).toBe("done");
    expect(world.calls("E5")).toBe(1);
    expect(world.nothingTwice).toBe(true);
  });

  it("is not sent where nobody listens, and is planned anew", async () => {
    const world = await withOrder();
    const operation = await world.planned("place-order");
    await world.fixNumbers(operation);
    await world.sandbox.refuseConnections();
    const delivery = await deliver(world.deps, world.pool, operation, { runId: "run" });
    expect(delivery.kind).toBe("not-sent");
    await world.sandbox.acceptConnections();
    expect((await world.states())["E5"]).toBe("dropped");
    expect(await world.carryOut("place-order")).toMatchObject({ kind: "done" });
    expect(world.effects("E5")).toBe(1);
  });

  it("is not sent once the run was stopped, and leaves no trace in the journal", async () => {
    const world = await withOrder();
    const operation = await world.planned("place-order");
    await world.fixNumbers(operation);
    const signal = AbortSignal.abort();
    expect(await deliver(world.deps, world.pool, operation, { runId: "run", signal })).toMatchObject({
      kind: "stopped",
    });
    expect((await world.states())["E5"]).toBeUndefined();
    expect(world.calls("E5")).toBe(0);
  });

  it("takes no asset numbers either once the run was stopped", async () => {
    const world = await withOrder();
    const operation = await world.planned("place-order");
    const signal = AbortSignal.abort();
    expect(await deliver(world.deps, world.pool, operation, { runId: "run", signal })).toMatchObject({
      kind: "stopped",
    });
    expect((await world.states())["E9"]).toBeUndefined();
    expect(world.calls("E9")).toBe(0);
  });

  it("waits while its channel order number belongs to another order", async () => {
    const world = await withOrder();
    await world.carryOut("place-order");
    await world.take("orders", orderRecord("O2", "C1"));
    const other = await world.planned("place-order");
    const same = { ...other, payload: { ...other.payload, channelOrderId: "O1" } };
    expect(await world.deliver(same)).toMatchObject({ kind: "blocked", code: "order.same-channel-number" });
    expect(world.calls("E5")).toBe(1);
  });
});

describe("an amendment of a placed order", () => {
  const types = ["cloud_account", "normal_recover_usbkey"] as const;
  const bought = orderRecord("O1", "C1", {}, types);
  const more = { ...bought, instances: [...bought.instances, product("P9-O1", "A-O1")] };

  async function amended(options: Parameters<typeof ApplyWorld.start>[0] = {}): Promise<ApplyWorld> {
    const world = await withOrder(options);
    await world.carryOut("place-order");
    await world.take("orders", more);
    return world;
  }

  it("has a channel order number of its own, and keeps it when it is sent again", async () => {
    const world = await amended({ ordersUnseen: "resend" });
    const numbers: unknown[] = [];
    const watched = withOrderService(world, {
      placeOrders: async (request, call) => {
        numbers.push(request.channelOrderId);
        return await world.deps.platform.orderService.placeOrders(request, call);
      },
    });
    world.sandbox.faults.add({ operation: "E5", fault: "resetBefore", times: 1 });
    const id = await watched.carryOutUnknown("amend-order");
    expect((await watched.settleInTime(id)).kind).toBe("done");
    expect(numbers).toEqual(["O1-1", "O1-1"]);
    expect([world.effects("E5"), world.nothingTwice]).toEqual([2, true]);
  });

  it("is not sent where the order does not stand placed", async () => {
    const amendment = await (await amended()).planned("amend-order");
    const world = await withOrder();
    const delivery = await world.deliver(amendment);
    expect(delivery).toMatchObject({ kind: "blocked", code: "order.changed-meanwhile" });
    expect(delivery).toMatchObject({ reason: "the order crm/O1 is no longer placed" });
    expect(world.calls("E5")).toBe(0);
  });

  it("takes no channel order number that another order has", async () => {
    const world = await amended();
    await world.take("orders", orderRecord("O2", "C1", { channelOrderId: "O1-1" }));
    await world.carryOut("place-order");
    expect(await world.carryOut("amend-order")).toMatchObject({ kind: "done" });
    expect([world.sandbox.batches("O1-1").length, world.sandbox.batches("O1-2").length]).toEqual([1, 1]);
  });
});
