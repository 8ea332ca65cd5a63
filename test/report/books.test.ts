import { expect, it } from "vitest";
import { blockersText, type Blocker } from "../../src/report/books.ts";
import { plainView } from "../../src/report/text.ts";

it("says on the clocks of the zone when a source was read last that stands in the way of a closing", () => {
  const unread: Blocker = {
    id: "source:crm/orders",
    kind: "source-unread",
    what: "orders were not read completely since: it was last read completely at 2026-10-31T23:30:00.693Z",
    facts: "",
    signedOff: null,
  };
  const text = blockersText([unread], "2026-10", { ...plainView, zone: "Europe/Berlin" });
  expect(text).toContain("last read completely at 2026-11-01 00:30:00 +01:00");
});
