import { describe, expect, it } from "vitest";
import { staffRowSchema } from "../../src/contract/member-center.ts";
import { ReadFailure } from "../../src/http/call.ts";
import type { Snapshot } from "../../src/platform/snapshot.ts";
import { ApplyWorld, customer } from "../support/world/apply-world.ts";
import { orderRecord, staffRecord } from "../support/world/records.ts";
import { withMemberCenter } from "../engine/services.ts";

/** An enterprise with one order of a lock and a cloud account, and two people. */
async function ready(): Promise<{ world: ApplyWorld; enterprise: string; shown: Snapshot }> {
  const world = await ApplyWorld.start();
  const enterprise = await world.makeEnterprise();
  await world.take("orders", orderRecord("O1", "C1", {}, ["cloud_account", "normal_recover_usbkey"]));
  await world.carryOut("place-order");
  await world.take("staff", staffRecord("1", "C1"), staffRecord("2", "C1", { departmentId: "77" }));
  await world.carryOut("add-staff");
  return { world, enterprise, shown: world.reader.of(customer) };
}

describe("one asset by its id", () => {
  it("is read whatever M6 and E8 leave out, and anew each time", async () => {
    const { world, enterprise, shown } = await ready();
    const [asset] = await shown.assets(enterprise);
    if (asset === undefined) throw new Error("M6 shows no asset");
    world.sandbox.faults.add({ operation: "M6", fault: "shortPage", times: 9 });
    const before = world.calls("M6");
    const contents = await shown.contentsById(enterprise, asset.assetId);
    expect(contents).not.toBe("gone");
    if (contents === "gone") return;
    expect(contents.products.map((product) => product.crmProductId)).toEqual(["P1-O1", "P2-O1", "P3-O1"]);
    await shown.contentsById(enterprise, asset.assetId);
    expect([world.calls("M6") - before, world.calls("M7")]).toEqual([0, 2]);
  });

  it("is gone where M7 says that there is none (60024), and by nothing else", async () => {
    const { world, enterprise, shown } = await ready();
    const [asset, other] = await shown.assets(enterprise);
    if (asset === undefined || other === undefined) throw new Error("M6 shows too few assets");
    expect(await shown.contentsById(enterprise, `${asset.assetId}9`)).toBe("gone");
    for (const code of ["60017", "500", "60025"]) {
      const refusing = withMemberCenter(world, {
        listAssetContents: async () => {
          throw new ReadFailure({ endpoint: "M7", kind: "code", reason: "no", serviceCode: code });
        },
      });
      await expect(refusing.reader.of(customer).contentsById(enterprise, asset.assetId)).rejects.toThrow(ReadFailure);
    }
    expect(await shown.contentsById(enterprise, other.assetId)).not.toBe("gone");
  });

  it("says nothing where only empty lists come (A43)", async () => {
    const { world, enterprise, shown } = await ready();
    const [asset] = await shown.assets(enterprise);
    const empty = withMemberCenter(world, {
      listAssetContents: async () => ({ productInstanceList: [], children: [] }),
    });
    const contents = await empty.reader.of(customer).contentsById(enterprise, asset?.assetId ?? "");
    expect(contents).toMatchObject({ bare: true, products: [] });
  });
});

it("people are shown with note, mobile, department and what they borrow, as far as M5 shows it", async () => {
  const { world, enterprise, shown } = await ready();
  const members = (await shown.members(enterprise)).filter((member) => member.name.includes("person"));
  expect(members).toMatchObject([
    { remark: "CANARY remark", mobile: "491770070003", departmentId: null, borrows: null, online: false },
    { remark: "CANARY remark", mobile: "491770070003", departmentId: "77", borrows: null, online: false },
  ]);
  const bare = withMemberCenter(world, {
    listStaff: async () => [staffRowSchema.parse({ globalId: "m1", userName: "m1" })],
  });
  expect(await bare.reader.of(customer).members(enterprise)).toMatchObject([{ name: "", online: false }]);
});

it("locks for lending are shown with who has them (M8), once until assets are read anew", async () => {
  const { world, enterprise } = await ready();
  const lending = withMemberCenter(world, {
    listBorrowedLocks: async () => [
      { assetId: "a1", assetNum: "9000000001", borrowedFlag: true, cloudAccountGlobalId: "m1" },
      { assetId: "a2", assetNum: "9000000002", borrowedFlag: false, cloudAccountGlobalId: null },
    ],
  });
  const shown = lending.reader.of(customer);
  expect(await shown.loans(enterprise)).toEqual([
    { lock: "9000000001", assetId: "a1", lent: true, borrower: "m1" },
    { lock: "9000000002", assetId: "a2", lent: false, borrower: null },
  ]);
  const first = await shown.loans(enterprise);
  expect(await shown.loans(enterprise)).toBe(first);
  shown.forget(new Set(["assets"]));
  expect(await shown.loans(enterprise)).not.toBe(first);
});
