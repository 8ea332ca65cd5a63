import { setImmediate as turn } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { toInstant } from "../../src/base/clock.ts";
import { openInquiry } from "../../src/inquiry/inquiry.ts";
import { readBack, verifyCustomer } from "../../src/engine/run/verify.ts";
import type { Difference } from "../../src/report/reconciliation/case.ts";
import type { SnapshotReader } from "../../src/platform/snapshot.ts";
import { ApplyWorld, customer } from "../support/world/apply-world.ts";
import { customerRecord, orderRecord, staffRecord } from "../support/world/records.ts";
import { runWorld } from "../support/world/run.ts";

it.each(["as they come", "the other way round"])(
  "an asset and a product that are shown twice are findings of their own, with the rows %s",
  { tags: "long" },
  async (order) => {
    const world = await ApplyWorld.start();
    await world.makeEnterprise();
    await world.take("orders", orderRecord("O1", "C1"));
    await world.take("staff", staffRecord("S1", "C1"));
    expect(await world.carryOut("place-order")).toMatchObject({ kind: "done" });
    const turned = <Row>(rows: readonly Row[]): Row[] => (order === "as they come" ? [...rows] : rows.toReversed());
    const real = world.deps.platform.memberCenter;
    const twice = world.with({
      memberCenter: {
        ...real,
        listAssetNumbers: async (...parameters) => {
          const rows = await real.listAssetNumbers(...parameters);
          return turned([...rows, ...rows.slice(0, 1).map((row) => ({ ...row, assetId: `${row.assetId}9` }))]);
        },
        listAssetContents: async (assetId, call) => {
          const contents = await real.listAssetContents(assetId.replace(/9$/u, ""), call);
          const [first] = contents.productInstanceList;
          const again = first === undefined ? [] : [{ ...first, id: `${first.id}9`, licenseOrderId: "L2" }];
          return { ...contents, productInstanceList: turned([...contents.productInstanceList, ...again]) };
        },
      },
    });
    await keep(world, twice.reader);
    const inquiry = openInquiry(world.path);
    const found = await shownNow(inquiry);
    inquiry.close();
    expect(found.filter(({ subject }) => subject.startsWith("shown twice"))).toMatchObject([
      {
        level: "assignment",
        class: "extra",
        subject: expect.stringMatching(/^shown twice: under asset number \d+$/u),
        detail: expect.stringContaining("the platform shows the asset number 2 times"),
      },
      {
        level: "product",
        class: "extra",
        subject: expect.stringMatching(/^shown twice: \S+ under asset number \d+$/u),
        detail: expect.stringMatching(/the platform shows the product .* 2 times/u),
      },
    ]);
    await keep(world, world.reader);
    const after = openInquiry(world.path);
    expect(await shownNow(after), "gone once it is shown once").toEqual([]);
    after.close();
  },
);

/** What the last readings of all customers show otherwise than it was sent. */
async function shownNow(inquiry: ReturnType<typeof openInquiry>): Promise<readonly Difference[]> {
  return (await Array.fromAsync(inquiry.differences(""))).flatMap(({ differences }) => differences);
}

/** The one customer of the world, as it is linked. */
async function linked(world: ApplyWorld): Promise<Parameters<typeof verifyCustomer>[1]> {
  const [found] = [
    ...(await world.ledger.state.read((rows) => rows.enterprise.readings.neverRead(undefined, 1))),
    ...(await world.ledger.state.read((rows) => rows.enterprise.readings.oldestRead(undefined, "9999", 1))),
  ];
  if (found === undefined) throw new Error("no customer is linked");
  return found;
}

async function keep(world: ApplyWorld, reader: SnapshotReader): Promise<void> {
  await world.ledger.state.keepShown([
    await verifyCustomer({ ledger: world.ledger, reader }, await linked(world), undefined),
  ]);
}

it("the lists of an enterprise are read side by side, and then what its assets hold", async () => {
  const world = await ApplyWorld.start();
  await world.makeEnterprise();
  for (const id of ["O1", "O2", "O3"]) await world.take("orders", orderRecord(id, "C1"));
  expect(await runWorld(world)).toMatchObject({ exitCode: 0 });
  let inProgress = 0;
  const most = { lists: 0, contents: 0 };
  const held =
    <Parameters extends unknown[], Answer>(
      kind: "lists" | "contents",
      call: (...given: Parameters) => Promise<Answer>,
    ) =>
    async (...given: Parameters): Promise<Answer> => {
      inProgress += 1;
      for (let turns = 0; turns < 20; turns += 1) await turn();
      most[kind] = Math.max(most[kind], inProgress);
      const answer = await call(...given);
      inProgress -= 1;
      return answer;
    };
  const { memberCenter, orderService } = world.deps.platform;
  const slow = world.with({
    memberCenter: {
      ...memberCenter,
      listStaff: held("lists", (...given: Parameters<typeof memberCenter.listStaff>) =>
        memberCenter.listStaff(...given),
      ),
      listAssetNumbers: held("lists", (...given: Parameters<typeof memberCenter.listAssetNumbers>) =>
        memberCenter.listAssetNumbers(...given),
      ),
      listBorrowedLocks: held("lists", (...given: Parameters<typeof memberCenter.listBorrowedLocks>) =>
        memberCenter.listBorrowedLocks(...given),
      ),
      listAssetContents: held("contents", (...given: Parameters<typeof memberCenter.listAssetContents>) =>
        memberCenter.listAssetContents(...given),
      ),
    },
    orderService: {
      ...orderService,
      findCustomers: held("lists", (...given: Parameters<typeof orderService.findCustomers>) =>
        orderService.findCustomers(...given),
      ),
      listVirtualAssets: held("lists", (...given: Parameters<typeof orderService.listVirtualAssets>) =>
        orderService.listVirtualAssets(...given),
      ),
    },
  });
  const { assets } = await verifyCustomer(
    { ledger: world.ledger, reader: slow.reader },
    await linked(world),
    undefined,
  );
  expect(most).toEqual({ lists: 5, contents: Math.min(assets, 8) });
  expect(assets).toBeGreaterThan(2);
});

it("what several assets hold that cannot be read fails their customer alone, told once", async () => {
  const world = await ApplyWorld.start();
  await world.take("customers", customerRecord("C1"), customerRecord("C2"));
  for (const id of ["O1", "O2", "O3"]) await world.take("orders", orderRecord(id, "C1"));
  expect(await runWorld(world)).toMatchObject({ exitCode: 0 });
  const { memberCenter } = world.deps.platform;
  let failed = 0;
  const failing = world.with({
    memberCenter: {
      ...memberCenter,
      listAssetContents: async () => {
        failed += 1;
        return await Promise.reject(new Error("M7 cannot be read"));
      },
    },
  });
  const summary = { customers: 0, failed: 0, unclear: 0, defects: 0, assets: 0, products: 0, members: 0 };
  const deps = { ...failing.deps, sources: [], streams: [], concurrency: 2, progress: () => {} };
  await readBack(deps, {}, failing.reader, summary);
  expect(failed, "side by side").toBeGreaterThan(1);
  expect(summary).toMatchObject({ customers: 2, defects: 1 });
});

it("customers are kept together; one that cannot be kept fails alone", async () => {
  const world = await ApplyWorld.start();
  for (const id of ["C1", "C2", "C3"]) await world.take("customers", { ...customerRecord(id), id });
  expect(await runWorld(world)).toMatchObject({ exitCode: 0 });
  const { state } = world.ledger;
  const keepShown = state.keepShown.bind(state);
  const kept = vi.spyOn(state, "keepShown").mockImplementation(async (shown) => {
    if (shown.some((item) => item.customer.id === "C2")) throw new Error("not kept");
    return await keepShown(shown);
  });
  const summary = { customers: 0, failed: 0, unclear: 0, defects: 0, assets: 0, products: 0, members: 0 };
  const deps = { ...world.deps, sources: [], streams: [], concurrency: 2, progress: () => {} };
  await readBack(deps, {}, world.reader, summary);
  expect(summary).toMatchObject({ customers: 3, defects: 1, members: 4 });
  expect(kept.mock.calls.length, "once for all, then one by one").toBe(4);
  const read = world.sqlite().prepare("select customer_id as id, complete from observation_read order by id").all();
  expect(read).toEqual([
    { id: "C1", complete: 1 },
    { id: "C2", complete: 0 },
    { id: "C3", complete: 1 },
  ]);
});

it("what is shown as before is said by one row, and everything is as old as the last whole reading", async () => {
  const world = await ApplyWorld.start();
  await world.makeEnterprise();
  await keep(world, world.reader);
  const rows = (): unknown[] => world.sqlite().prepare("select * from observation order by kind, subject").all();
  const before = rows();
  expect(before.length).toBeGreaterThan(1);
  world.clock.pass(3_600_000);
  const later = toInstant(world.clock.now());
  await keep(world, world.reader);
  expect(rows(), "no row of what is shown is written").toEqual(before);
  world.clock.pass(3_600_000);
  await world.ledger.state.record(customer, [{ type: "observation-failed", customer }]);
  const inquiry = openInquiry(world.path);
  const { observations } = await inquiry.explain("customers", customer);
  inquiry.close();
  const ages = observations.map(({ seenAt }) => Date.parse(seenAt) - Date.parse(later));
  expect(Math.max(...ages), "a reading that fails makes nothing younger or older").toBeLessThan(3_600_000);
  expect(Math.min(...ages)).toBeGreaterThanOrEqual(0);
});

it("a thing that is told of alone is looked at again by the next whole reading", async () => {
  const world = await ApplyWorld.start();
  await world.makeEnterprise();
  await keep(world, world.reader);
  const standing = (): unknown[] =>
    world.sqlite().prepare("select kind, subject, body from observation where to_at is null order by 1, 2").all();
  const shown = standing();
  await world.ledger.state.record(customer, [
    { type: "observed", customer, kind: "member", subject: "of no enterprise", body: {} },
  ]);
  expect(standing()).not.toEqual(shown);
  await keep(world, world.reader);
  expect(standing()).toEqual(shown);
});

it("a customer that is linked with another enterprise while it is read is read again", async () => {
  const world = await ApplyWorld.start();
  await world.makeEnterprise();
  const before = (await linked(world)).link;
  if (before === undefined) throw new Error("the customer is not linked");
  await world.ledger.state.record(customer, [
    { type: "linked", customer, link: { ...before, enterpriseGlobalId: "another" } },
  ]);
  const { memberCenter, orderService } = world.deps.platform;
  const asked: string[] = [];
  const watched = world.with({
    memberCenter: {
      ...memberCenter,
      listStaff: async (enterpriseGlobalId, ...given) => {
        asked.push(enterpriseGlobalId);
        if (asked.length === 1) await world.ledger.state.record(customer, [{ type: "linked", customer, link: before }]);
        return await memberCenter.listStaff(before.enterpriseGlobalId, ...given);
      },
      listAssetNumbers: async (_enterprise, call) => memberCenter.listAssetNumbers(before.enterpriseGlobalId, call),
      listBorrowedLocks: async (_enterprise, call) => memberCenter.listBorrowedLocks(before.enterpriseGlobalId, call),
    },
    orderService: {
      ...orderService,
      findCustomers: async (...given) => orderService.findCustomers(...given),
      listVirtualAssets: async (_enterprise, call) => orderService.listVirtualAssets(before.enterpriseGlobalId, call),
    },
  });
  const summary = { customers: 0, failed: 0, unclear: 0, defects: 0, assets: 0, products: 0, members: 0 };
  const deps = { ...world.deps, sources: [], streams: [], concurrency: 2, progress: () => {} };
  await readBack(deps, {}, watched.reader, summary);
  expect(asked).toEqual(["another", before.enterpriseGlobalId]);
  expect(summary).toMatchObject({ customers: 1, failed: 0 });
});

it("takes a customer into the budget of calls only when the one before has shown what it costs", async () => {
  const world = await ApplyWorld.start();
  for (const id of ["C1", "C2", "C3", "C4"]) await world.take("customers", { ...customerRecord(id), id });
  expect(await runWorld(world)).toMatchObject({ exitCode: 0 });
  const real = world.deps.platform.memberCenter;
  const locks = Array.from({ length: 10 }, (_, index) => `${index + 1}`);
  let reads = 0;
  const large = world.with({
    memberCenter: {
      ...real,
      listAssetNumbers: async () =>
        locks.map((id) => ({
          assetId: id,
          assetNum: `N${id}`,
          cloudAccountGlobalId: null,
          borrowedFlag: false,
          onlineFlag: false,
        })),
      listAssetContents: async () => {
        reads += 1;
        return { productInstanceList: [], children: [] };
      },
    },
  });
  const summary = { customers: 0, failed: 0, unclear: 0, defects: 0, assets: 0, products: 0, members: 0 };
  const deps = { ...world.deps, sources: [], streams: [], concurrency: 1, progress: () => {} };
  await readBack(deps, { calls: 12 }, large.reader, summary);
  expect([summary.customers, reads]).toEqual([1, 10]);
});
