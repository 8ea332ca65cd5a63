import { parse } from "csv-parse/sync";
import { describe, expect, it } from "vitest";
import type { Inquiry } from "../../../src/inquiry/inquiry.ts";
import type { StatementKind } from "../../../src/inquiry/statement/statement.ts";
import type { StateChange } from "../../../src/engine/model/state.ts";
import type { StatementFormat } from "../../../src/report/statement/render.ts";
import { canaries, key } from "../../support/world/records.ts";
import { agreedWorld } from "../agreed-world.ts";
import { october, statementKinds } from "./stated.ts";

const request = { period: october, by: "happened", filters: {} } as const;

/** The files of a statement as texts, by their names. */
async function textsOf(inquiry: Inquiry, kind: StatementKind, format: StatementFormat): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for await (const { file, chunk } of inquiry.statement(kind, request, format))
    files.set(file, (files.get(file) ?? "") + chunk);
  return files;
}

describe("every statement", () => {
  it("is the same to the byte each time, and says what it was made from", { tags: "long" }, async () => {
    const { world } = await agreedWorld();
    await world.reject("orders", key("O9"), { customer: key("C1") });
    const inquiry = await world.inquiry();
    for (const kind of statementKinds)
      for (const format of ["csv", "json"] as const) {
        const first = await textsOf(inquiry, kind, format);
        world.now += 5_000;
        expect(await textsOf(await world.inquiry(), kind, format), kind).toEqual(first);
        // CSV holds rows alone.
        if (format === "csv") continue;
        const whole = [...first.values()].join("");
        expect(whole, kind).toContain(world.ledger.audit.head()?.hash);
        expect(whole, kind).toContain("2026-10");
      }
  });

  it("has what was written since the one before it was made of the same ledger", async () => {
    const { world } = await agreedWorld();
    const inquiry = await world.inquiry();
    const seat = { assetNumber: "8000000001", operationId: null } as const;
    const whose = { staff: key("S1"), customer: key("C1"), memberGlobalId: "M1", origin: "adopted" } as const;
    const read = async (change: StateChange): Promise<string[]> => {
      world.now += 5_000;
      await world.ledger.state.record(key("C1"), [change], { kind: "learned", subject: "customer:crm/C1", body: {} });
      return [...(await textsOf(inquiry, "orders", "json")).values()];
    };
    const first = await read({ type: "asset-revoked", ...seat });
    const second = await read({ type: "asset-granted", ...seat, ...whose });
    expect(second).not.toEqual(first);
    expect(second).toEqual([...(await textsOf(await world.inquiry(), "orders", "json")).values()]);
  });

  it(
    "has in CSV as many cells in each line as columns, and as many rows as in JSON, without personal data",
    { tags: "long" },
    async () => {
      const { world } = await agreedWorld();
      await world.reject("orders", key("O9"), { customer: key("C1") });
      const inquiry = await world.inquiry();
      let rows = 0;
      for (const kind of statementKinds) {
        const json = (await textsOf(inquiry, kind, "json")).get("") ?? "";
        const csv = await textsOf(inquiry, kind, "csv");
        const lines = [...csv.values()].map((text) => parse(text, { relax_column_count: false }).length - 1);
        const written = lines.reduce((sum, count) => sum + count, 0);
        expect(json.split("\n").filter((line) => line.startsWith('{"')).length, kind).toBeGreaterThanOrEqual(written);
        rows += written;
        expect(json + [...csv.values()].join(""), kind).not.toMatch(canaries);
      }
      expect(rows).toBeGreaterThan(20);
    },
  );

  it("stays on one state of the ledger while a run writes", async () => {
    const { world } = await agreedWorld();
    const inquiry = await world.inquiry();
    const before = (await textsOf(inquiry, "exceptions", "json")).get("");
    const chunks = inquiry.statement("exceptions", request, "json");
    let text = (await chunks.next()).value?.chunk ?? "";
    await world.reject("orders", key("late"), { customer: key("C1") });
    for await (const { chunk } of chunks) text += chunk;
    expect(text).toBe(before);
    expect((await textsOf(inquiry, "exceptions", "json")).get("")).not.toBe(before);
  });
});
