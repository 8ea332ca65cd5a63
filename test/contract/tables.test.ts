import { describe, expect, test } from "vitest";

import { Problem } from "../../src/base/errors.ts";
import { documentedCodes, meaningOf } from "../../src/contract/codes.ts";
import { endpointIds, endpointPath, endpoints } from "../../src/contract/endpoints.ts";
import { selectCustomer, fillTemplate } from "../../src/contract/template.ts";
import { channelCodesOf, assumptionSettingsSchema } from "../../src/contract/assumption-settings.ts";
import { parseTerm, termDisagreement } from "../../src/contract/term.ts";
import { decodeTime, encodeTime } from "../../src/contract/time-codec.ts";

describe("operations", () => {
  test("are nineteen, of which E4, E6, E7 and M2 set a state", () => {
    expect(endpointIds).toHaveLength(19);
    expect(endpointIds.filter((id) => endpoints[id].setsState)).toEqual(["E4", "E6", "E7", "M2"]);
    expect(endpointIds.filter((id) => !endpoints[id].writes)).toEqual(["E3", "E8", "M5", "M6", "M7", "M8"]);
  });

  test("of the order service want Content-Type always, of the member-center only with a body", () => {
    for (const id of endpointIds) {
      const { headers, hasBody, service } = endpoints[id];
      expect(headers.includes("Content-Type")).toBe(service === "order-service" || hasBody);
      expect(headers.includes("userToken")).toBe(service === "member-center");
    }
    expect(endpoints.M4.hasBody).toBe(false);
  });

  test("encode what stands in their path and refuse what would change it", () => {
    expect(endpointPath("M4", { enterpriseGlobalId: "e/1", memberGlobalId: "m?2" })).toBe(
      "/enterprise/e%2F1/member/m%3F2",
    );
    expect(() => endpointPath("M4", { enterpriseGlobalId: "e" })).toThrow(Problem);
    for (const unusable of ["", ".", ".."])
      expect(() => endpointPath("M6", { enterpriseGlobalId: unusable })).toThrow(/it needs the id enterpriseGlobalId/);
  });
});

describe("codes", () => {
  test("all have a meaning and a cure on every operation that lists them", () => {
    const listed = new Set<string>();
    for (const id of endpointIds) {
      for (const code of endpoints[id].codes) {
        listed.add(code);
        const meaning = meaningOf(code, id);
        expect(meaning.listed, `${code} on ${id}`).toBe(true);
        expect(meaning.cure).not.toBe("");
      }
    }
    expect([...listed].toSorted()).toEqual([...documentedCodes].toSorted());
  });

  test("60023, 60025, 60026 and 60028 ask four different things of the operator", () => {
    expect(new Set(["60023", "60025", "60026", "60028"].map((code) => meaningOf(code, "M9").cure)).size).toBe(4);
  });

  test("mean what is settled, done already, partial, refused or unknown", () => {
    const effect = (code: string, id: (typeof endpointIds)[number]) => meaningOf(code, id).effect;
    expect(["60024", "60026", "60028"].map((code) => effect(code, "M9"))).toEqual(["settle", "settle", "settle"]);
    expect(["33007", "33018"].map((code) => effect(code, "M10"))).toEqual(["settle", "settle"]);
    expect([effect("60002", "M4"), effect("60002", "M2")]).toEqual(["already-done", "rejected"]);
    expect([effect("500", "E5"), effect("80001", "M1"), effect("33009", "M10")]).toEqual([
      "unknown",
      "unknown",
      "unknown",
    ]);
    expect([effect("60027", "M1"), effect("60000", "M9"), effect("60005", "M9")]).toEqual([
      "partial",
      "refresh-token",
      "refresh-token",
    ]);
    expect(meaningOf("70001", "M1")).toMatchObject({ effect: "rejected", alert: true });
  });

  test("that an operation does not list are never guessed", () => {
    expect(meaningOf("60027", "M2")).toMatchObject({ effect: "unknown", listed: false });
    expect(meaningOf("60024", "M10")).toMatchObject({ effect: "unknown", listed: false });
    expect(meaningOf("99999", "E5")).toMatchObject({ effect: "unknown", listed: false });
    expect(meaningOf("99999", "E5", ["99999"])).toMatchObject({ effect: "refresh-token", listed: true });
  });
});

describe("times on the wire", () => {
  test("are read back as they were written, in every codec that a field can hold", () => {
    const instant = "2026-10-01T00:00:00.000Z";
    for (const [codec, width, wire] of [
      ["epoch_ms", "long", 1_790_812_800_000],
      ["epoch_s", "long", 1_790_812_800],
      ["epoch_s", "integer", 1_790_812_800],
      ["yyyymmdd", "integer", 20_261_001],
      ["yyyymmdd", "date", "20261001"],
      ["iso", "date", instant],
    ] as const) {
      expect(encodeTime(codec, instant, width)).toEqual({ ok: true, value: wire });
      expect(decodeTime(codec, wire)).toEqual({ ok: true, value: instant });
    }
  });

  test("name the day of the configured zone", () => {
    expect(encodeTime("yyyymmdd", "2026-09-30T16:00:00Z", "long", "Asia/Shanghai")).toEqual({
      ok: true,
      value: 20_261_001,
    });
    expect(decodeTime("yyyymmdd", 20_261_001, "Asia/Shanghai")).toEqual({
      ok: true,
      value: "2026-09-30T16:00:00.000Z",
    });
  });

  test("do not fit where 32 bits are too few", () => {
    expect(encodeTime("epoch_ms", "2026-10-01T00:00:00Z", "integer")).toMatchObject({
      ok: false,
      error: expect.stringContaining("32-bit"),
    });
    expect(encodeTime("epoch_s", "2038-01-20T00:00:00Z", "integer").ok).toBe(false);
    expect(encodeTime("epoch_s", "2038-01-20T00:00:00Z", "long").ok).toBe(true);
    expect(encodeTime("iso", "2026-10-01T00:00:00Z", "long").ok).toBe(false);
  });

  test("outside 2000–2100 are refused, which shows a wrong unit", () => {
    expect(encodeTime("epoch_ms", "1996-07-04T00:00:00Z", "long").ok).toBe(false);
    expect(encodeTime("epoch_ms", "2100-12-31T23:59:59.999Z", "long").ok).toBe(true);
    expect(encodeTime("epoch_ms", "2101-01-01T00:00:00Z", "long").ok).toBe(false);
    expect(decodeTime("epoch_ms", 1_790_812_800).ok).toBe(false);
    expect(decodeTime("epoch_s", 1_790_812_800_000).ok).toBe(false);
    expect(decodeTime("yyyymmdd", 20_260_231).ok).toBe(false);
    expect(decodeTime("epoch_ms", "12x").ok).toBe(false);
    expect(encodeTime("epoch_ms", "yesterday", "long").ok).toBe(false);
  });
});

describe("terms", () => {
  const term = (text: string) => {
    const parsed = parseTerm(text);
    if (!parsed.ok) throw new Error(parsed.error);
    return parsed.value;
  };

  test("are years, months and days", () => {
    expect(parseTerm("1-0-0")).toEqual({ ok: true, value: { years: 1, months: 0, days: 0 } });
    for (const odd of ["1 year", "1-0", "-1-0-0", ""]) expect(parseTerm(odd).ok).toBe(false);
  });

  test("must agree with unit and quantity and with start and end", () => {
    expect(termDisagreement({ term: term("1-0-0"), unit: "year", quantity: 1 })).toBeUndefined();
    expect(termDisagreement({ term: term("1-0-0"), unit: "month", quantity: 12 })).toBeUndefined();
    expect(termDisagreement({ term: term("1-0-0"), unit: "year", quantity: 2 })).toContain("not 2 × year");
    const limits = { limitStart: "2026-02-01T00:00:00Z", limitEnd: "2027-01-31T00:00:00Z" };
    expect(termDisagreement({ term: term("1-0-0"), unit: "year", quantity: 1, ...limits })).toBeUndefined();
    expect(termDisagreement({ term: term("2-0-0"), unit: "year", quantity: 2, ...limits })).toContain(
      "(2027-01-31T00:00:00Z) is not 2-0-0",
    );
  });
});

describe("the customer that takes an order", () => {
  const customer = (customerId: string, isDefault: boolean) => ({
    customerId,
    isDefault,
    channelCode: "c",
    channelCustomerId: "ALFKI",
    enterpriseGlobalId: "e",
    enterpriseName: null,
  });

  test("is chosen by licence type, and only when exactly one fits", () => {
    const settings = assumptionSettingsSchema.parse({
      customerSelection: { byLicenseType: { cloud_account: "non-default" } },
    });
    const both = [customer("c1", true), customer("c2", false)];
    expect(selectCustomer(both, "softkey", settings)).toMatchObject({ ok: true, value: { customerId: "c1" } });
    expect(selectCustomer(both, "cloud_account", settings)).toMatchObject({ ok: true, value: { customerId: "c2" } });
    expect(selectCustomer([], "softkey", settings)).toMatchObject({ ok: false, error: { hits: 0 } });
    expect(selectCustomer([customer("c1", true), customer("c3", true)], "softkey", settings)).toMatchObject({
      ok: false,
      error: { hits: 2 },
    });
  });

  test("is looked for under the own channel code first", () => {
    expect(channelCodesOf({ channelCode: "own", otherChannelCodes: ["other", "own"] })).toEqual(["own", "other"]);
  });
});

test("a template with a missing value makes no number", () => {
  expect(fillTemplate("CRM-{id}", { id: "1" })).toBe("CRM-1");
  expect(() => fillTemplate("CRM-{id}", {})).toThrow(RangeError);
  expect(() => fillTemplate("{constructor}", {})).toThrow(RangeError);
});
