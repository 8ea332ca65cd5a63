import { describe, expect, it } from "vitest";
import { deciderOf } from "../../src/cli/words.ts";
import { requireReason } from "../../src/requests/reason.ts";

describe("a reason that stands in the audit log for good", () => {
  it.each([
    ["asked bjork.odegard@example.com", "an e-mail address"],
    ["the administrator said so (+49 171 234-5678)", "a phone number"],
    ["phoned 13800138000", "a phone number"],
    ["客户手机13800138000已确认", "a phone number"],
    ["phoned 138 0013 8000 and 86-138-0013-8000", "a phone number"],
    ["rang 0171/2345678", "a phone number"],
    ["rang 07700 900123", "a phone number"],
    ["rang (555) 123-4567", "a phone number"],
    ["rang 4917123456789", "a phone number"],
    ["phoned １３８００１３８０００", "a phone number"],
    ["phoned 138–0013–8000", "a phone number"],
    ["order 13800138000", "a phone number"],
    ["order 2026110012345: rang 171 2345678", "a phone number"],
    ["asset 8000000001, rang 171 2345678", "a phone number"],
    ["order 0171 2345678", "a phone number"],
    ["order 171 234567890", "a phone number"],
    ["asked bjork.odegard＠example.com", "an e-mail address"],
  ])("may not hold personal data: %s", (reason, what) => {
    expect(() => requireReason(reason)).toThrow(what);
    expect(() => deciderOf(reason)).toThrow(what);
    try {
      requireReason(reason);
    } catch (error) {
      expect(error).toMatchObject({ exitCode: 64 });
      expect(JSON.stringify(error) + String(error), "the value is not said again").not.toMatch(/odegard|\d{6}/u);
    }
  });

  it.each([
    "reported stolen",
    "the service desk found no such orders, ticket 4711",
    "asset 8000000001 8000000002 and 6000000003 are gone",
    "asset 8000000001 2 times, assets 8000000002 8000000003 4 times and 8000000004-8000000009",
    "enterprise 1234567890 exists twice, order 2026110012345 was placed by hand, ticket 123456789",
    "orders 2026110012345, 2026110012346 and 2026110012347; order no. 20261122-0001; Order ID: 2026-000123456",
    "orders 10248 10249 10250 10251 are with O1",
    "read on 2026-11-22 14:30:05, again on 2026-11-23 09:00",
    "op_01kav3r9t2m4n5p6q7r8s9t0v1 is done as op_01KAV3R9T2 says, 123e4567-e89b-12d3-a456-426614174000",
    "enterprise 9007199254740993 and member 1234567890123456789 on the platform",
    "order crm/202611220001 and ticket #202611220002, INC0012345678",
    "12 % is over 10 %, 12 of 1,000,000 at 5 EUR; 3 @ 20",
  ])("may name what it is about: %s", (reason) => {
    expect(requireReason(` ${reason} `)).toBe(reason);
  });

  it("is asked for", () => {
    expect(() => requireReason(" ")).toThrow(/needs a reason/u);
    expect(deciderOf("anna.lee")).toBe("anna.lee");
  });
});
