import { pino } from "pino";
import { expect, it } from "vitest";
import { KnownSecrets } from "../../../src/base/known-secrets.ts";
import { exitCodes } from "../../../src/base/errors.ts";
import { callSwitches } from "../../../src/operate/notify/dead-mans-switch.ts";
import { alertSettingsSchema } from "../../../src/operate/notify-settings.ts";
import { startServer } from "../../support/http-server.ts";
import { openLedger } from "../../support/world/start.ts";

const states = ["running", "done", "stopped", "failed", "interrupted"] as const;

it("of all exit codes and states a run may end with, a switch is called after 0 and done alone", async () => {
  const { ledger } = await openLedger();
  let calls = 0;
  const url = await startServer((_asked, response) => {
    calls += 1;
    response.end();
  });
  const { deadMansSwitches } = alertSettingsSchema.parse({
    deadMansSwitches: [{ url: "env:ALL" }, { name: "other", url: "env:OTHER", jobs: ["another"] }],
  });
  const deps = {
    store: ledger.schedule,
    logger: pino({ level: "silent" }),
    secret: () => url,
    known: new KnownSecrets(),
  };
  for (const exitCode of Object.values(exitCodes))
    for (const state of states) await callSwitches(deadMansSwitches, { job: "night", exitCode, state }, deps);
  expect(calls).toBe(1);
  expect(await ledger.schedule.deliveries()).toMatchObject([
    { kind: "switch", name: "dead-mans-switch", problem: null },
  ]);
});

it("one that cannot be called, or whose secret is gone, keeps no other one from being called", async () => {
  const { ledger } = await openLedger();
  const lines: string[] = [];
  let calls = 0;
  const url = await startServer((_asked, response) => {
    calls += 1;
    response.end();
  });
  const { deadMansSwitches } = alertSettingsSchema.parse({
    deadMansSwitches: [
      { name: "gone", url: "file:/gone" },
      { name: "refusing", url: "env:REFUSING" },
      { name: "good", url: "env:GOOD" },
    ],
  });
  const secret = (reference: string): string => {
    if (reference === "file:/gone") throw new Error("`url` needs file:/gone, which cannot be read (ENOENT)");
    return reference === "env:GOOD" ? url : "http://127.0.0.1:1/ping-secret";
  };
  const logger = pino({ level: "info" }, { write: (line: string) => lines.push(line) });
  const run = { job: "night", exitCode: exitCodes.ok, state: "done" };
  const deps = { store: ledger.schedule, logger, secret, known: new KnownSecrets() };
  expect(await callSwitches(deadMansSwitches, run, deps), "people are to be told").toBe(true);
  expect(await callSwitches(deadMansSwitches, run, deps), "people know").toBe(false);
  expect(calls).toBe(2);
  expect((await ledger.schedule.deliveries()).map(({ name, problem }) => [name, problem])).toEqual([
    ["gone", "`url` needs file:/gone, which cannot be read (ENOENT)"],
    ["good", null],
    ["refusing", "its address could not be reached (ECONNREFUSED)"],
  ]);
  expect(lines.join("")).not.toContain("ping-secret");
});
