import { expect, it } from "vitest";
import { grownPages } from "../../bench/page-growth.ts";

const customers = { few: 10, many: 100 };

it("a page has grown where the middle of its ratios is more than one and a half", () => {
  const pages = [
    { page: "flat", growth: [1, 0.9, 1.1] },
    { page: "disturbed once", growth: [1, 9, 1.1] },
    { page: "a scan", growth: [1.6, 6, 1] },
  ];
  expect(grownPages({ customers, pages })).toEqual(["a scan"]);
});
