import { pino } from "pino";
import { expect, test } from "vitest";
import { z } from "zod";
import type { ServiceClient } from "../../src/http/client.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { keepOpenCircuits } from "../../src/operate/open-circuits.ts";
import { startClient, startService, success } from "../http/scripted-service.ts";
import { openLedger } from "../support/world/start.ts";

const listCall = {
  endpoint: "M6",
  target: { enterpriseGlobalId: "e1" },
  schema: z.array(z.looseObject({ assetNum: z.string() })),
} as const;

/** A program with a ledger of its own on the same file, and a client whose circuit opens after one failure. */
async function program(url: string, path?: string): Promise<{ client: ServiceClient; ledger: Ledger; path: string }> {
  const opened = await openLedger(path === undefined ? {} : { path });
  const { ledger, time } = opened;
  const onCircuit = keepOpenCircuits({ ledger: () => ledger, clock: time, logger: pino({ level: "silent" }) });
  const client = startClient("member-center", url, { breakerFailures: 1, readAttempts: 1 }, { onCircuit });
  return { client, ledger, path: opened.path };
}

/** One call within a run; gives whether it was answered, and which circuits are open when everything is kept. */
async function callInRun({ client, ledger }: { client: ServiceClient; ledger: Ledger }) {
  ledger.runs.takeLock();
  const answered = await client.read(listCall).then(
    () => true,
    () => false,
  );
  // The writer keeps to the order in which it was asked: what is kept of services comes before this.
  await ledger.schedule.closeCircuit("none of these");
  const open = (await ledger.schedule.openCircuits()).map(({ service }) => service);
  ledger.runs.releaseLock();
  return { answered, open };
}

test("a circuit that another program's run opened is shown so until a run is answered, also by one that was answered before", async () => {
  let fails = false;
  const service = await startService(() => (fails ? { status: 502, text: "<html></html>" } : success([])));
  const serving = await program(service.url);
  expect(await callInRun(serving)).toEqual({ answered: true, open: [] });
  fails = true;
  const byHand = await program(service.url, serving.path);
  expect(await callInRun(byHand)).toEqual({ answered: false, open: ["member-center"] });
  fails = false;
  expect(await callInRun(serving)).toEqual({ answered: true, open: [] });
});
