import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { Application } from "../../src/app/application.ts";
import { serve } from "../../src/app/serve.ts";
import { world } from "../support/cli.ts";
import { clockAt } from "../support/guarded.ts";
import { environmentAt } from "../support/program.ts";

it("a configuration is taken over once what a person does on a page has ended, and not beneath it", async () => {
  const w = await world();
  w.extra = "serve: { port: 0 }\n";
  w.write();
  const { config, sandbox } = w.place;
  const clock = clockAt(w.clock.now());
  const face = { log: undefined, wholeLog: { write: () => {} }, progress: () => {}, clock };
  const application = await Application.open({ config, sandbox }, environmentAt(w.place), face);
  const stop = new AbortController();
  const served = Promise.withResolvers<void>();
  const reloaded = Promise.withResolvers<string>();
  const happened: string[] = [];
  let asked = false;
  const ended = serve(application, {
    signal: stop.signal,
    startWeb: async () => ({ url: "http://127.0.0.1:1", takeCertificate: () => {}, close: async () => {} }),
    started: () => served.resolve(),
    get wantsReload() {
      return asked;
    },
    takeReload: () => {
      if (asked) happened.push("taken");
      const taken = asked;
      asked = false;
      return taken;
    },
    reloaded: ({ kind }) => reloaded.resolve(kind),
  });
  await served.promise;
  /** The daemon looks several times at what it is asked for. */
  const looks = async (): Promise<void> => {
    for (let count = 0; count < 20; count += 1) {
      clock.move(500);
      await turn();
    }
  };
  const ledger = await application.ledger();
  ledger.runs.takeLock();
  asked = true;
  await looks();
  happened.push("released");
  ledger.runs.releaseLock();
  await expect
    .poll(async () => {
      await looks();
      return happened;
    })
    .toEqual(["released", "taken"]);
  expect(await reloaded.promise).toBe("taken-over");
  stop.abort();
  await ended;
  await application.close();
});
