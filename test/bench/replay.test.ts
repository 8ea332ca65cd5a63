import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { answerTo } from "../../bench/replay/answers.ts";
import { Memory } from "../../bench/replay/memory.ts";

const folder = mkdtempSync(join(tmpdir(), "crm-sync-replay-"));
afterAll(() => rmSync(folder, { recursive: true }));

function data(target: string, body: string, memory: Memory): unknown {
  const answered = answerTo(target, body, memory);
  return answered === undefined ? undefined : JSON.parse(answered.answer).data;
}

it("shows what it was told, also after it was stopped and started again", () => {
  const path = join(folder, "services.json");
  const first = Memory.open(path, false);
  const find = "/order/api/order/v1/enterprise/user/query?channelCode=crm&channelCustomerId=C00000002";
  expect(data(find, "", first)).toEqual([]);
  data("/enterprise/user/create?", '{"crmCustomerId":"C00000002"}', first);
  expect(data("/shellnums?", '{"size":3}', first)).toEqual(["8000000001", "8000000002", "8000000003"]);
  const order =
    '{"channelOrderId":"O00000005","orderList":[{"sequence":1,"customerId":"1C00000002","assetNos":["8000000003"]}]}';
  const placed = [{ sequence: 1, licenseOrderId: "L5", customerId: "1C00000002" }];
  expect(data("/licenseOrder/batchOrder?", order, first)).toEqual(placed);
  first.keep(path);

  const second = Memory.open(path, false);
  expect(data(find, "", second)).toHaveLength(2);
  expect(data("/shellnums?", '{"size":1}', second)).toEqual(["8000000004"]);
  const assets = data("/enterprise/gC00000002/asset/assetNums?", "", second);
  expect(assets).toMatchObject([{ assetNum: "8000000003", assetId: "a3" }]);
  expect(data("/enterprise/gC00000001/asset/assetNums?", "", second), "another customer").toEqual([]);
  const contents = data("/enterprise/asset/a3/merchandiseProducts?", "", second);
  const shown = { channelOrderId: "O00000005", customerId: "1C00000002", assetNum: "8000000003" };
  expect(contents).toMatchObject({ productInstanceList: [shown, shown] });
});
