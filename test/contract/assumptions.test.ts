import { describe, expect, test } from "vitest";
import { z } from "zod";
import { assumptions, cannotBeSeen } from "../../src/contract/assumptions.ts";
import { assumptionSettingsSchema, missingAssumptions } from "../../src/contract/assumption-settings.ts";
import { endpointIds } from "../../src/contract/endpoints.ts";
import { contradictedRows } from "../../src/sandbox/contradictions.ts";

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

  test("have a question to send, and what contradicts them; of a choice nothing can be contradicted", () => {
    for (const { kind, question, default: standard, contradictedBy, stops } of assumptions) {
      expect(standard, question).not.toBe("");
      if (kind === "choice") expect([contradictedBy, stops], question).toEqual(["nothing", "nothing"]);
      else expect(question).toMatch(/\?$/u);
    }
  });

  test("are contradicted by a case of the sandbox, are a choice of ours, or say why nothing can contradict them", () => {
    const contradicted: readonly string[] = contradictedRows;
    const unseen = assumptions.filter((row) => row.contradictedBy.startsWith(cannotBeSeen));
    for (const row of assumptions) {
      const ways = [contradicted.includes(row.id), row.kind === "choice", unseen.includes(row)].filter(Boolean);
      expect(ways, row.id).toHaveLength(1);
    }
    expect(unseen.map(({ id }) => id)).toEqual(["A3", "A5", "A38", "A42"]);
    for (const { contradictedBy, stops } of unseen) {
      expect(contradictedBy.length).toBeGreaterThan(cannotBeSeen.length + 20);
      expect(stops).toBe("nothing");
    }
  });

  test("are named by every setting at its end, and decided by settings that are theirs", () => {
    const { properties = {} } = z.toJSONSchema(assumptionSettingsSchema, { io: "input" });
    const rowOf = (key: string): unknown =>
      /\((A\d+)\)$/u.exec(z.object({ description: z.string() }).parse(properties[key]).description)?.[1];
    const keys = Object.keys(assumptionSettingsSchema.shape);
    expect(keys.filter((key) => assumptions.every(({ id }) => id !== rowOf(key)))).toEqual([]);
    for (const { id, decidedBy } of assumptions) {
      const own = keys.filter((key) => rowOf(key) === id).map((key) => `assumptions.${key}`);
      const deciding = decidedBy === "fixed" ? [] : decidedBy.setting.split(", ");
      expect(deciding.filter((key) => key.startsWith("assumptions.") && !own.includes(key))).toEqual([]);
      expect(deciding.length > 0, id).toBe(own.length > 0 || deciding.some((key) => !key.startsWith("assumptions.")));
    }
  });

  test("that an endpoint needs have a setting without a default", () => {
    const bare: Readonly<Record<string, unknown>> = assumptionSettingsSchema.parse({});
    const repeating = assumptionSettingsSchema.parse({ packageOnly: "repeat" });
    const needed = endpointIds.flatMap((endpoint) => missingAssumptions(repeating, endpoint));
    expect(new Set(needed.map(({ key }) => key)).size).toBe(14);
    for (const { row, key } of needed) {
      const [name = "", inner] = key.split(".");
      const { decidedBy, requiredBefore } = assumptions.find(({ id }) => id === row) ?? {};
      expect(decidedBy, key).not.toBe("fixed");
      expect(requiredBefore, key).not.toEqual([]);
      expect(assumptionSettingsSchema.shape).toHaveProperty(name);
      if (inner === undefined) expect(bare[name], key).toBeUndefined();
      else expect(bare[name], key).not.toHaveProperty(inner);
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
