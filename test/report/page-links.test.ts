import fc from "fast-check";
import { expect, it } from "vitest";
import { idOfSegment, pageLink, pagePath } from "../../src/report/page-links.ts";

it("each thing has its page, and the address that people reach it at may end with a slash", () => {
  expect(pagePath.today()).toBe("/today");
  expect(pagePath.customer("crm", "C1")).toBe("/customer/crm/C1");
  expect(pagePath.hold("rev_1")).toBe("/hold/rev_1");
  expect(pagePath.settle("op_1")).toBe("/settle/op_1");
  expect(pagePath.source("erp")).toBe("/source/erp");
  expect(pagePath.run("run_1")).toBe("/run/run_1");
  expect(pageLink("https://sync.example.com/crm/", pagePath.today())).toBe("https://sync.example.com/crm/today");
  expect(pageLink("https://sync.example.com", pagePath.today())).toBe("https://sync.example.com/today");
});

it("whatever an id holds, the link leads to the page of that id and of no other host", () => {
  const ids = fc.oneof(
    fc.constantFrom(
      "..",
      ".",
      "...",
      "~",
      "~..",
      "a/b",
      "a?b#c",
      "a b",
      "//evil.example",
      "%2e%2e",
      "\u202e",
      "\ud800",
      "\u0000",
    ),
    fc.string({ minLength: 1, unit: "binary" }),
  );
  fc.assert(
    fc.property(ids, ids, (namespace, id) => {
      const url = new URL(pageLink("https://sync.example.com/base", pagePath.customer(namespace, id)));
      expect([url.origin, url.search, url.hash]).toEqual(["https://sync.example.com", "", ""]);
      const parts = url.pathname.split("/");
      expect(parts.slice(0, 3)).toEqual(["", "base", "customer"]);
      expect(parts.slice(3).map((part) => idOfSegment(decodeURIComponent(part)))).toEqual([
        namespace.toWellFormed(),
        id.toWellFormed(),
      ]);
    }),
  );
});
