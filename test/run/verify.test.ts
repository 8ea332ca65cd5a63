import { expect, it } from "vitest";
import { openInquiry } from "../../src/inquiry/inquiry.ts";
import { verifyCustomer } from "../../src/run/verify.ts";
import { ApplyWorld, customer } from "../support/world/apply-world.ts";
import { orderRecord, staffRecord } from "../support/world/records.ts";

it.each(["as they come", "the other way round"])(
  "an asset and a product that are shown twice are findings of their own, with the rows %s",
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
    await world.ledger.state.recordAll((await verifyCustomer(world.ledger, twice.reader, customer, undefined)).changes);
    const inquiry = openInquiry(world.path);
    const found = await Array.fromAsync(inquiry.findings());
    inquiry.close();
    expect(found.filter((item) => item.finding === "shown-twice").map((item) => item.text)).toEqual([
      expect.stringMatching(
        /^crm\/C1: assignment under asset number \d+: the platform shows the asset number 2 times/u,
      ),
      expect.stringMatching(/^crm\/C1: product \S+ under asset number \d+: the platform shows the product .* 2 times/u),
    ]);
    await world.ledger.state.recordAll((await verifyCustomer(world.ledger, world.reader, customer, undefined)).changes);
    const after = openInquiry(world.path);
    expect(await Array.fromAsync(after.findings()), "gone once it is shown once").toEqual([]);
    after.close();
  },
);
