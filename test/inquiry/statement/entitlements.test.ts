import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Row } from "../../../src/report/statement/shape.ts";
import { key, canaries } from "../../support/world/records.ts";
import { changeFile } from "../../support/world/start.ts";
import { cells, month, statementOf, threeMonths } from "./statement-world.ts";

const figures = ["opening", "granted", "revoked", "adjusted", "closing"] as const;

/** Rows as their key and, for one measure, opening + granted − revoked + adjusted = closing. */
function counted(rows: readonly Row[] | undefined, measure: string, ...columns: string[]): unknown[] {
  return (rows ?? [])
    .map((row) => [
      columns.map((name) => row[name] ?? "").join(" "),
      ...figures.map((figure) => row[`${measure}_${figure}`]),
    ])
    .filter(([, ...numbers]) => numbers.some((number) => number !== 0));
}

const keyColumns = ["customer", "license_type", "product", "branch"] as const;

describe("the statement of entitlements", () => {
  it("goes from what stood to what stands, by what was granted, revoked and found", async () => {
    const { path } = await threeMonths();
    const october = await statementOf(path, "entitlements", month("2026-10"));
    // C1 goes from branch B1 to B2 within the month, with what it had by then.
    expect(counted(october["entitlements"], "units", ...keyColumns)).toEqual([
      ["crm/C1 cloud_account Draw B1", 0, 2, 0, -2, 0],
      ["crm/C1 cloud_account Draw B2", 0, 1, 0, 2, 3],
      ["crm/C1 cloud_account Plot B1", 0, 2, 0, -2, 0],
      ["crm/C1 cloud_account Plot B2", 0, 1, 0, 2, 3],
      ["crm/C1 softkey Old B2", 0, 0, 0, 1, 1],
      ["crm/C2 cloud_account Cloud B1", 0, 1, 0, 0, 1],
      ["crm/C2 softkey Draw B1", 0, 1, 0, 0, 1],
    ]);
    const november = await statementOf(path, "entitlements", month("2026-11"));
    expect(counted(november["entitlements"], "nodes", ...keyColumns)).toEqual([
      ["crm/C1 cloud_account Draw B2", 15, 0, 5, 0, 10],
      ["crm/C1 cloud_account Plot B2", 3, 0, 1, -1, 1],
      ["crm/C1 softkey Old B2", 1, 0, 0, 0, 1],
      ["crm/C2 cloud_account Cloud B1", 10, 0, 0, 0, 10],
      ["crm/C2 softkey Draw B1", 1, 0, 0, 0, 1],
    ]);
    // The seat is revoked on 10 November; of Plot it went with the product, which was found gone before.
    expect(counted(november["entitlements"], "seats", ...keyColumns)).toEqual([
      ["crm/C1 cloud_account Draw B2", 1, 0, 1, 0, 0],
      ["crm/C1 cloud_account Plot B2", 1, 0, 0, -1, 0],
      ["crm/C2 cloud_account Cloud B1", 1, 0, 0, -1, 0],
    ]);
    expect(JSON.stringify([october, november])).not.toMatch(canaries);
  });

  it("adds the same up by product, by customer and by branch", async () => {
    const { path } = await threeMonths();
    const november = await statementOf(path, "entitlements", month("2026-11"));
    expect(counted(november["by_product"], "units", "license_type", "gms_pid", "app_key", "product")).toEqual([
      ["cloud_account  app-cloud Cloud", 1, 0, 0, 0, 1],
      ["cloud_account G-DRAW  Draw", 3, 0, 1, 0, 2],
      ["cloud_account G-PLOT  Plot", 3, 0, 1, -1, 1],
      ["softkey G-DRAW  Draw", 1, 0, 0, 0, 1],
      ["softkey pid-R1  Old", 1, 0, 0, 0, 1],
    ]);
    expect(counted(november["by_customer"], "units", "customer")).toEqual([
      ["crm/C1", 7, 0, 2, -1, 4],
      ["crm/C2", 2, 0, 0, 0, 2],
    ]);
    expect(counted(november["by_branch"], "units", "branch")).toEqual([
      ["B1", 2, 0, 0, 0, 2],
      ["B2", 7, 0, 2, -1, 4],
    ]);
  });

  it("opens each month with what the one before closed with, and closes with what stands", async () => {
    const { path } = await threeMonths();
    let before = new Map<string, unknown>();
    for (const label of ["2026-09", "2026-10", "2026-11", "2026-12", "2027-01"]) {
      const { entitlements = [], check = [] } = await statementOf(path, "entitlements", month(label));
      const figure = (name: string): Map<string, unknown> =>
        new Map(
          entitlements
            .flatMap((row) =>
              ["units", "nodes", "seats"].map((measure): [string, unknown] => [
                `${keyColumns.map((column) => String(row[column])).join(" ")} ${measure}`,
                row[`${measure}_${name}`],
              ]),
            )
            .filter(([, value]) => value !== 0),
        );
      expect(figure("opening")).toEqual(before);
      before = figure("closing");
      expect(cells(check, "verdict").flat()).toEqual(Array.from({ length: 6 }, () => "agrees"));
      for (const row of entitlements)
        for (const measure of ["units", "nodes", "seats"]) {
          const of = (name: string): number => Number(row[`${measure}_${name}`]);
          expect(of("opening") + of("granted") - of("revoked") + of("adjusted")).toBe(of("closing"));
        }
    }
    expect(before.get("crm/C1 cloud_account Draw B2 nodes")).toBe(10);
  });

  it("names what does not agree, with both figures", async () => {
    const { path } = await threeMonths();
    // The form that the third unit was bought from is gone: nobody knows any more what stands of the order.
    changeFile(path, "delete from record_version where stream = 'orders' and id = 'O1' and version = 2");
    const { entitlements, check } = await statementOf(path, "entitlements", month("2026-11"));
    expect(cells(check, "moment", "measure", "customer", "product", "events", "standing", "verdict")).toEqual([
      ["opening", "units", null, null, 7, 3, "differs"],
      ["closing", "units", null, null, 6, 3, "differs"],
      ["opening", "nodes", null, null, 24, 12, "differs"],
      ["closing", "nodes", null, null, 23, 12, "differs"],
      ["opening", "seats", null, null, 3, 1, "differs"],
      ["closing", "seats", null, null, 0, 0, "agrees"],
      ["opening", "units", "crm/C1", "Draw", 2, 0, "differs"],
      ["closing", "units", "crm/C1", "Draw", 2, 0, "differs"],
      ["opening", "nodes", "crm/C1", "Draw", 10, 0, "differs"],
      ["closing", "nodes", "crm/C1", "Draw", 10, 0, "differs"],
      ["opening", "seats", "crm/C1", "Draw", 1, 0, "differs"],
      ["opening", "units", "crm/C1", "Plot", 2, 0, "differs"],
      ["closing", "units", "crm/C1", "Plot", 1, 0, "differs"],
      ["opening", "nodes", "crm/C1", "Plot", 2, 0, "differs"],
      ["closing", "nodes", "crm/C1", "Plot", 1, 0, "differs"],
      ["opening", "seats", "crm/C1", "Plot", 1, 0, "differs"],
    ]);
    expect(cells(entitlements, "product", "verdict")).toEqual([
      ["Draw", "differs"],
      ["Plot", "differs"],
      ["Old", "agrees"],
      ["Cloud", "agrees"],
      ["Draw", "agrees"],
    ]);
  });

  it("counts a seat of a number that no order brought, once and under no product", async () => {
    const { path, ledger } = await threeMonths();
    await ledger.state.record(key("C2"), [
      {
        type: "asset-granted",
        assetNumber: "77",
        staff: key("S2"),
        customer: key("C2"),
        memberGlobalId: "M-S2",
        origin: "adopted",
        operationId: null,
      },
    ]);
    const { entitlements, check } = await statementOf(path, "entitlements", month("2026-11"));
    expect(counted(entitlements, "seats", ...keyColumns)).toContainEqual(["crm/C2   B1", 0, 0, 0, 1, 1]);
    expect(cells(check, "verdict").flat()).toEqual(Array.from({ length: 6 }, () => "agrees"));
  });

  it("counts an order by its CRM date in the month that the CRM names", async () => {
    const { path } = await threeMonths();
    const utc = { label: "2026-09", zone: "UTC", from: "2026-09-01T00:00:00.000Z", to: "2026-10-01T00:00:00.000Z" };
    const byDate = await statementOf(path, "entitlements", utc, { by: "crm-date" });
    expect(counted(byDate["by_customer"], "nodes", "customer")).toEqual([["crm/C1", 0, 12, 0, 0, 12]]);
    const inBerlin = await statementOf(path, "entitlements", month("2026-09"), { by: "crm-date" });
    expect(inBerlin["entitlements"]).toEqual([]);
    for (const { check } of [byDate, inBerlin])
      expect(cells(check, "verdict").flat()).toEqual(Array.from({ length: 6 }, () => "agrees"));
  });

  it.each([
    [{ customer: "crm/C2" }, [["crm/C2", 2, 0, 0, 0, 2]]],
    [{ branch: "B1" }, [["crm/C2", 2, 0, 0, 0, 2]]],
    [{ product: "G-PLOT" }, [["crm/C1", 3, 0, 1, -1, 1]]],
    [{ source: "shop" }, []],
    [
      { source: "erp" },
      [
        ["crm/C1", 7, 0, 2, -1, 4],
        ["crm/C2", 2, 0, 0, 0, 2],
      ],
    ],
  ])("is limited to what is asked for: %j", async (filters, expected) => {
    const { path } = await threeMonths();
    const rows = await statementOf(path, "entitlements", month("2026-11"), { filters });
    expect(counted(rows["by_customer"], "units", "customer")).toEqual(expected);
    expect(cells(rows["check"], "verdict").flat()).toEqual(Array.from({ length: 6 }, () => "agrees"));
  });

  it("gives the same rows each time, and leaves the ledger as it is", async () => {
    const { path } = await threeMonths();
    const bytes = (): string => createHash("sha256").update(readFileSync(path)).digest("hex");
    const first = await statementOf(path, "entitlements", month("2026-10"));
    const before = bytes();
    expect(await statementOf(path, "entitlements", month("2026-10"))).toEqual(first);
    expect(bytes()).toBe(before);
  });
});
