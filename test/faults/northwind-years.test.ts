/** @module-tag sized */
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { northwindConfig, northwindDirectory, northwindIsMissing, northwindIsThere } from "../support/northwind.ts";
import { NorthwindLife } from "../support/northwind-edits.ts";
import { crmSync, type Ended } from "../support/program.ts";
import { sizes } from "../support/sizes.ts";
import { folder, openSandbox } from "../support/world/start.ts";

const seed = 1998;

/** Everything goes without asking; months pass in minutes here, so sums over days say nothing. */
const settings = {
  CRM_SYNC__policies__orders__ended: "apply",
  CRM_SYNC__policies__orders__deleted: "apply",
  CRM_SYNC__policies__orders__replaced: "apply",
  CRM_SYNC__limits__removals__run__floor: "10000",
  CRM_SYNC__limits__removals__run__share: "1",
  CRM_SYNC__limits__removals__enterprise__floor: "10000",
  CRM_SYNC__limits__removals__day__floor: "10000",
  CRM_SYNC__limits__removals__day__share: "1",
  CRM_SYNC__limits__removals__week__floor: "10000",
  CRM_SYNC__limits__removals__week__share: "1",
  CRM_SYNC__settle__timeMs: "20",
};

const reconciliation = z.object({
  parts: z.object({ items: z.object({ rows: z.array(z.object({ verdict: z.string() })) }) }),
});

describe.runIf(northwindIsThere)("Northwind lived on", () => {
  it(
    `is reconciled each month, with no difference that nothing explains (seed ${seed})`,
    { tags: "long", timeout: 3_600_000 },
    async () => {
      const here = folder();
      const data = join(here, "data");
      cpSync(northwindDirectory, data, { recursive: true });
      const sandbox = await openSandbox({});
      const environment = { ...settings, CRM_SYNC__sources__northwind__directory: data };
      const place = { config: northwindConfig, sandbox: sandbox.url, ledger: join(here, "ledger.db"), environment };
      const does = async (...words: string[]): Promise<Ended> => await crmSync(place, "--json", ...words);
      expect((await does("run", "customers-and-orders")).exitCode).toBe(0);
      const life = new NorthwindLife(data, seed);
      for (let month = 1; month <= sizes.months; month += 1) {
        const told = `month ${month}: ${life.month().join("; ")}`;
        let run = await does("run", "customers-and-orders");
        // What is gone counts as gone after three whole readings, and an old form goes once the new one is shown.
        for (let more = 0; more < 4; more += 1) run = await does("run", "customers-and-orders");
        expect(run.exitCode, `${told}\n${run.stdout.slice(-2_000)}`).toBe(0);
        const verified = await does("run", "verify");
        expect([verified.exitCode, JSON.parse(verified.stdout)], told).toMatchObject([
          0,
          { failed: 0, products: life.lines },
        ]);
        const out = join(here, `month-${month}.json`);
        const thisMonth = new Date().toISOString().slice(0, 7);
        const period = ["--period", thisMonth, "--format", "json", "--out", out];
        expect((await does("report", "reconciliation", ...period)).exitCode).toBe(0);
        const verdicts = reconciliation.parse(JSON.parse(readFileSync(out, "utf8"))).parts.items.rows;
        expect(verdicts.length, told).toBeGreaterThan(life.lines);
        // Of an order that is gone nothing is left that could be compared.
        expect(new Set(verdicts.map(({ verdict }) => verdict)), told).toEqual(new Set(["matched"]));
      }
      const { writingCalls } = sandbox.counts();
      expect((await does("run", "customers-and-orders")).exitCode).toBe(0);
      expect(sandbox.counts().writingCalls, "and then there is nothing to do").toBe(writingCalls);
    },
  );
});

describe.skipIf(northwindIsThere)("Northwind lived on", () => {
  it(northwindIsMissing, () => expect(northwindIsThere).toBe(false));
});
