import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { parse, stringify } from "yaml";
import { documents, world } from "../support/cli.ts";
import type { Parsed, World } from "../support/cli.ts";
import { crmSync } from "../support/program.ts";
import type { Ended } from "../support/program.ts";
import { company } from "../support/world/crm.ts";

/** A command with a second configuration, which is otherwise as `change` says. */
async function otherwise(w: World, change: (settings: Parsed) => void, ...words: string[]): Promise<Ended> {
  const settings = parse(readFileSync(w.path("crm-sync.yaml"), "utf8"));
  change(settings);
  writeFileSync(w.path("other.yaml"), stringify(settings));
  return await crmSync({ ...w.place, config: w.path("other.yaml") }, ...words);
}

/** A synchronised company, and what it must find again: its ledger byte for byte, and no temporary file. */
async function synchronised(records = company(2, 1)): Promise<{ w: World; expectNothingKept: () => void }> {
  const w = await world({ records });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  mkdirSync(w.path("tmp"));
  vi.stubEnv("TMPDIR", w.path("tmp"));
  onTestFinished(() => void vi.unstubAllEnvs());
  const names = readdirSync(w.folder).filter((name) => /^ledger\.db(?:-wal)?$/u.test(name));
  const bytes = (): string[] => names.map((name) => readFileSync(w.path(name), "latin1"));
  const before = bytes();
  const expectNothingKept = (): void => {
    expect(bytes()).toEqual(before);
    expect(readdirSync(w.path("tmp"))).toEqual([]);
  };
  return { w, expectNothingKept };
}

describe("plan --stored", () => {
  it("shows what another mapping would change, by record and field, without a source, and keeps nothing", async () => {
    const { w, expectNothingKept } = await synchronised();
    rmSync(w.path("data"), { recursive: true });
    const branch = (settings: Parsed): void => {
      settings.sources.crm.streams.customers.mapping.branchName = { value: "Elsewhere" };
    };
    const { result, calls } = await w.writes(() => otherwise(w, branch, "plan", "--stored"));
    expect([result.exitCode, calls]).toEqual([2, {}]);
    for (const id of ["C1", "C2"]) {
      expect(result.stdout).toMatch(new RegExp(`crm/${id}: branchName: ".*" → "Elsewhere"`, "u"));
      expect(result.stdout).toContain(`E4 customer:crm/${id}`);
    }
    expectNothingKept();
    const same = await otherwise(w, () => {}, "--json", "plan", "--stored");
    expect([same.exitCode, documents(same).at(-1)]).toMatchObject([0, { operations: 0 }]);
  });

  it("leaves a record whose raw form lacks its secrets as it was, and names no private value", async () => {
    const records = company(2, 1);
    const products = [{ id: "P1", parent: "O1-A1", passwords: ["zqcanary-licence"] }];
    records.orders = records.orders.map((order) => (order.id === "O1" ? { ...order, products } : order));
    const { w, expectNothingKept } = await synchronised(records);
    const name = (settings: Parsed): void => {
      settings.sources.crm.streams.customers.mapping.name = { value: "Zqcanary other" };
    };
    const { exitCode, stdout } = await otherwise(w, name, "plan", "--stored");
    expect([exitCode, stdout]).toEqual([2, expect.stringContaining("customers crm/C1: name: (private) → (private)")]);
    expect(stdout).not.toMatch(/orders crm\/O1|zqcanary/iu);
    expectNothingKept();
  });

  it("keeps nothing where it fails, and refuses to save what it planned", async () => {
    const { sandbox } = await world();
    const { w, expectNothingKept } = await synchronised();
    const failed = await crmSync({ ...w.place, sandbox: sandbox.url }, "plan", "--stored");
    expect(failed.exitCode, "the ledger is one of another sandbox").toBe(65);
    const saved = await otherwise(w, () => {}, "plan", "--stored", "--out", w.path("plan.ndjson"));
    expect(saved.exitCode).toBe(64);
    expectNothingKept();
  });
});
