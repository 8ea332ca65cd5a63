import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { parse, stringify } from "yaml";
import { world } from "../support/cli.ts";
import type { Parsed, World } from "../support/cli.ts";
import { company } from "../support/world/crm.ts";
import { crmSync } from "../support/program.ts";
import { line, orderOf } from "../scenarios/life/placed-orders.ts";

/** A second configuration beside the first, otherwise as `change` says. */
function other(w: World, change: (settings: Parsed) => void): (...words: string[]) => ReturnType<typeof crmSync> {
  const settings = parse(readFileSync(w.path("crm-sync.yaml"), "utf8"));
  change(settings);
  writeFileSync(w.path("other.yaml"), stringify(settings));
  return async (...words) => await crmSync({ ...w.place, config: w.path("other.yaml") }, ...words);
}

/** What the ledger's files hold. */
function bytes(w: World): string {
  const hash = createHash("sha256");
  for (const name of ["ledger.db", "ledger.db-wal"]) {
    try {
      hash.update(readFileSync(w.path(name)));
    } catch {
      hash.update("none");
    }
  }
  return hash.digest("hex");
}

/** A place for temporary files of its own; what is left in it. */
function temporary(w: World): () => string[] {
  mkdirSync(w.path("tmp"));
  vi.stubEnv("TMPDIR", w.path("tmp"));
  onTestFinished(() => void vi.unstubAllEnvs());
  return () => readdirSync(w.path("tmp"));
}

describe("plan --stored", () => {
  it("shows what another mapping would change, by record and field, without a source, and keeps nothing", async () => {
    const w = await world({ records: company(2, 1) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const left = temporary(w);
    const run = other(w, (settings) => {
      settings.sources.crm.streams.customers.mapping.branchName = { value: "Elsewhere" };
    });
    rmSync(w.path("data"), { recursive: true });
    const before = bytes(w);
    const { result, calls } = await w.writes(() => run("plan", "--stored"));
    expect([result.exitCode, calls], result.stdout + result.stderr).toEqual([2, {}]);
    expect(result.stdout).toMatch(/^from the stored raw forms of \S+ledger\.db under \S*other\.yaml; nothing is read/u);
    for (const id of ["C1", "C2"]) {
      expect(result.stdout).toMatch(new RegExp(`customers crm/${id}: branchName: ".*" → "Elsewhere"`, "u"));
      expect(result.stdout).toContain(`E4 customer:crm/${id}: changed in the CRM: branch`);
    }
    expect(result.stdout).toContain("2 record(s) are otherwise by that; 0 record(s)");
    expect(bytes(w)).toBe(before);
    expect(left()).toEqual([]);
    const same = await other(w, () => undefined)("plan", "--stored");
    expect([same.exitCode, same.stdout]).toEqual([0, expect.stringContaining("0 record(s) are otherwise by that")]);
  });

  it(
    "leaves a record whose raw form lacks its secrets as it was mapped, and says how many; names no private value",
    { tags: "long" },
    async () => {
      const secret = [line("P1", "A1", { passwords: ["zqcanary-licence"] })];
      const orders = [orderOf("1", "C1", { products: secret }), orderOf("2", "C2")];
      const w = await world({ records: { customers: [{ id: "C1" }, { id: "C2" }], orders, staff: [] } });
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      const left = temporary(w);
      const run = other(w, (settings) => {
        settings.sources.crm.streams.customers.mapping.name = { value: "Zqcanary other" };
      });
      const ended = await run("plan", "--stored");
      expect(ended.exitCode, ended.stdout).toBe(2);
      expect(ended.stdout).toMatch(/customers crm\/C1: name: \(private\) → \(private\)/u);
      expect(ended.stdout).toContain("1 record(s) whose raw form lacks its secrets");
      expect(ended.stdout).not.toContain("orders crm/1");
      expect(ended.stdout).not.toMatch(/zqcanary/iu);
      expect(left()).toEqual([]);
    },
  );

  it("takes its copy away where it fails, and refuses to save what it planned", { tags: "long" }, async () => {
    const w = await world({ records: company(2, 1) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const elsewhere = await world({ records: company(2, 1) });
    const left = temporary(w);
    const before = bytes(w);
    const config = w.path("crm-sync.yaml");
    const failed = await crmSync({ ...w.place, config, sandbox: elsewhere.sandbox.url }, "plan", "--stored");
    expect([failed.exitCode, failed.stderr]).toEqual([65, expect.stringContaining("belongs to the sandbox")]);
    expect(left()).toEqual([]);
    const saved = await other(w, () => undefined)("plan", "--stored", "--out", w.path("plan.ndjson"));
    expect([saved.exitCode, left()]).toEqual([64, []]);
    expect(bytes(w)).toBe(before);
  });
});
