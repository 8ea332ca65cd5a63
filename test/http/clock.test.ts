import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { KnownSecrets } from "../../src/base/known-secrets.ts";
import type { Clock } from "../../src/base/clock.ts";
import { createCircuit } from "../../src/http/circuit.ts";
import { createPace } from "../../src/http/pace.ts";
import { readTokenSource } from "../../src/http/token-sources.ts";
import { createTokenProvider } from "../../src/http/tokens.ts";

const known = new KnownSecrets();

const day = 86_400_000;

/** A clock whose wall time somebody sets; time itself only passes. */
function settableClock(): Clock & { pass(ms: number): void; set(ms: number): void; slept: number } {
  let passed = 0;
  let set = Date.UTC(2026, 9, 1);
  const clock = {
    slept: 0,
    now: () => set + passed,
    monotonic: () => passed,
    pass: (ms: number) => void (passed += ms),
    set: (ms: number) => void (set += ms),
    sleep: async (ms: number) => {
      clock.slept += ms;
      passed += ms;
    },
  };
  return clock;
}

describe.each([
  ["a day ahead", day],
  ["a day back", -day],
])("a wall clock that is set %s", (_way, by) => {
  test("neither ends the time for which a circuit is open, nor makes it longer", () => {
    const clock = settableClock();
    const circuit = createCircuit({ failures: 1, openMs: 1_000, clock });
    circuit.failure(circuit.ask(), "ECONNRESET");
    clock.set(by);
    expect(circuit.ask()).toMatchObject({ kind: "refused" });
    clock.pass(1_000);
    expect(circuit.ask()).toEqual({ kind: "probe" });
  });

  test("leaves the pace as it is, and the time that a service asked for", async () => {
    const clock = settableClock();
    const pace = createPace({ callsPerSecond: 10, turnTimeoutMs: 60_000, clock });
    await pace.turn();
    clock.set(by);
    await pace.turn();
    expect(clock.slept).toBe(100);
    pace.pause(7_000);
    clock.set(by);
    await pace.turn();
    expect(clock.slept).toBe(7_100);
  });

  test("leaves a token its life", async () => {
    const folder = mkdtempSync(join(tmpdir(), "clock-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, "token");
    writeFileSync(file, "first");
    const clock = settableClock();
    const provider = createTokenProvider(readTokenSource(`file:${file}`, { environment: {}, known }), { clock, known });
    expect(await provider.token()).toBe("first");
    writeFileSync(file, "second");
    clock.set(by);
    clock.pass(30_000);
    expect(await provider.token()).toBe("first");
    clock.pass(31_000);
    expect(await provider.token()).toBe("second");
  });
});
