import { expect, test } from "vitest";
import { createCircuit, type Circuit } from "../../src/http/circuit.ts";
import { createLeapClock } from "./scripted-service.ts";

function failing(circuit: Circuit, times: number): void {
  for (let count = 0; count < times; count += 1) circuit.failure(circuit.ask(), "ECONNRESET");
}

test("a circuit opens after so many failures in a row, and not one before", () => {
  const circuit = createCircuit({ failures: 3, openMs: 1_000, clock: createLeapClock() });
  failing(circuit, 2);
  circuit.success(circuit.ask());
  failing(circuit, 2);
  expect(circuit.ask()).toEqual({ kind: "pass" });
  failing(circuit, 1);
  expect(circuit.ask()).toMatchObject({ kind: "refused" });
  expect(circuit.state()).toEqual({ state: "open", reason: "ECONNRESET", probeInMs: 1_000 });
});

test("an open circuit lets one call try the service, opens for longer when that fails, and closes when it succeeds", () => {
  const clock = createLeapClock();
  const circuit = createCircuit({ failures: 1, openMs: 1_000, clock });
  failing(circuit, 1);
  clock.pass(1_000);
  const probe = circuit.ask();
  expect(probe).toEqual({ kind: "probe" });
  expect(circuit.ask()).toMatchObject({ kind: "refused" });
  circuit.failure(probe, "ECONNREFUSED");
  expect(circuit.state()).toEqual({ state: "open", reason: "ECONNREFUSED", probeInMs: 2_000 });
  clock.pass(2_000);
  circuit.success(circuit.ask());
  expect(circuit.state()).toEqual({ state: "closed" });
  expect(circuit.ask()).toEqual({ kind: "pass" });
});

test("a call that was sent before the circuit opened does not close it", () => {
  const circuit = createCircuit({ failures: 1, openMs: 1_000, clock: createLeapClock() });
  const early = circuit.ask();
  failing(circuit, 1);
  circuit.success(early);
  expect(circuit.state().state).toBe("open");
});
