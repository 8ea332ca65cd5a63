import { describe, expect, test } from "vitest";
import { z } from "zod";
import { assumptions } from "../../src/contract/assumptions/registry.ts";
import { evidenceOfRows } from "../../src/contract/assumptions/evidence.ts";
import { missingAssumptions } from "../../src/contract/assumptions/missing.ts";
import { rows } from "../../src/contract/assumptions/registry.ts";
import { assumptionSettingsSchema } from "../../src/contract/assumption-settings.ts";

describe("assumptions", () => {
  test("are A1 to A43, nine of them choices", () => {
    expect(assumptions.map((row) => row.id)).toEqual(Array.from({ length: 43 }, (_, index) => `A${index + 1}`));
    expect(assumptions.filter((row) => row.kind === "choice").map((row) => row.id)).toEqual([
      "A4",
      "A6",
      "A7",
      "A11",
      "A18",
      "A30",
      "A32",
      "A37",
      "A40",
    ]);
  });

  test("have each its evidence, and a question to send", () => {
    expect([...evidenceOfRows.keys()]).toEqual(assumptions.map((row) => row.id));
    for (const { id, kind } of assumptions) {
      const evidence = evidenceOfRows.get(id);
      expect(evidence?.letter, id).toMatch(/\?$/u);
      if (kind === "choice") expect(evidence, id).toMatchObject({ contradictedBy: "nothing", stops: "nothing" });
    }
  });

  test("own every key of the settings, each key one row", () => {
    const keys = rows.list.flatMap(({ settings }) => Object.keys(settings));
    expect(keys).toEqual(Object.keys(assumptionSettingsSchema.shape));
    expect(new Set(keys).size).toBe(keys.length);
    for (const { id, settings } of rows.list)
      for (const [key, schema] of Object.entries(settings))
        expect(z.toJSONSchema(z.object({ [key]: schema }), { io: "input" }).properties?.[key], key).toMatchObject({
          description: expect.stringMatching(new RegExp(`\\(${id}\\)$`, "u")),
        });
  });

  test("that are decided by settings own them, and what an endpoint needs is such a setting, without a default", () => {
    const bare: Readonly<Record<string, unknown>> = assumptionSettingsSchema.parse({});
    for (const { id, decidedBy, settings, needs = [] } of rows.list) {
      const own = Object.keys(settings);
      const deciding: readonly string[] = Array.isArray(decidedBy) ? decidedBy : [];
      expect(own, id).toEqual(expect.arrayContaining([...deciding]));
      if (needs.length > 0 || own.length > 0) expect(deciding.length, id).toBeGreaterThan(0);
      for (const { key } of needs) {
        const [name = "", inner] = key.split(".");
        expect(own, id).toContain(name);
        expect(deciding.length, id).toBeGreaterThan(0);
        if (inner === undefined) expect(bare[name], key).toBeUndefined();
        else expect(bare[name], key).not.toHaveProperty(inner);
      }
    }
  });

  test("without a value block the operation that needs them, and only that", () => {
    const bare = assumptionSettingsSchema.parse({});
    expect(missingAssumptions(bare, "M1")).toEqual([]);
    expect(missingAssumptions(bare, "E2")).toEqual([]);
    expect(missingAssumptions(bare, "E3").map((missing) => missing.key)).toEqual(["channelCode"]);
    const order = assumptionSettingsSchema.parse({
      channelCode: "c",
      timeUnits: { Y: "year" },
      productTypes: ["tool"],
    });
    expect(missingAssumptions(order, "E5", [])).toEqual([]);
    expect(missingAssumptions(order, "E5", ["package", "product-trial"])).toEqual([
      { row: "A20", key: "timeCodecs.productTrialEnd", choices: ["epoch_s", "yyyymmdd"] },
      { row: "A24", key: "rootParentMerchandiseNum", choices: [expect.any(String)] },
    ]);
    const nullSentinel = assumptionSettingsSchema.parse({ sentinels: { productTrialEnd: null } });
    expect(missingAssumptions(nullSentinel, "E5", ["product-no-trial"]).map((missing) => missing.key)).not.toContain(
      "sentinels.productTrialEnd",
    );
  });

  test("refuse values that cannot work", () => {
    const refused = (settings: unknown) => !assumptionSettingsSchema.safeParse(settings).success;
    expect(refused({ timeCodecs: { productTrialEnd: "epoch_ms" } })).toBe(true);
    expect(refused({ channelOrderIdTemplate: "fixed" })).toBe(true);
    expect(refused({ channelOrderIdTemplate: "{id}-{other}" })).toBe(true);
    expect(refused({ syncMode: "later" })).toBe(true);
    expect(refused({ dateZone: "Nowhere/Town" })).toBe(true);
    expect(refused({ pooolBatch: 1 })).toBe(true);
  });
});
