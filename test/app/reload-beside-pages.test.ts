import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { Application } from "../../src/app/application.ts";
import { serve } from "../../src/app/serve.ts";
import { world } from "../support/cli.ts";
import { environmentAt } from "../support/program.ts";

it(
  "a configuration is taken over once what a person does on a page has ended, and not beneath it",
  { tags: "long" },
  async () => {
    const w = await world();
    w.extra = "serve: { port: 0 }\n";
    w.write();
    const { config, sandbox } = w.place;
    const face = { log: undefined, wholeLog: { write: () => {} }, progress: () => {} };
    const application = await Application.open({ config, sandbox }, environmentAt(w.place), face);
    const stop = new AbortController();
    const served = Promise.withResolvers<void>();
    const reloaded = Promise.withResolvers<string>();
    let asked = false;
    const ended = serve(application, {
      signal: stop.signal,
      startWeb: async () => ({ url: "http://127.0.0.1:1", takeCertificate: () => {}, close: async () => {} }),
      started: () => served.resolve(),
      get wantsReload() {
        return asked;
      },
      takeReload: () => {
        const taken = asked;
        asked = false;
        return taken;
      },
      reloaded: ({ kind }) => reloaded.resolve(kind),
    });
    await served.promise;
    const ledger = await application.ledger();
    ledger.runs.takeLock();
    asked = true;
    // Several looks of the daemon at what it is asked for.
    await sleep(2_000);
    expect(asked, "it is still asked for").toBe(true);
    ledger.runs.releaseLock();
    expect(await reloaded.promise).toBe("taken-over");
    stop.abort();
    await ended;
    await application.close();
  },
);
